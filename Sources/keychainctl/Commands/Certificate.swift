// SPDX-License-Identifier: Apache-2.0
// keychainctl certificate: certificates, with or without a private key.

import ArgumentParser
import Foundation
import KeychainAuthenticators
import KeychainKeyStore
import KeychainKeys
import KeychainKit
import KeychainVault

extension Keychainctl {
    struct Certificate: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "certificate",
            abstract: "Keep certificates.",
            discussion: """
                Programs find the same certificates with `KeyStore` and with Apple's functions. Nothing about a \
                certificate is verified: neither its issuers nor its dates. A certificate whose private key is in \
                the vault is an identity, whichever came first: see keychainctl identity --help.

                EXAMPLES
                  keychainctl certificate import proxy.pem
                  keychainctl certificate list
                  keychainctl certificate show --name "Proxy CA"
                  keychainctl certificate export --fingerprint 0a1b2c3d --chain > chain.pem
                """,
            subcommands: [Import.self, List.self, Show.self, Export.self, Delete.self])
    }
}

extension Keychainctl.Certificate {
    struct Import: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import",
            abstract: "Store the certificates of a file.",
            usage: "keychainctl certificate import [<file>] [<options>]",
            discussion: """
                The file is PEM, with any number of certificates, DER, or PKCS#12 without private keys; the format \
                is detected. Without a file, standard input is read. All certificates are stored or none. One \
                that is stored already is no error, and stays as it is. If it does not have the label or accessibility \
                that you ask for, nothing is stored and the exit code is 4. A file with a private key is refused: \
                use keychainctl identity import, or keychainctl key import. The names and fingerprints are \
                printed to standard error.

                EXAMPLES
                  keychainctl certificate import ca.pem --label "Company CA"
                  keychainctl certificate import < chain.pem
                """)

        @Argument(help: ArgumentHelp("The file; default: standard input.", valueName: "file"), completion: .file())
        var file: String?

        @OptionGroup(title: "New items") var new: NewCertificateOptions
        @OptionGroup(title: "Place") var place: KeyPlaceOptions
        @OptionGroup var passphrase: KeyFilePassphraseOptions
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions

        func validate() throws { try passphrase.check(apartFrom: unlock, reading: file) }

        func run() throws {
            let keychain = try UserKeychain()
            let content = try CertificateFile.content(file, passphrase)
            guard content.privateKeys.isEmpty, content.publicKeys.isEmpty else {
                throw KeychainError(
                    .unsupported,
                    "The file also contains keys; nothing was stored. To store private keys with their certificates: "
                        + "keychainctl identity import")
            }
            let stored = try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                try new.store(content, place, in: keychain)
            }
            stored.report()
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List certificates with their fingerprints.",
            usage: "keychainctl certificate list [<options>] [--json | --wide]",
            discussion: """
                If there are no certificates, nothing is printed ([] with --json) and the exit code is 0. \
                Certificates that require authentication are left out; only other programs store such. The \
                fingerprint is SHA-256 in hexadecimal digits.

                While the vault is locked, the certificates that are open are listed, as new ones always are, and \
                standard error says how many items are locked: some of them may be certificates. If no \
                certificate is open, the vault has to be unlocked.

                With --json: an array of objects with the keys name, label, issuer, serialNumber, notBefore, \
                notAfter, dnsNames, emailAddresses, isAuthority, fingerprint, publicKeyHash, accessGroup, created, \
                modified, synchronizable and accessibility. Dates are ISO 8601 in UTC; missing attributes are null.

                EXAMPLES
                  keychainctl certificate list
                  keychainctl certificate list --json | jq -r '.[].name'
                """)

        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords
        @OptionGroup var list: CertificateListOptions

        func run() throws {
            let keychain = try UserKeychain()
            let found = try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                try keychain.reading { () throws(KeychainError) in try list.store(in: keychain).listedCertificates() }
            }
            try list.write(CertificateListing(found.entries), found.entries.map(CertificateJSON.init))
            found.warnOfMissing()
            guard found.others > 0 else { return }
            Output.complain(
                "\(found.others) item(s) of the class certificate are no X.509 certificates and are not shown. To remove "
                    + "them, use the program that stored them.")
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show the fields of a certificate.",
            usage: """
                keychainctl certificate show --fingerprint <hex> [<options>]
                keychainctl certificate show --name <text> [<options>]
                """,
            discussion: """
                With --json: an object with the keys of certificate list --json. Exactly one certificate must match.

                EXAMPLES
                  keychainctl certificate show --name "Company CA"
                """)

        @OptionGroup(title: "Certificate") var certificate: CertificateOptions
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        @Flag(help: "Print JSON, for programs.")
        var json = false

        func validate() throws { try certificate.require() }

        func run() throws {
            let keychain = try UserKeychain()
            let (found, identities) = try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                try keychain.reading { () throws(KeychainError) in
                    let store = certificate.place.store(in: keychain)
                    let found = try certificate.certificate(in: store)
                    let all = try store.identities(matching: certificate.search)
                    return (found, all.filter { $0.certificate.id == found.id })
                }
            }
            try Output.write(
                json
                    ? JSONOutput.line(CertificateJSON(stored: found))
                    : CertificateText(stored: found, identities: identities).text)
        }
    }

    struct Export: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: "Write a certificate to a file or standard output.",
            usage: """
                keychainctl certificate export [<file>] --fingerprint <hex> [<options>]
                keychainctl certificate export [<file>] --name <text> [<options>]
                """,
            discussion: """
                The format is PEM, or DER with --der. With --chain, the certificates of its issuers that are \
                stored follow: of an expired one and its renewal, the renewal. Exactly one certificate must match.

                EXAMPLES
                  keychainctl certificate export --name "Company CA" > ca.pem
                  keychainctl certificate export chain.pem --fingerprint 0a1b2c3d --chain
                """)

        @Argument(
            help: ArgumentHelp(
                "The file to write; not in the vault folder. Default, or -: standard output.", valueName: "file"),
            completion: .file())
        var file: String?

        @OptionGroup(title: "Certificate") var certificate: CertificateOptions

        @Flag(help: "Write DER.")
        var der = false

        @Flag(help: "Also write its issuers, in PEM.")
        var chain = false

        @Flag(help: "Replace an existing file of that name.")
        var replace = false

        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions

        func validate() throws {
            try certificate.require()
            guard !der || !chain else { throw ValidationError("A file in DER has one certificate: leave out --chain.") }
            guard ![nil, "-"].contains(file) || !replace else {
                throw ValidationError("--replace needs the name of a file.")
            }
        }

        func run() throws {
            let keychain = try UserKeychain()
            let place = try place(keychain.vault)
            let (found, issuers) = try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                try keychain.reading { () throws(KeychainError) in
                    let store = certificate.place.store(in: keychain)
                    let found = try certificate.certificate(in: store).certificate
                    let all = chain ? try store.certificates() : []
                    return (found, found.content.chain(from: all.map(\.certificate.content)).dropFirst())
                }
            }
            let content = der ? found.der : Data(([found.pem] + issuers.map(\.pem)).joined().utf8)
            guard let place else { return try Output.write(content) }
            try NewFile.write(content, to: place)
        }

        private func place(_ vault: Vault) throws(KeychainError) -> NewFilePlace? {
            if let file, file != "-" {
                return try NewFilePlace(file, replacing: replace, outside: vault.location, keyFile: unlock.keyFile)
            }
            guard !der || !Terminal.isTerminal(STDOUT_FILENO) else {
                throw KeychainError(
                    .invalidParameter, "Standard output is a terminal, which does not show DER. Name a file.")
            }
            return nil
        }
    }

    struct Delete: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Remove a certificate.",
            usage: """
                keychainctl certificate delete --fingerprint <hex> [<options>]
                keychainctl certificate delete --name <text> [<options>]
                """,
            discussion: """
                A private key of it stays: to remove both, use keychainctl identity delete. Exactly one \
                certificate must match. If it is stored twice, marked for synchronization and not, both items \
                are removed; with --synchronizable, only the marked one. The history keeps nothing. Nothing is \
                printed.

                EXAMPLES
                  keychainctl certificate delete --fingerprint 0a1b2c3d
                """)

        @OptionGroup(title: "Certificate") var certificate: CertificateOptions
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        func validate() throws { try certificate.require() }

        func run() throws {
            let keychain = try UserKeychain()
            try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                var store = certificate.place.removingStore(in: keychain)
                let found = try certificate.certificate(in: store)
                // Not a copy in another group.
                store.accessGroup = found.accessGroup
                guard try store.remove(found.certificate) else {
                    throw KeychainError(.itemNotFound, "The certificate was removed meanwhile.")
                }
            }
        }
    }
}
