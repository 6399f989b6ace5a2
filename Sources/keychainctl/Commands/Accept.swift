// SPDX-License-Identifier: Apache-2.0
// keychainctl accept: take a vault as it is that is not as it was left.

import ArgumentParser
import Foundation
import KeychainAuthenticators
import KeychainKit
import KeychainVault

extension Keychainctl {
    struct Accept: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Take the vault as it is, although it is older than before or was changed.",
            usage: "keychainctl accept [--yes] [<options>]",
            discussion: """
                A vault that is older than this machine has seen, that lacks items, or whose rows were \
                changed by other means than this software can be read and not changed. This says what \
                differs, asks, and lets it be changed again. Nothing that is missing comes back. If you \
                do not know why the vault differs, keep a copy of its folder first, and restore a backup.

                EXAMPLES
                  keychainctl accept
                  keychainctl accept --yes
                """)

        @Flag(help: "Do not ask.")
        var yes = false

        @OptionGroup(title: "Unlocking, for this command alone") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        func run() throws {
            let vault = try UserKeychain.existingVault()
            try unlock.unlocking(vault) { () throws(KeychainError) in try accept(vault) }
        }

        private func accept(_ vault: Vault) throws(KeychainError) {
            let report = try vault.headReport()
            guard !report.findings.isEmpty else { return try Output.write("The vault is as it was left.\n") }
            try Output.write(
                "The vault '\(vault.location.folder)' is not as it was left:\n".escapingControls(keeping: "\n"))
            for finding in report.findings { try Output.write("  \(finding.message)\n") }
            if !yes { try confirm() }
            try vault.accept(report)
            try Output.write("It was taken as it is.\n")
        }

        /// - Throws: `invalidParameter` where nobody can be asked, `cancelled` for any answer but yes.
        private func confirm() throws(KeychainError) {
            guard Terminal.isTerminal(STDIN_FILENO), Terminal.isTerminal(STDOUT_FILENO) else {
                throw KeychainError(
                    .invalidParameter, "Nothing was changed: there is nobody to ask. To accept it all the same: --yes")
            }
            try Output.write("Take it as it is? Type yes: ")
            guard readLine() == "yes" else { throw KeychainError(.cancelled, "Nothing was changed.") }
        }
    }
}
