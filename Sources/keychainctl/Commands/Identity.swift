// SPDX-License-Identifier: Apache-2.0
// keychainctl identity: private keys with their certificates.

import ArgumentParser
import Foundation
import KeychainKeyStore
import KeychainKeys
import KeychainKit
import KeychainVault

extension Keychainctl {
    struct Identity: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "identity",
            abstract: "Keep private keys with their certificates.",
            discussion: """
                An identity is a private key in the vault and a certificate of its public key, for example a client \
                certificate. Programs find the same identities with `KeyStore`. Private bytes leave the vault only \
                by `identity export` and `key export`.

                The history does not keep keys: a deleted key is gone for good.

                EXAMPLES
                  keychainctl identity import client.p12 --tag client
                  keychainctl identity list
                  keychainctl identity export new.p12 --tag client
                """,
            subcommands: [Import.self, List.self, Export.self, Delete.self])
    }
}

extension Keychainctl.Identity {
    struct Import: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import",
            abstract: "Store the private keys and certificates of a file.",
            usage: "keychainctl identity import [<file>] [<options>]",
            discussion: """
                The file is PKCS#12, or PEM with private keys and certificates; the format is detected. Without a \
                file, standard input is read. You are asked for the passphrase only if the file needs one. \
                Everything in the file is stored, or nothing. A key or certificate that is stored already is no \
                error, and stays as it is. If a key or its certificate does not have the label or accessibility that you \
                ask for, nothing is stored and the exit code is 4. Each private key needs its certificate in the same file: for a key alone there is \
                keychainctl key import. The names and fingerprints are printed to standard error. The file is \
                not changed: remove it when you no longer need it.

                EXAMPLES
                  keychainctl identity import client.p12 --tag client
                  keychainctl identity import client.p12 --file-passphrase-fd 3 3< passphrase
                  cat key.pem certificate.pem | keychainctl identity import --label Laptop
                """)

        @Argument(help: ArgumentHelp("The file; default: standard input.", valueName: "file"), completion: .file())
        var file: String?

        @Option(
            name: .shortAndLong,
            help: ArgumentHelp("The tag of the private key, if the file has one. Default: none.", valueName: "name"))
        var tag: String?

        @OptionGroup(title: "New items") var new: NewCertificateOptions
        @OptionGroup(title: "Place") var place: KeyPlaceOptions
        @OptionGroup var passphrase: KeyFilePassphraseOptions
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions

        func validate() throws {
            try passphrase.check(apartFrom: unlock, reading: file)
            guard tag?.isEmpty != true else { throw ValidationError("--tag takes a name, not an empty text.") }
        }

        func run() throws {
            let keychain = try UserKeychain()
            let content = try CertificateFile.content(file, passphrase)
            let certificates = Swift.Set(content.certificates.map(\.content.publicKeyHash))
            let keys = content.privateKeys.map(\.content.publicKey.applicationLabel)
            guard !keys.isEmpty, certificates.isSuperset(of: keys) else {
                throw KeychainError(
                    .unsupported,
                    keys.isEmpty
                        ? "The file contains no private key; nothing was stored. For certificates: "
                            + "keychainctl certificate import"
                        : "The file contains a private key without its certificate; nothing was stored. For keys: "
                            + "keychainctl key import")
            }
            let stored = try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                try new.store(content, tag: tag, place, in: keychain)
            }
            stored.report()
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List private keys with their certificates.",
            usage: "keychainctl identity list [<options>] [--json | --wide]",
            discussion: """
                If there are no identities, nothing is printed ([] with --json) and the exit code is 0. There is no \
                authentication prompt, and private keys are not read. The fingerprint is that of the certificate: \
                SHA-256 in hexadecimal digits. The newest certificate is first.

                With --json: an array of objects with the keys certificate (an object as in certificate list \
                --json), key (an object as in key list --json) and chain (fingerprints: the certificate first, then \
                its issuers that are stored).

                EXAMPLES
                  keychainctl identity list
                  keychainctl identity list --json | jq -r '.[].certificate.notAfter'
                """)

        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords
        @OptionGroup var list: CertificateListOptions

        func run() throws {
            let keychain = try UserKeychain()
            let found = try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                try keychain.reading { () throws(KeychainError) in try list.store(in: keychain).listedIdentities() }
            }
            try list.write(CertificateListing(found.entries), found.entries.map(IdentityJSON.init))
            found.warnOfMissing()
        }
    }

    struct Export: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: "Write a private key and its certificates, encrypted with a passphrase.",
            usage: """
                keychainctl identity export <file> --fingerprint <hex> [<options>]
                keychainctl identity export <file> --name <text> [<options>]
                keychainctl identity export <file> --tag <name> [<options>]
                """,
            discussion: """
                The file is PKCS#12 (PBES2 with AES-256), which openssl, browsers and other systems read. Its \
                issuers that are stored are in it. Only you can read the file. You enter a new passphrase twice, or \
                give it on a descriptor. Exactly one identity must match.

                EXAMPLES
                  keychainctl identity export client.p12 --tag client
                  keychainctl identity export new.p12 -t client --file-passphrase-fd 3 3< file
                """)

        @Argument(
            help: ArgumentHelp(
                "The file to write; not in the vault folder. - for standard output.", valueName: "file"),
            completion: .file())
        var file: String

        @OptionGroup(title: "Identity") var identity: IdentityOptions
        @OptionGroup var passphrase: KeyFilePassphraseOptions

        @Flag(help: "Replace an existing file of that name.")
        var replace = false

        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions

        func validate() throws { try passphrase.check(apartFrom: unlock) }

        func run() throws {
            let keychain = try UserKeychain()
            // Before the user enters a passphrase.
            let place = try NewFilePlace(
                file, replacing: replace, outside: keychain.vault.location, keyFile: unlock.keyFile)
            let exported = try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                try keychain.reading { () throws(KeychainError) in
                    let store = identity.certificate.place.store(in: keychain)
                    return try store.exported(identity.identity(in: store))
                }
            }
            guard let exported else {
                throw KeychainError(.itemNotFound, "The private key was removed meanwhile. Nothing was written.")
            }
            try NewFile.write(CertificateFile.file(of: exported, passphrase.newPassphrase()), to: place)
        }
    }

    struct Delete: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Remove a certificate and its private key for good.",
            usage: """
                keychainctl identity delete --fingerprint <hex> [<options>]
                keychainctl identity delete --name <text> [<options>]
                keychainctl identity delete --tag <name> [<options>]
                """,
            discussion: """
                Both go in one step, and `undo` cannot bring them back. The key stays, which is said, if the vault \
                has another certificate of it, in any access group. Otherwise it goes from its group under all its \
                tags. Items that are marked for synchronization go as well as those that are not; with \
                --synchronizable, only the marked ones. Certificates of issuers stay. Exactly one identity must match.

                EXAMPLES
                  keychainctl identity delete --fingerprint 0a1b2c3d
                """)

        @OptionGroup(title: "Identity") var identity: IdentityOptions
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        func run() throws {
            let keychain = try UserKeychain()
            let removal = try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                let store = identity.certificate.place.removingStore(in: keychain)
                return try store.removed(identity.identity(in: store))
            }
            switch removal {
            case .nothing:
                throw KeychainError(.itemNotFound, "The certificate was removed meanwhile; nothing was changed.")
            case .certificate: Output.note("The private key stays: the vault has another certificate of it.")
            case .certificateAndKey: break
            }
        }
    }
}
