// SPDX-License-Identifier: Apache-2.0
// keychainctl get: write a value to standard output.

import ArgumentParser
import Foundation
import KeychainAuthenticators
import KeychainKit

extension Keychainctl {
    struct Get: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "get", _superCommandName: "keychainctl",
            abstract: "Write a value to standard output.",
            usage: """
                keychainctl get --service <name> [--account <name>] [<options>]
                keychainctl get --server <host> [--account <name>] [<options>]
                """,
            discussion: """
                The stored bytes are written unchanged; on a terminal a newline is added. Exactly one \
                item must match: if several do, none is shown and the exit code is 4. If you give \
                --account without --port, --protocol and --path, an item that has none of these is \
                preferred. An item with a security domain, such as one of docker, is chosen only by \
                --security-domain, or if no other matches.

                If the item has expired, there is a warning on standard error: see keychainctl expire \
                --help. With --history, the value is that of an earlier version, also of an item that was \
                deleted: see keychainctl history --help.

                EXAMPLES
                  keychainctl get -s example.com -a alice
                  token=$(keychainctl get -s example.com -a alice) || exit
                  keychainctl get --server git.example.com --protocol https > token
                  keychainctl get -s example.com -a alice --history 3
                """)

        @OptionGroup(title: "Item") var item: ItemOptions
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        @Option(help: "Only an item with this label.")
        var label: String?

        @Option(help: ArgumentHelp("The value of this earlier version, as `history` numbers it.", valueName: "number"))
        var history: Int?

        func validate() throws {
            try item.requireServiceOrServer()
            guard history == nil || label == nil else {
                throw ValidationError("--history and --label cannot be used together.")
            }
        }

        func run() throws {
            let keychain = try UserKeychain()
            var value = try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                try keychain.reading { () throws(KeychainError) in
                    if let history { return try keychain.value(ofVersion: history, item) }
                    return try keychain.value(of: keychain.onlyItem(item, label: label))
                }
            }
            defer { value.wipe() }
            try Output.write(value)
            if Terminal.isTerminal(STDOUT_FILENO) { try Output.write("\n") }
        }
    }
}
