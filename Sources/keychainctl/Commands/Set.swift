// SPDX-License-Identifier: Apache-2.0
// keychainctl set: store a value.

import ArgumentParser
import Foundation
import KeychainKit

extension Keychainctl {
    struct Set: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Store a value: add the item, or change it in place.",
            usage: """
                keychainctl set --service <name> --account <name> [<options>]
                keychainctl set --server <host> --account <name> [<options>]
                """,
            discussion: """
                On a terminal you enter the value twice; it is not shown. Otherwise standard input is \
                read to its end and stored byte for byte: a final newline is part of the value. Values \
                may be up to 64 MiB long.

                EXAMPLES
                  keychainctl set -s example.com -a alice
                  printf %s "$token" | keychainctl set -s example.com -a alice
                  keychainctl set --server git.example.com -a alice --from-fd 3 3< token
                  pwgen 32 1 | keychainctl set -s backup -a root --label "Backup key"
                """)

        @OptionGroup(title: "Item") var item: ItemOptions
        @OptionGroup(title: "Value") var input: ValueOptions
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        @Option(help: "A name for people. An existing item keeps its label unless this is given.")
        var label: String?

        @Option(
            help: ArgumentHelp(
                "When the item opens: \(AccessibilityName.help). Or Apple's names, such as ck.", valueName: "class")
        )
        var accessibility: AccessibilityName?

        func validate() throws {
            try item.requireServiceOrServer()
            guard item.account != nil else { throw ValidationError("Give --account.") }
        }

        func run() throws {
            let keychain = try UserKeychain()
            try checkSources()
            var value = try input.readValue(for: name)
            defer { value.wipe() }
            try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                try keychain.set(item, label: label, accessibility?.accessibility, value: value)
            }
        }

        /// One descriptor cannot provide both.
        private func checkSources() throws {
            guard let source = input.source, unlock.uses(source) else { return }
            throw ValidationError("The value and the secret that opens the vault use the same descriptor. Use two.")
        }

        /// The name of the item in the prompt.
        private var name: String { "\(item.account ?? "") at \(item.service ?? item.server ?? "")" }
    }
}
