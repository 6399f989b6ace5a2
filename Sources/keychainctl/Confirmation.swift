// SPDX-License-Identifier: Apache-2.0
// Asking whether something that cannot be taken back is meant.

import ArgumentParser
import Foundation
import KeychainAuthenticators
import KeychainKit

struct Confirmation: ParsableArguments {
    @Flag(help: "Do not ask first; needed where nobody can be asked.")
    var yes = false

    /// - Parameter deed: What will happen, as a sentence.
    /// - Throws: `cancelled` for any answer but yes, `invalidParameter` without a terminal.
    func ask(_ deed: String) throws(KeychainError) {
        guard !yes else { return }
        guard Terminal.isTerminal(STDIN_FILENO) else {
            throw KeychainError(
                .invalidParameter, deed + " There is no terminal to ask on, so nothing was changed. Add: --yes")
        }
        Output.prompt(deed + " Go on? [y/N] ")
        guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else {
            throw KeychainError(.cancelled, "Nothing was changed.")
        }
    }
}
