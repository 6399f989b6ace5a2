// SPDX-License-Identifier: Apache-2.0
// keychainctl key generate, import and export: how private keys come into the vault, and out of it.

import ArgumentParser
import Foundation
import KeychainAuthenticators
import KeychainKeyStore
import KeychainKeys
import KeychainKit
import KeychainVault
import SecretMemory

/// What a new key has besides its tag.
struct NewKeyOptions: ParsableArguments {
    @Option(help: "A name for people. A replaced key keeps its label unless this is given.")
    var label: String?

    @Option(
        help: ArgumentHelp(
            "When the key opens: \(AccessibilityName.help). Or Apple's names, such as ck.", valueName: "class")
    )
    var accessibility: AccessibilityName?

    @Flag(help: "Replace the key of the tag, which is then gone for good.")
    var replace = false

    func save(_ new: PrivateKey, _ key: KeyOptions, in keychain: UserKeychain) throws(KeychainError) {
        var store = key.place.newStore(in: keychain)
        store.accessibility = accessibility?.accessibility
        do throws(KeychainError) {
            try store.put(new, tag: key.tag, label: label, replacing: replace)
        } catch {
            guard error.reason == .duplicateItem, !replace else { throw error }
            throw KeychainError(
                .duplicateItem, "A key of this tag exists and was not changed. To replace it, add: --replace")
        }
    }

    func saveOnToken(
        _ key: KeyOptions, _ protection: KeyProtection, in keychain: UserKeychain
    ) throws(KeychainError) -> KeychainKeyStore.StoredKey {
        var store = key.place.newStore(in: keychain)
        store.accessibility = accessibility?.accessibility
        do throws(KeychainError) {
            return try store.create(.p256, tag: key.tag, label: label, protection: protection)
        } catch {
            guard error.reason == .duplicateItem else { throw error }
            let option = protection == .hardware ? "--token" : "--not-exportable"
            throw KeychainError(
                .duplicateItem,
                "A key of this tag exists and was not changed: \(option) does not replace keys. Use another tag, or remove "
                    + "the old key: keychainctl key delete")
        }
    }
}

extension Keychainctl.Key {
    struct Generate: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "generate",
            abstract: "Generate a private key and store it.",
            usage: "keychainctl key generate <type> --tag <name> [<options>]",
            discussion: """
                The type and the fingerprint are printed to standard error. If there is a key of the tag in \
                the access group (the group 'default' unless one is given), it is not changed and the exit \
                code is 4, unless --replace is given.

                With --token the key is made in hardware, such as a TPM, and never leaves it: it signs \
                there, and cannot be exported. The type is then p256. Without such hardware no key is \
                made, never one in software instead. With --not-exportable the vault keeps the key and \
                signs with it, but no command and no call gives it out, and it never leaves this device; \
                the type is p256. That does not stop a program of yours which opens the vault by itself.

                EXAMPLES
                  keychainctl key generate ed25519 --tag release
                  keychainctl key generate p256 --tag device --accessibility after-first-unlock
                  keychainctl key generate rsa-3072 --tag legacy
                  keychainctl key generate p256 --tag signing --not-exportable
                """)

        @Argument(help: ArgumentHelp("The type: \(KeyTypeName.help).", valueName: "type"))
        var type: KeyTypeName

        @OptionGroup(title: "Key") var key: KeyOptions
        @OptionGroup(title: "New key") var new: NewKeyOptions

        @Flag(help: "Make the key in hardware that never gives it out; only p256.")
        var token = false

        @Flag(help: "Make a key that is used and never given out; only p256.")
        var notExportable = false

        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions

        func validate() throws {
            guard !token || !notExportable else {
                throw ValidationError("A key on a token is never exportable. Leave out --not-exportable.")
            }
            guard token || notExportable else { return }
            let option = token ? "--token" : "--not-exportable"
            guard type.kind == .p256 else { throw ValidationError("With \(option) the type is p256.") }
            guard !key.place.synchronizable else {
                throw ValidationError("Such a key cannot leave this device. Leave out \(option) or --synchronizable.")
            }
            guard !new.replace else {
                throw ValidationError("\(option) does not replace keys. To remove the old one: keychainctl key delete")
            }
        }

        func run() throws {
            let keychain = try UserKeychain()
            guard !token, !notExportable else { return try makeOnToken(keychain) }
            let made = try made()
            try unlock.unlocking(keychain.vault) { () throws(KeychainError) in try new.save(made, key, in: keychain) }
            Output.note("Stored a new \(made.publicKey.shown).")
        }

        private func makeOnToken(_ keychain: UserKeychain) throws {
            if token { try HardwareTokens.check() }
            let stored = try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                try new.saveOnToken(key, token ? .hardware : .notExportable, in: keychain)
            }
            let place = token ? "on the token '\(stored.tokenIdentifier ?? "")'" : "which is never given out"
            Output.note("Stored a new \(stored.publicKey?.shown ?? "key"), \(place).")
        }

        private func made() throws(KeychainError) -> PrivateKey {
            do throws(KeyFailure) {
                return try .generate(type.kind, sizeInBits: type.sizeInBits)
            } catch {
                throw error.inKeychainWords("The key")
            }
        }
    }

    struct Import: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import",
            abstract: "Store the private key of a file.",
            usage: "keychainctl key import [<file>] --tag <name> [<options>]",
            discussion: """
                The file is PEM (PKCS#8 with or without a passphrase, PKCS#1, SEC 1, OpenSSH) or DER; the \
                format is detected. Of several keys in a PEM file, the first is stored. Without a file, \
                standard input is read. You are asked for the passphrase only if the file has one. The \
                file is not changed: remove it when you no longer need it.

                EXAMPLES
                  keychainctl key import ~/.ssh/id_ed25519 --tag ssh --label "Laptop"
                  keychainctl key import key.pem --tag server \\
                    --file-passphrase-fd 3 3< passphrase
                  openssl genpkey -algorithm ED25519 | keychainctl key import --tag release
                """)

        @Argument(help: ArgumentHelp("The file; default: standard input.", valueName: "file"), completion: .file())
        var file: String?

        @OptionGroup(title: "Key") var key: KeyOptions
        @OptionGroup(title: "New key") var new: NewKeyOptions
        @OptionGroup var passphrase: KeyFilePassphraseOptions
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions

        func validate() throws { try passphrase.check(apartFrom: unlock, reading: file) }

        func run() throws {
            let keychain = try UserKeychain()
            let read = try KeyFile.key(file, passphrase)
            try unlock.unlocking(keychain.vault) { () throws(KeychainError) in try new.save(read, key, in: keychain) }
            Output.note("Stored the \(read.publicKey.shown).")
        }
    }

    struct Export: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: "Write a private key, encrypted with a passphrase.",
            usage: """
                keychainctl key export [<file>] --tag <name> [<options>]
                keychainctl key export [<file>] --tag <name> --clear-text [<options>]
                """,
            discussion: """
                The file is PKCS#8 in PEM, which openssl and most programs read. You enter a new \
                passphrase twice, or give it on a descriptor. Without a file, the key is written to \
                standard output, which must not be a terminal. --application-label names a key without a tag.

                With --clear-text the key is not encrypted. Only you can read the file, but so can every \
                program and every backup of yours. Remove it soon.

                EXAMPLES
                  keychainctl key export release.pem --tag release
                  keychainctl key export release.pem --tag release \\
                    --file-passphrase-fd 3 3< passphrase
                  keychainctl key export --tag release --clear-text |
                    ssh-keygen -y -f /dev/stdin
                """)

        @Argument(
            help: ArgumentHelp(
                "The file to write; not in the vault folder. Default, or -: standard output.", valueName: "file"),
            completion: .file())
        var file: String?

        @OptionGroup(title: "Key") var key: StoredKeyOptions
        @OptionGroup var passphrase: KeyFilePassphraseOptions

        @Flag(help: "Write the key without a passphrase.")
        var clearText = false

        @Flag(help: "Replace an existing file of that name.")
        var replace = false

        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions

        func validate() throws {
            try passphrase.check(apartFrom: unlock)
            guard !clearText || passphrase.descriptor == nil else {
                throw ValidationError("Give a passphrase or --clear-text, not both.")
            }
            guard ![nil, "-"].contains(file) || !replace else {
                throw ValidationError("--replace needs the name of a file.")
            }
        }

        func run() throws {
            let keychain = try UserKeychain()
            let place = try place(keychain.vault)
            let found = try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                try keychain.reading { () throws(KeychainError) in try key.key(in: keychain) }
            }
            guard found.isExtractable else {
                throw KeychainError(
                    .unsupported, "This key was imported so that it is not exported. Nothing was written.")
            }
            let text = try KeyFile.text(of: found.key, clearText ? nil : passphrase.newPassphrase())
            try write(text, to: place)
            guard clearText, let place else { return }
            Output.note(
                "Warning: '\(place.path)' has the private key in clear text. Remove it when you no longer need it.")
        }

        /// Before the user enters a passphrase.
        private func place(_ vault: Vault) throws(KeychainError) -> NewFilePlace? {
            if let file, file != "-" {
                return try NewFilePlace(file, replacing: replace, outside: vault.location, keyFile: unlock.keyFile)
            }
            guard !Terminal.isTerminal(STDOUT_FILENO) else {
                throw KeychainError(
                    .invalidParameter, "Standard output is a terminal, which would show the key. Name a file.")
            }
            return nil
        }

        private func write(_ text: SecretBytes, to place: NewFilePlace?) throws(KeychainError) {
            guard let place else { return try Output.write(text) }
            try NewFile.write(text, to: place)
        }
    }
}
