// SPDX-License-Identifier: Apache-2.0
// keychainctl accept: accept the current state of a vault that differs from its last known state.

import ArgumentParser
import Foundation
import KeychainAuthenticators
import KeychainKit
import KeychainVault

extension Keychainctl {
    struct Accept: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "accept",
            abstract: "Accept the current state of a vault that was rolled back or changed.",
            usage: "keychainctl accept [--yes] [<options>]",
            discussion: """
                A vault can be read but not changed if it is older than the newest state known to this \
                machine, if items are missing, or if other software changed its rows. This command shows \
                what differs, asks for confirmation, and allows changes again. It does not bring back \
                missing items. If you do not know why the vault differs, copy its folder first, then \
                restore a backup.

                EXAMPLES
                  keychainctl accept
                  keychainctl accept --yes
                """)

        @Flag(help: "Do not ask for confirmation.")
        var yes = false

        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        func run() throws {
            let vault = try UserKeychain.existingVault()
            try unlock.unlocking(vault) { () throws(KeychainError) in try accept(vault) }
        }

        private func accept(_ vault: Vault) throws(KeychainError) {
            let report = try vault.headReport()
            guard !report.findings.isEmpty else { return try Output.write("The vault matches its last known state.\n") }
            try Output.write(
                "The vault '\(vault.location.folder)' differs from its last known state:\n"
                    .escapingControls(keeping: "\n"))
            for finding in report.findings { try Output.write("  \(finding.message)\n") }
            if !yes { try confirm() }
            try vault.accept(report)
            try Output.write("The current state was accepted.\n")
        }

        /// - Throws: `invalidParameter` if no prompt is possible, `cancelled` for any answer except yes.
        private func confirm() throws(KeychainError) {
            guard Terminal.isTerminal(STDIN_FILENO), Terminal.isTerminal(STDOUT_FILENO) else {
                throw KeychainError(
                    .invalidParameter,
                    "There is no terminal to ask for confirmation. Nothing was changed. To accept the vault anyway, "
                        + "add: --yes")
            }
            try Output.write("Accept the current state? Type yes: ")
            guard readLine() == "yes" else { throw KeychainError(.cancelled, "Nothing was changed.") }
        }
    }
}
