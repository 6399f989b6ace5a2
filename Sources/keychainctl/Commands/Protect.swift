// SPDX-License-Identifier: Apache-2.0
// keychainctl protect: what opens the vault.

import ArgumentParser
import Foundation
import KeychainKit
import KeychainVault

extension Keychainctl {
    struct Protect: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show and change what opens the vault.",
            discussion: """
                Each protector opens the vault by itself, so it is as strong as the weakest. Changes \
                take a secret that opens the vault now: it is asked for, or given with an option.

                EXAMPLES
                  keychainctl protect
                  keychainctl protect add passphrase
                  keychainctl protect remove device-key
                  keychainctl protect change passphrase
                """,
            subcommands: [List.self, Add.self, Remove.self, Change.self, Adopt.self], defaultSubcommand: List.self)

        struct List: ParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Show what opens the vault.",
                discussion: """
                    With --json: an array of objects with the keys word, kind, id, created, protectsFrom \
                    and doesNotProtectFrom.

                    EXAMPLES
                      keychainctl protect list
                      keychainctl protect list --json | jq -r '.[].id'
                    """)

            @Flag(help: "Print JSON, for programs.")
            var json = false

            @OptionGroup var stray: StrayWords

            func run() throws {
                let slots = try UserKeychain().vault.protectors
                try Output.write(
                    json ? JSONOutput.line(slots.map(ProtectorJSON.init)) : ProtectorListing(slots: slots).text)
            }
        }

        struct Add: ParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Let one more secret open the vault.",
                usage: "keychainctl protect add <kind> [<options>]",
                discussion: """
                    A new passphrase is asked for twice. A recovery key is made and written to standard \
                    output, once. The other options are for a secret that opens the vault now.

                    EXAMPLES
                      keychainctl protect add passphrase
                      keychainctl protect add recovery-key
                      keychainctl protect add key-file --new-key-file /media/stick/keychain.key
                    """)

            @Argument(help: ArgumentHelp("What to add: \(KindName.help).", valueName: "kind"))
            var name: KindName

            @OptionGroup(title: "New secret") var new: NewSecretOptions
            @OptionGroup(title: "Secret that opens the vault now") var options: UnlockOptions
            @OptionGroup var stray: StrayWords

            func validate() throws { try new.check(for: name.kind) }

            func run() throws {
                let vault = try UserKeychain().vault
                try vault.create()
                let authority = try options.authority(vault, for: name.kind)
                let secret = try new.secret(of: name.kind, vault)
                try RecoveryKeyOutput.showing([secret]) { () throws(KeychainError) in
                    try vault.addProtector(secret, authority: authority)
                }
                adviseIfOpen(vault)
            }

            /// It was added, whether or not the vault can be looked at now.
            private func adviseIfOpen(_ vault: Vault) {
                do throws(KeychainError) {
                    if try vault.opensByItself { advise(try vault.status()) }
                } catch {
                    Output.note("The protector was added. Looking at the vault after that failed: \(error.message)")
                }
            }

            private func advise(_ status: VaultStatus) {
                guard let machine = status.openedBy else { return }
                Output.note(
                    name.kind == machine
                        ? "From now on the vault opens here without asking anybody."
                        : "The vault still opens with the \(machine.name), without asking anybody. To change that: "
                            + "keychainctl protect remove \(machine.word)")
            }
        }

        struct Change: ParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Put another secret in the place of one.",
                usage: "keychainctl protect change <protector> [<options>]",
                discussion: """
                    Copies that were made of the vault before still open with the older secret; after that \
                    became known, `rotate` keeps what is stored from now on out of its reach.

                    EXAMPLES
                      keychainctl protect change passphrase
                      keychainctl protect change recovery-key
                    """)

            @Argument(help: ArgumentHelp("Which: \(ProtectorName.help).", valueName: "protector"))
            var name: ProtectorName

            @OptionGroup(title: "New secret") var new: NewSecretOptions
            @OptionGroup(title: "Secret that opens the vault now") var options: UnlockOptions
            @OptionGroup var stray: StrayWords

            func run() throws {
                let vault = try UserKeychain.existingVault()
                let slot = try name.slot(in: vault)
                guard let kind = slot.kind else { throw KeychainError.unknownKind }
                try new.check(for: kind)
                let authority = try options.authority(vault, for: kind)
                let secret = try new.secret(of: kind, vault)
                try RecoveryKeyOutput.showing([secret]) { () throws(KeychainError) in
                    try vault.changeProtector(slot.id, to: secret, authority: authority)
                }
            }
        }

        struct Remove: ParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Let a secret open the vault no longer.",
                usage: "keychainctl protect remove <protector> [<options>]",
                discussion: """
                    The last one cannot be removed. Items that nothing else could open would be lost with \
                    the last passphrase or recovery key: they are erased with --erase-items only.

                    The vault gets new keys, so that the removed secret together with an older copy of the vault \
                    opens nothing that is stored later. That takes the secrets of all other protectors: if one is \
                    missing, nothing is removed, unless --keep-keys says that the keys may stay as they are.

                    EXAMPLES
                      keychainctl protect remove device-key
                      keychainctl protect remove device-key --passphrase-fd 3 3< passphrase
                      keychainctl protect remove passphrase --erase-items
                    """)

            @Argument(help: ArgumentHelp("Which: \(ProtectorName.help).", valueName: "protector"))
            var name: ProtectorName

            @Flag(help: "Give up items that nothing else can open.")
            var eraseItems = false

            @Flag(help: "Remove it also if a secret that new keys take is not here.")
            var keepKeys = false

            @OptionGroup(title: "Secret that opens the vault now") var options: UnlockOptions
            @OptionGroup var stray: StrayWords

            func run() throws {
                let vault = try UserKeychain.existingVault()
                let slot = try name.slot(in: vault)
                let openedByItself = try vault.opensByItself
                let authority = try options.authorityForRemoval(vault)
                // The slot may be gone although not all is done, and then the vault opens otherwise.
                defer { tell(vault, openedByItself) }
                let isRenewed = try vault.removeProtector(
                    slot.id, erasingItems: eraseItems, keepingKeys: keepKeys, authority: authority)
                if !isRenewed {
                    Output.note(
                        "The vault keeps its keys: the removed secret together with an older copy of the vault still opens "
                            + "the vault, also what is stored from now on.")
                } else if slot.kind?.holder == .person,
                    try vault.protectors.contains(where: { $0.kind?.holder == .person })
                {
                    Output.note(
                        "The removed secret together with an older copy of the vault still opens the vault: a passphrase and "
                            + "a recovery key hold the same key. To shut it out, make a new vault.")
                }
            }

            private func tell(_ vault: Vault, _ openedByItself: Bool) {
                do throws(KeychainError) {
                    if openedByItself { try LockNotice.tell(vault) }
                } catch {
                    Output.complain(error.message)
                }
            }
        }

        struct Adopt: ParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Bind a vault from another machine to this one.",
                usage: "keychainctl protect adopt [<options>]",
                discussion: """
                    For a vault that was copied here, or has lost its device key. Items that were for the \
                    other device alone are kept and stay closed; they open again while that device key is in \
                    its place. A device key is made if there is none; it opens the vault only after \
                    `protect add device-key`.

                    EXAMPLES
                      keychainctl protect adopt
                      keychainctl protect adopt --recovery-key
                    """)

            @OptionGroup(title: "Secret that opens the vault now") var options: UnlockOptions
            @OptionGroup var stray: StrayWords

            func run() throws {
                let vault = try UserKeychain.existingVault()
                var kept = 0
                try options.unlock(vault) { (secret) throws(KeychainError) in
                    kept = try vault.adoptDevice(authority: secret)
                }
                if kept > 0 {
                    Output.note("Items for another device alone, kept until its device key is back: \(kept).")
                }
            }
        }
    }
}

extension KeychainError {
    fileprivate static let unknownKind = KeychainError(
        .unsupported, "This protector was made by a newer version of keychainctl. Use that to change it.")
}

/// The table of protectors for people.
struct ProtectorListing {
    let slots: [VaultStatus.Slot]

    var text: String {
        guard !slots.isEmpty else { return "" }
        let rows = slots.map { [$0.kind?.word ?? "unknown", $0.id.uuidString.lowercased(), $0.added] }
        return TextTable(header: ["KIND", "ID", "ADDED"], rows: rows).text
    }
}

extension VaultStatus.Slot {
    /// When it was added, for people.
    var added: String { created.timestamp(withFraction: false) }
}
