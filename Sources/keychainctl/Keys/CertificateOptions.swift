// SPDX-License-Identifier: Apache-2.0
// The options that name a certificate or an identity.

import ArgumentParser
import KeychainKeyStore
import KeychainKit

/// Which certificate a command is about.
struct CertificateOptions: ParsableArguments {
    /// Fewer digits are easily those of another certificate.
    private static let fewestDigits = 8

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The SHA-256 fingerprint, or its first 8 digits or more.", valueName: "hex"))
    var fingerprint: String?

    @Option(name: .shortAndLong, help: ArgumentHelp("The name, as lists show it, or the label.", valueName: "text"))
    var name: String?

    @OptionGroup var place: KeyPlaceOptions

    func validate() throws {
        guard name?.isEmpty != true else { throw ValidationError("--name takes a name, not an empty text.") }
        guard let fingerprint else { return }
        let digits = fingerprint.filter { $0 != ":" }
        guard digits.allSatisfy({ $0.isASCII && $0.isHexDigit }), (Self.fewestDigits...64).contains(digits.count) else {
            throw ValidationError("--fingerprint takes \(Self.fewestDigits) to 64 hexadecimal digits.")
        }
    }

    func require() throws {
        guard isEmpty else { return }
        throw ValidationError("Name the certificate with --fingerprint or --name.")
    }

    var isEmpty: Bool { fingerprint == nil && name == nil }
    var search: CertificateSearch { CertificateSearch(name: name, fingerprint: fingerprint) }

    /// The certificate that the options select.
    ///
    /// - Throws: `itemNotFound`, or `duplicateItem` if there are several.
    func certificate(in store: KeyStore) throws(KeychainError) -> KeychainKeyStore.StoredCertificate {
        let found = try store.certificates(matching: search)
        guard let first = found.first else {
            throw KeychainError(.itemNotFound, "No certificate matches. To see all: keychainctl certificate list")
        }
        guard found.allSatisfy({ $0.isCopy(of: first) }) else { throw .several(found.count, "certificates", "") }
        return first
    }

    /// The identity that the options select. A key that is stored under several tags makes no difference.
    ///
    /// - Throws: As ``certificate(in:)``.
    func identity(in store: KeyStore, tag: String?) throws(KeychainError) -> KeychainIdentity {
        let found = try store.identities(matching: search, tag: tag)
        guard let first = found.first else {
            throw KeychainError(
                .itemNotFound, "No private key with such a certificate. To see all: keychainctl identity list")
        }
        let isOne = found.allSatisfy {
            $0.certificate.isCopy(of: first.certificate)
                && $0.key.accessGroup.utf8.elementsEqual(first.key.accessGroup.utf8)
        }
        guard isOne else { throw .several(found.count, "identities", "--tag, ") }
        return first
    }
}

/// Which identity a command is about.
struct IdentityOptions: ParsableArguments {
    @OptionGroup var certificate: CertificateOptions

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The tag of the private key.", valueName: "name"),
        completion: .custom { words, _, _ in ItemCompletion.tags(words) })
    var tag: String?

    func validate() throws {
        guard tag?.isEmpty != true else { throw ValidationError("--tag takes a name, not an empty text.") }
        guard !certificate.isEmpty || tag != nil else {
            throw ValidationError("Name the identity with --fingerprint, --name or --tag.")
        }
    }

    func identity(in store: KeyStore) throws(KeychainError) -> KeychainIdentity {
        try certificate.identity(in: store, tag: tag)
    }
}

/// What the lists of certificates and of identities show.
struct CertificateListOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Only the items of this access group.", valueName: "name"),
        transform: AccessGroupName.checked)
    var accessGroup: String?

    @Flag(help: "Print JSON, for programs.")
    var json = false

    @Flag(help: "Print whole names on a terminal too.")
    var wide = false

    func store(in keychain: UserKeychain) -> KeyStore {
        // Lists have both kinds.
        keychain.keys(accessGroup: accessGroup, synchronizable: false)
    }

    func write(_ table: CertificateListing, _ objects: some Encodable) throws(KeychainError) {
        try Output.write(json ? JSONOutput.line(objects) : table.text(within: wide ? nil : Output.columns))
    }
}

extension KeychainError {
    fileprivate static func several(_ count: Int, _ what: String, _ tag: String) -> KeychainError {
        KeychainError(
            .duplicateItem,
            "\(count) \(what) match, but exactly one must; nothing was done. Add --fingerprint with more digits, \(tag)or "
                + "--access-group.")
    }
}
