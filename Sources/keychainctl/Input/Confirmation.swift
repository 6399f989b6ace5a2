// SPDX-License-Identifier: Apache-2.0
// Confirmation of an action that cannot be undone.

import ArgumentParser
import Foundation
import KeychainAuthenticators
import KeychainKit

struct Confirmation: ParsableArguments {
    @Flag(help: "Do not ask for confirmation; required if there is no terminal.")
    var yes = false

    /// - Parameter deed: What will happen, as a sentence.
    /// - Throws: `cancelled` for any answer except yes, `invalidParameter` without a terminal.
    func ask(_ deed: String) throws(KeychainError) {
        guard !yes else { return }
        guard Terminal.isTerminal(STDIN_FILENO) else {
            throw KeychainError(
                .invalidParameter,
                deed + " This needs confirmation, and there is no terminal to ask on. Nothing was changed. "
                    + "To confirm, add: --yes")
        }
        Output.prompt(deed + " Continue? [y/N] ")
        guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else {
            throw KeychainError(.cancelled, "Nothing was changed.")
        }
    }
}
