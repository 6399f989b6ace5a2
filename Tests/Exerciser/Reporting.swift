// SPDX-License-Identifier: Apache-2.0
// What the exerciser prints.

import Foundation
import KeychainEngine

/// Prints a line and flushes it, so that a waiting reader gets it at once.
func say(_ words: Any...) {
    print(words.map { "\($0)" }.joined(separator: " "))
    fflush(nil)
}

/// Prints what was done, or why not, so that a killed process leaves a record of all it was told is done.
func report(_ acknowledgement: String = "done", _ body: () throws -> Void) {
    do {
        try body()
        print(acknowledgement)
    } catch let failure as KeychainError {
        print("failed", failure.reason.rawValue, failure.message)
    } catch {
        print("failed unknown")
    }
    fflush(nil)
}
