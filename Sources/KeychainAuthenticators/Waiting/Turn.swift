// SPDX-License-Identifier: Apache-2.0
// One question at a time: two prompts on one terminal would take each other's answers.

import Foundation
import KeychainEngine

enum Turn {
    /// Holds one byte while no question is open. It is a pipe, so that waiting for a turn can be cancelled like any
    /// other wait.
    private static let free = ProcessPipe { $0.wake() }

    static func taken<Result>(
        _ waiting: Waiting, _ body: () throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        let pipe = try free.shared()
        while pipe.next() == nil { try waiting.wait(for: pipe.reading, POLLIN) }
        defer { pipe.wake() }
        // The turn may have been granted just as the question was cancelled.
        try waiting.check()
        return try body()
    }
}
