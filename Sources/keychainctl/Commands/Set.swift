// SPDX-License-Identifier: Apache-2.0
// keychainctl set: store a value.

import ArgumentParser
import Foundation
import KeychainEngine
import KeychainKit

extension Keychainctl {
    struct Set: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set", _superCommandName: "keychainctl",
            abstract: "Store a value: add the item, or change it in place.",
            usage: """
                keychainctl set --service <name> --account <name> [<options>]
                keychainctl set --server <host> --account <name> [<options>]
                """,
            discussion: """
                On a terminal you enter the value twice; it is not shown. Otherwise standard input is \
                read to its end and stored byte for byte: a final newline is part of the value. Values \
                may be up to 64 MiB long. With --keep-value, only the label, comment, kind or protection \
                of an existing item changes.

                An item with --require user-presence opens only to the passphrase of the vault or another \
                secret of the user, also while the vault is unlocked. With application-password, it opens only \
                to a password of its own, which is asked for; nothing can replace a forgotten one.

                With --confirmed, in a ring over etcd, the value is stored only once all machines agree on it: \
                no machine has changed anything first that this one had not seen. If etcd cannot be reached \
                in that time the command fails, and the value is stored here like any other; in every other \
                failure the message says whether it was.

                EXAMPLES
                  keychainctl set -s example.com -a alice
                  printf %s "$token" | keychainctl set -s example.com -a alice
                  keychainctl set --server git.example.com -a alice --from-fd 3 3< token
                  pwgen 32 1 | keychainctl set -s backup -a root --label "Backup key"
                  keychainctl set -s backup -a root --keep-value --comment "On both disks"
                  keychainctl set -s backup -a root --keep-value --require user-presence
                  keychainctl set -s example.com -a alice --synchronizable --confirmed 5s
                """)

        @OptionGroup(title: "Item") var item: ItemOptions
        @OptionGroup(title: "Value") var input: ValueOptions
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        @OptionGroup(title: "Attributes") var attributes: AttributeOptions

        @Flag(help: "Change only the attributes of an existing item.")
        var keepValue = false

        @Option(
            help: ArgumentHelp(
                "When the item opens: \(AccessibilityName.help). Or Apple's names, such as ck.", valueName: "class")
        )
        var accessibility: AccessibilityName?

        @Option(
            help: ArgumentHelp(
                "What the item requires of the user each time it is read: \(RequirementName.help). Can be repeated. "
                    + "Default: what an existing item requires.", valueName: "what"))
        var require: [RequirementName] = []

        @Option(
            help: ArgumentHelp(
                "Wait at most this long until all machines of a ring over etcd agree: 5s, 1m.", valueName: "time"),
            transform: IdleTimeout.init)
        var confirmed: IdleTimeout?

        func validate() throws {
            try item.requireServiceOrServer()
            _ = try requirement()
            guard item.account != nil else { throw ValidationError("Give --account.") }
            guard confirmed == nil || item.synchronizable == true && !keepValue else {
                throw ValidationError("--confirmed needs --synchronizable, and cannot be used with --keep-value.")
            }
            guard keepValue else { return }
            guard input.fromFd == nil, !input.allowEmpty else {
                throw ValidationError("--keep-value cannot be used with the options of a value.")
            }
            guard attributes.areGiven || accessibility != nil || !require.isEmpty else {
                throw ValidationError(
                    "With --keep-value, give --label, --comment, --kind, --accessibility or --require.")
            }
        }

        /// - Returns: `nil`: what an existing item requires.
        private func requirement() throws -> AccessControl.Flags? {
            guard !require.isEmpty else { return nil }
            guard !require.contains(.none) || require.allSatisfy({ $0 == .none }) else {
                throw ValidationError("--require none cannot be combined with others.")
            }
            do throws(KeychainError) {
                return try AccessControl(.whenUnlocked, flags: AccessControl.Flags(require.map(\.flag))).flags ?? []
            } catch {
                throw ValidationError(error.message)
            }
        }

        func run() throws {
            let keychain = try UserKeychain(for: .set)
            let protection = Protection(accessibility: accessibility?.accessibility, constraints: try requirement())
            if keepValue { return try keepValue(keychain, protection) }
            try checkSources()
            var value = try input.readValue(for: name)
            defer { value.wipe() }
            try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                try keychain.set(
                    item, attributes.given, protection, value: value, confirmed: confirmed?.duration)
            }
        }

        private func keepValue(_ keychain: UserKeychain, _ protection: Protection) throws(KeychainError) {
            try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                try keychain.change(
                    keychain.onlyItem(item, label: nil), attributes.given, protection)
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
