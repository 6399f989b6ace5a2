// SPDX-License-Identifier: Apache-2.0
// keychainctl protect: the protectors of the vault.

import ArgumentParser
import Foundation
import KeychainKit
import KeychainVault

extension Keychainctl {
    struct Protect: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "protect",
            abstract: "Show and change what opens the vault.",
            discussion: """
                Each protector opens the vault on its own, so the vault is only as strong as its weakest \
                protector. If a change requires a secret that opens the vault now, you are asked for it, \
                or you give it with an option.

                EXAMPLES
                  keychainctl protect
                  keychainctl protect add passphrase
                  keychainctl protect remove device-key
                  keychainctl protect change passphrase
                """,
            subcommands: [List.self, Add.self, Remove.self, Change.self, Adopt.self], defaultSubcommand: List.self)

        struct List: ParsableCommand {
            static let configuration = CommandConfiguration(
                commandName: "list",
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
                commandName: "add",
                abstract: "Add a secret that opens the vault.",
                usage: "keychainctl protect add <kind> [<options>]",
                discussion: """
                    You enter a new passphrase twice. A recovery key is generated and written to \
                    standard output, once. The other options give a secret that opens the vault now.

                    A credential is the file swift-keychain.key in $CREDENTIALS_DIRECTORY: 32 to 4096 random \
                    bytes that systemd gives to a service. In the unit of the service:

                      LoadCredential=swift-keychain.key:/etc/credstore/swift-keychain.key

                    A TPM opens the vault only on this machine, with keychainctl unlock --tpm2, and with a PIN if \
                    you add --pin. The TPM limits the number of wrong PINs. Since it can be cleared or break, \
                    it is only added beside a passphrase or recovery key.

                    EXAMPLES
                      keychainctl protect add passphrase
                      keychainctl protect add recovery-key
                      keychainctl protect add tpm2 --pin
                      keychainctl protect add key-file --new-key-file /media/stick/keychain.key
                      systemd-run --user --pipe -p LoadCredential=swift-keychain.key:KEYFILE \\
                        keychainctl protect add credential
                    """)

            @Argument(help: ArgumentHelp("What to add: \(KindName.help).", valueName: "kind"))
            var name: KindName

            @OptionGroup(title: "New secret") var new: NewSecretOptions
            @OptionGroup(title: "Secret that opens the vault now") var options: UnlockOptions
            @OptionGroup var stray: StrayWords

            func validate() throws { try new.check(for: name.kind) }

            func run() throws {
                let vault = try UserKeychain().vault
                try vault.checkMayAdd(name.kind)
                let isNew = try vault.create()
                if name.kind == .deviceKey, try vault.openedBy == .deviceKey {
                    guard isNew else { throw Self.opensAlready }
                    return adviseIfOpen(vault)
                }
                let authority = try options.authority(vault, for: name.kind)
                let secret = try new.secret(of: name.kind, vault)
                try RecoveryKeyOutput.showing([secret]) { () throws(KeychainError) in
                    try vault.addProtector(secret, authority: authority)
                }
                adviseIfOpen(vault)
            }

            /// A second protector for the same key would stay when the first one is removed.
            private static let opensAlready = KeychainError(
                .duplicateItem, "The device key of this machine opens the vault already. Nothing was changed.")

            /// The protector was added, even if the vault cannot be checked now.
            private func adviseIfOpen(_ vault: Vault) {
                do throws(KeychainError) {
                    if try vault.opensByItself { advise(try vault.status()) }
                } catch {
                    Output.note("The protector was added. Checking the vault after that failed: \(error.message)")
                }
            }

            private func advise(_ status: VaultStatus) {
                guard let machine = status.openedBy else { return }
                Output.note(
                    name.kind == machine
                        ? "The vault now opens on this machine without a prompt."
                        : "The vault still opens with the \(machine.name), without a prompt. To change that: "
                            + "keychainctl protect remove \(machine.word)")
            }
        }

        struct Change: ParsableCommand {
            static let configuration = CommandConfiguration(
                commandName: "change",
                abstract: "Replace a secret that opens the vault.",
                usage: "keychainctl protect change <protector> [<options>]",
                discussion: """
                    Older copies of the vault still open with the old secret. Someone who has such a copy and \
                    the old secret can also open what is stored from now on, even after keychainctl rotate. \
                    To prevent that for a key file or credential, remove the protector and add a new one. \
                    For a passphrase or recovery key, create a new vault.

                    A TPM that had a PIN gets a new one. To use it without a PIN, remove and add it.

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
                let secret = try new.secret(of: kind, vault, keepsPIN: slot.needsPIN)
                try RecoveryKeyOutput.showing([secret]) { () throws(KeychainError) in
                    try vault.changeProtector(slot.id, to: secret, authority: authority)
                }
                RemovedDataNotice.tell(vault)
            }
        }

        struct Remove: ParsableCommand {
            static let configuration = CommandConfiguration(
                commandName: "remove",
                abstract: "Remove a secret, so that it no longer opens the vault.",
                usage: "keychainctl protect remove <protector> [<options>]",
                discussion: """
                    The last protector cannot be removed. If some items open only with the last passphrase \
                    or recovery key, that one is removed only with --erase-items, which erases these items.

                    The vault gets new keys, so that the removed secret together with an older copy of the \
                    vault opens nothing that is stored later. This requires the secrets of all other \
                    protectors: of a passphrase or recovery key, of each key file, and those that are on \
                    this machine. If one is missing, nothing is removed, unless --keep-keys allows the keys \
                    to stay unchanged. Damaged items are moved to the quarantine, and reported.

                    EXAMPLES
                      keychainctl protect remove device-key
                      keychainctl protect remove device-key --passphrase-fd 3 3< passphrase
                      keychainctl protect remove passphrase --erase-items
                    """)

            @Argument(help: ArgumentHelp("Which: \(ProtectorName.help).", valueName: "protector"))
            var name: ProtectorName

            @Flag(help: "Erase items that nothing else can open.")
            var eraseItems = false

            @Flag(help: "Remove it even if a secret that new keys require is missing.")
            var keepKeys = false

            @Option(
                help: ArgumentHelp(
                    "The key file of another protector, beside the secret that opens the vault; repeatable.",
                    valueName: "path"), completion: .file())
            var otherKeyFile: [String] = []

            @OptionGroup(title: "Secret that opens the vault now") var options: UnlockOptions
            @OptionGroup var stray: StrayWords

            func run() throws {
                let vault = try UserKeychain.existingVault()
                let slot = try name.slot(in: vault)
                let wasUnlocked = try vault.lockState == .unlocked
                let authority = try options.authorityForRemoval(vault)
                var others: [ProtectorSecret] = []
                for path in otherKeyFile { others.append(ProtectorSecret(.keyFile, try vault.readKeyFile(path))) }
                var damaged = 0
                let progress = ProgressLine()
                defer {
                    progress.end()
                    QuarantineNotice.tell(damaged)
                    // The slot may be removed although a later step failed, and another protector may then open the vault.
                    let isThere = try? vault.protectors.contains { $0.id == slot.id }
                    LockNotice.tell(vault, ifItWasUnlocked: wasUnlocked && isThere != true)
                }
                let isRenewed = try vault.removeProtector(
                    slot.id, erasingItems: eraseItems, keepingKeys: keepKeys, authority: authority, others: others,
                    progress: { progress.show($0) }, quarantined: { damaged += $0 })
                progress.end()
                RemovedDataNotice.tell(vault)
                if !isRenewed {
                    Output.note(
                        "The vault keeps its keys. The removed secret together with an older copy of the vault still opens "
                            + "the vault, including what is stored from now on.")
                } else if slot.kind?.holder == .person,
                    try vault.protectors.contains(where: { $0.kind?.holder == .person })
                {
                    Output.note(
                        "The removed secret together with an older copy of the vault still opens the vault, because "
                            + "passphrases and recovery keys hold the same key. To prevent that, create a new vault.")
                }
            }
        }

        struct Adopt: ParsableCommand {
            static let configuration = CommandConfiguration(
                commandName: "adopt",
                abstract: "Bind a vault from another machine to this one.",
                usage: "keychainctl protect adopt [<options>]",
                discussion: """
                    Use this for a vault that was copied from another machine or has lost its device key. \
                    Items bound to the other device are kept, but do not open until its device key is \
                    restored. A device key is created if there is none; it opens the vault only after \
                    `protect add device-key`.

                    EXAMPLES
                      keychainctl protect adopt
                      keychainctl protect adopt --recovery-key
                    """)

            @OptionGroup(title: "Secret that opens the vault now") var options: UnlockOptions
            @OptionGroup var stray: StrayWords

            func run() throws {
                let vault = try UserKeychain.existingVault()
                let wasUnlocked = try vault.lockState == .unlocked
                var kept = 0
                try options.unlock(vault) { (secret) throws(KeychainError) in
                    kept = try vault.adoptDevice(authority: secret)
                }
                if kept > 0 {
                    Output.note("Items bound to another device, kept until its device key is restored: \(kept).")
                }
                LockNotice.tell(vault, ifItWasUnlocked: wasUnlocked)
            }
        }
    }
}

extension KeychainError {
    fileprivate static let unknownKind = KeychainError(
        .unsupported, "This protector was made by a newer version of keychainctl. Use that version to change it.")
}

/// The table of protectors for people.
struct ProtectorListing {
    let slots: [VaultStatus.Slot]

    var text: String {
        guard !slots.isEmpty else { return "" }
        let rows = slots.map { [$0.kind?.word ?? "unknown", $0.id.uuidString.lowercased(), $0.added] }
        return TextTable(header: ["KIND", "ID", "ADDED"], rows: rows).text(within: nil)
    }
}

extension VaultStatus.Slot {
    /// When it was added, for people.
    var added: String { created.timestamp(withFraction: false) }
}
