// SPDX-License-Identifier: Apache-2.0
// keychainctl undo: bring back an earlier version of an item.

import ArgumentParser
import KeychainKit

extension Keychainctl {
    struct Undo: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "undo",
            abstract: "Undo the last change of an item: of its value or name, or its deletion.",
            usage: """
                keychainctl undo --service <name> [--account <name>] [<options>]
                keychainctl undo --server <host> [--account <name>] [<options>]
                """,
            discussion: """
                The item gets everything back that it had before the change: value, label, comment, kind, \
                expiry date and protection. A deleted item is added again, and a moved one goes back to \
                its old name; give either of its names. Exactly one item must match.

                The state before the undo is kept in turn: a second `undo` brings it back. To go back \
                further, give the number of a version, as `history` lists them, with --to.

                If another item has the name by now, nothing is done and the exit code is 4; with \
                --replace, that item is replaced, and kept unless the history is off. Changes by other programs, codes of `otp` and \
                deletions of items that require authentication are not kept, so they cannot be undone.

                EXAMPLES
                  keychainctl undo -s example.com -a alice
                  keychainctl history -s example.com -a alice
                  keychainctl undo -s example.com -a alice --to 3
                """)

        @OptionGroup(title: "Item") var item: ItemOptions
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        @Option(help: ArgumentHelp("Bring back this version instead of the newest.", valueName: "number"))
        var to: Int?

        @Flag(help: "Replace another item that has the name now.")
        var replace = false

        func validate() throws {
            try item.requireServiceOrServer()
        }

        func run() throws {
            let keychain = try UserKeychain()
            let version = try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                try keychain.undo(item, to: to, isReplacing: replace)
            }
            let name = version.name.listed?.name ?? "the item"
            Output.note(
                version.isAbsence
                    ? "Removed \(name), which an undo had added."
                    : "Brought back version \(version.number) of \(name), as it was before "
                        + "\(version.date.timestamp(withFraction: false)).")
        }
    }
}
