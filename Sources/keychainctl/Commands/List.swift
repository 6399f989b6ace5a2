// SPDX-License-Identifier: Apache-2.0
// keychainctl list: show items.

import ArgumentParser
import Foundation
import KeychainKit
import KeychainVault

extension Keychainctl {
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", _superCommandName: "keychainctl",
            abstract: "List items, without their values.",
            usage: "keychainctl list [<options>] [--json | --wide]",
            discussion: """
                Options narrow the list. If nothing matches, nothing is printed ([] with --json) and \
                the exit code is 0. Names that are not text are shown as 0x and hexadecimal digits; the \
                table escapes control characters. On a terminal, long names are cut to fit its width \
                and end with "…"; --wide shows them whole.

                There is no authentication prompt. For an item that requires authentication, only the \
                name is shown, and the item is marked (requiresAuthentication with --json).

                With --match, only items are shown whose service, server, account or label matches the \
                pattern as a whole: * stands for any characters, ? for one, [a-z] for one of several.

                Items with an expiry date have it in a column of their own. With --expired, only items are \
                shown that have expired, and with --expires-within 30d also those that do so within that \
                time. See keychainctl expire --help.

                With --json: an array of objects with the keys class, service, server, account, label, \
                comment, kind, accessGroup, protocol, port, path, securityDomain, created, modified, expires, \
                synchronizable, accessibility and requiresAuthentication. Dates are ISO 8601 in UTC; missing \
                attributes are null.

                EXAMPLES
                  keychainctl list
                  keychainctl list --service example.com
                  keychainctl list --match '*.example.com'
                  keychainctl list --expires-within 14d
                  keychainctl list --json | jq -r '.[].account'
                """)

        @OptionGroup(title: "Item") var item: ItemOptions
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        @Option(help: "Only items with this label.")
        var label: String?

        @Option(name: .customLong("match"), help: ArgumentHelp("Only items with such a name.", valueName: "pattern"))
        var pattern: GlobPattern?

        @Flag(help: "Only items that have expired.")
        var expired = false

        @Option(
            help: ArgumentHelp(
                "Only items that have expired or expire within this time: 12h, 30d; a number alone is seconds.",
                valueName: "time"),
            transform: IdleTimeout.init)
        var expiresWithin: IdleTimeout?

        @Flag(help: "Print JSON, for programs.")
        var json = false

        @Flag(help: "Print whole names on a terminal too.")
        var wide = false

        func run() throws {
            let keychain = try UserKeychain()
            let found = try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                try keychain.reading { () throws(KeychainError) in try search(keychain) }
            }
            let items = found.items.map { ListedItem(item: $0) }
            try ItemListing(items: items.filter(isWanted)).print(asJSON: json, wide: wide)
            try warnOfClosed(found, keychain)
        }

        private func isWanted(_ item: ListedItem) -> Bool {
            guard expiresInTime(item) else { return false }
            guard let pattern else { return true }
            return [item.service, item.server, item.account, item.label].contains { $0.map(pattern.matches) ?? false }
        }

        private func expiresInTime(_ item: ListedItem) -> Bool {
            guard expired || expiresWithin != nil else { return true }
            let seconds = expiresWithin?.duration.components.seconds ?? 0
            return item.item.isExpired(at: Date(timeIntervalSinceNow: Double(seconds)))
        }

        /// The items of all requested classes. Damaged items are left out. If nothing else is found they are an error.
        private func search(_ keychain: UserKeychain) throws(KeychainError) -> FoundItems {
            let found = try keychain.firstFound(item.filters(label: label)).found
            if let failure = found.failure { throw failure }
            return found
        }

        /// With a service or server, the search has only read the items in question. Otherwise it has read all items,
        /// and counting them may do so too.
        private func warnOfClosed(_ found: FoundItems, _ keychain: UserKeychain) throws(KeychainError) {
            var (damaged, ofAnotherDevice) = (found.damaged, found.ofAnotherDevice)
            if item.service == nil, item.server == nil, !json || damaged + ofAnotherDevice > 0 {
                let status = try keychain.vault.status()
                (damaged, ofAnotherDevice) = (status.damagedCount, status.ofAnotherDeviceCount)
            }
            Output.complainOfClosed(damaged: damaged, ofAnotherDevice: ofAnotherDevice)
        }
    }
}
