// SPDX-License-Identifier: Apache-2.0
// keychainctl expire: set or remove the expiry date of an item.

import ArgumentParser
import Foundation
import KeychainEngine
import KeychainKit

extension Keychainctl {
    struct Expire: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "expire",
            abstract: "Set the date from which the value of an item is not valid any more.",
            usage: """
                keychainctl expire (<date> | --never) --service <name> [<options>]
                keychainctl expire (<date> | --never) --server <host> [<options>]
                """,
            discussion: """
                The date is a day (2027-01-01: from its beginning, in UTC), a moment \
                (2027-01-01T12:00:00Z) or a time from now with its unit (90s, 15m, 12h, 90d; a number alone \
                is refused, since it could be a year). --never removes it. The value stays as it is, and \
                nothing is deleted when the date has come. Exactly one item must match.

                From then on, `get`, `copy`, `run`, `inject` and other commands that read the value warn \
                on standard error; the git helper gives git no password, as if git itself had stored the \
                date. `list` shows the date and finds such items. An item that requires authentication \
                has a date too, but lists do not show it, and there is no warning.

                When a command of this tool stores another value, the date of the old one is removed, and \
                the command says so. Changes by other programs leave the date as it is.

                EXAMPLES
                  keychainctl expire 90d -s example.com -a alice
                  keychainctl expire 2027-01-01 -s example.com -a alice
                  keychainctl expire --never -s example.com -a alice
                  keychainctl list --expires-within 14d
                """)

        @Argument(
            help: ArgumentHelp("2027-01-01, 2027-01-01T12:00:00Z, 12h or 90d.", valueName: "date"),
            transform: ExpiryDate.init)
        var date: ExpiryDate?

        @OptionGroup(title: "Item") var item: ItemOptions
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        @Option(help: "Only an item with this label.")
        var label: String?

        @Flag(help: "Remove the date.")
        var never = false

        func validate() throws {
            try item.requireServiceOrServer()
            guard (date != nil) != never else {
                throw ValidationError("Give either a date, such as 2027-01-01 or 90d, or --never.")
            }
        }

        func run() throws {
            let keychain = try UserKeychain(for: .expire)
            let date = date?.date(from: Date())
            try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                try keychain.setExpiry(date, of: keychain.onlyItem(item, label: label))
            }
        }
    }
}
