// SPDX-License-Identifier: Apache-2.0
// keychainctl delete: remove items.

import ArgumentParser
import KeychainKit

extension Keychainctl {
    struct Delete: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete", _superCommandName: "keychainctl",
            abstract: "Remove an item.",
            usage: """
                keychainctl delete --service <name> --account <name> [<options>]
                keychainctl delete --server <host> --account <name> [<options>]
                keychainctl delete (--service <name> | --server <host>) --all [<options>]
                """,
            discussion: """
                Exactly one item must match: if several do, none is removed and the exit code is 4, \
                unless --all is given. That removes the items that keychainctl list shows with the same \
                options. Nothing is printed, except how many of many items are done, on a terminal. With \
                --all, damaged items of the same name and items bound to another device are \
                moved to the quarantine, so that the name can be used again: see keychainctl quarantine \
                --help. --confirmed is that of keychainctl set.

                The vault keeps a deleted item, with its value, so that `undo` can bring it back: for 30 \
                days, or what keychainctl history --settings shows. With --forget, nothing is kept, and \
                what was kept of the item before is removed. An item that requires authentication is not \
                kept.

                EXAMPLES
                  keychainctl delete -s example.com -a alice
                  keychainctl delete --server git.example.com --protocol https -a alice
                  keychainctl delete -s example.com --all
                  keychainctl delete -s example.com -a alice --forget
                """)

        @OptionGroup(title: "Item") var item: ItemOptions
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        @Option(help: "Only an item with this label.")
        var label: String?

        @Flag(help: "Remove every item that matches; --account is then optional.")
        var all = false

        @Flag(help: "Remove the kept versions of the item too, and keep nothing: the value is gone for good.")
        var forget = false

        @Option(
            help: ArgumentHelp(
                "Wait at most this long until all machines of a ring over etcd agree: 5s, 1m.", valueName: "time"),
            transform: IdleTimeout.init)
        var confirmed: IdleTimeout?

        func validate() throws {
            try item.requireServiceOrServer()
            guard confirmed == nil || !forget else {
                throw ValidationError(
                    "--confirmed keeps nothing. To remove earlier versions, run: keychainctl history --clear")
            }
            guard confirmed == nil || !all else { throw ValidationError("--confirmed is for one item, without --all.") }
            guard item.account != nil || all else {
                throw ValidationError("Give --account, or --all to remove the items of every account.")
            }
        }

        func run() throws {
            let keychain = try UserKeychain(for: forget ? .forget : .delete)
            try unlock.unlocking(keychain.vault) { () throws(KeychainError) in try delete(keychain) }
            if forget { RemovedDataNotice.tell(keychain.vault) }
        }

        private func delete(_ keychain: UserKeychain) throws(KeychainError) {
            guard all else {
                return try keychain.delete(
                    keychain.onlyItem(item, label: label), confirmed: confirmed?.duration)
            }
            try keychain.deleteAll(item.filters(label: label))
        }
    }
}
