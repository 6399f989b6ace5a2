// SPDX-License-Identifier: Apache-2.0
// keychainctl search: show items whose names contain a text.

import ArgumentParser
import KeychainKit

extension Keychainctl {
    struct Search: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "search",
            abstract: "List items whose names contain a text.",
            usage: "keychainctl search <text> [<options>] [--json | --wide]",
            discussion: """
                The text is looked for in the service, server, account, label, comment, kind and path, \
                without distinction of capital and small letters. Values are not searched. Output is as \
                that of `list`; if nothing matches, nothing is printed ([] with --json) and the exit code \
                is 0.

                EXAMPLES
                  keychainctl search github
                  keychainctl search --json example.com | jq -r '.[].account'
                """)

        @Argument(help: ArgumentHelp("The text to look for.", valueName: "text"))
        var text: String

        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        @Flag(help: "Print JSON, for programs.")
        var json = false

        @Flag(help: "Print whole names on a terminal too.")
        var wide = false

        func validate() throws {
            guard !text.isEmpty else {
                throw ValidationError("Give a text to look for. To see all items: keychainctl list")
            }
        }

        func run() throws {
            let keychain = try UserKeychain()
            let found = try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                try keychain.reading { () throws(KeychainError) in try keychain.foundItems(.all) }
            }
            if let failure = found.failure { throw failure }
            let wanted = Array(text.lowercased())
            let items = found.items.map { ListedItem(item: $0) }.filter { $0.names.contains { $0.holds(wanted) } }
            try ItemListing(items: items).print(asJSON: json, wide: wide)
            guard found.damaged + found.ofAnotherDevice > 0 else { return }
            Output.complain(
                "Items that are damaged or bound to another device were not searched. See: keychainctl doctor")
        }
    }
}

extension ListedItem {
    fileprivate var names: [String] { [service, server, account, label, comment, kind, path].compactMap { $0 } }
}

extension String {
    fileprivate func holds(_ wanted: [Character]) -> Bool { Array(lowercased()).contains(wanted) }
}
