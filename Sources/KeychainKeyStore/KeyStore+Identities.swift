// SPDX-License-Identifier: Apache-2.0
// Saving, finding, reading and removing identities, and the files that they come in, on the caller's thread.

public import Foundation
package import KeychainKeys
public import KeychainKit
import SecretMemory

extension KeyStore {
    /// Saves a private key and its certificate in one transaction.
    ///
    /// ```swift
    /// try keys.save(key, certificate: certificate, chain: [authority], tag: "com.example.client")
    /// ```
    ///
    /// The key is saved as by `save(_:tag:)`: it replaces another key of the tag, whose certificate stays. Certificates
    /// that are there already stay as they are.
    ///
    /// - Parameters:
    ///   - chain: The issuers of the certificate, so that they are found with it.
    ///   - label: A name for people, for the key and its certificate.
    /// - Throws: `invalidParameter` if the certificate is that of another key; otherwise the errors of `save` for keys and
    ///   for certificates. Then nothing was stored.
    public func save<Key: StorableKey>(
        _ key: Key, certificate: KeychainCertificate, chain: [KeychainCertificate] = [], tag: String,
        label: String? = nil
    ) throws(KeychainError) {
        let form = try KeyForm(Key.keyType, key.storedBytes)
        try call { (requests) throws(KeychainError) in
            try requests.save(form, certificate.content, chain.map(\.content), tag, label)
        }
    }

    /// The private keys that have a certificate, with those of which the certificate matches. The newest certificate is
    /// first. The user is not asked, and no private bytes are read.
    ///
    /// ```swift
    /// let usable = CertificateSearch(usage: .clientAuthentication, validAt: Date())
    /// let identity = try keys.identities(matching: usable).first
    /// ```
    ///
    /// Nobody has to join them: a certificate that any program has saved belongs to the key that it is for.
    ///
    /// - Parameter tag: Only the key of this tag.
    /// - Throws: `invalidParameter` for an empty tag; the errors of `keys` and `certificates`.
    public func identities(
        matching search: CertificateSearch = CertificateSearch(), tag: String? = nil
    ) throws(KeychainError) -> [KeychainIdentity] {
        try call { (requests) throws(KeychainError) in try requests.identities(matching: search, tag) }
    }

    /// Reads the private key of an identity. `nil` if it was removed, or replaced by another, since it was listed.
    ///
    /// ```swift
    /// let key = try keys.read(P256.Signing.PrivateKey.self, of: identity)
    /// ```
    ///
    /// - Throws: `typeMismatch` if the key is of another type; otherwise the errors of `read(_:tag:)`.
    public func read<Key: StorableKey>(
        _ type: Key.Type = Key.self, of identity: KeychainIdentity
    ) throws(KeychainError) -> Key? {
        let wanted = Key.keyType
        let bytes = try call { (requests) throws(KeychainError) in try requests.read(wanted, of: identity) }
        return try bytes.map { (bytes) throws(KeychainError) in try .stored(bytes) }
    }

    /// Removes a certificate and its private key, in one transaction. The key stays if there is another certificate of it,
    /// in whatever access group. Otherwise it goes from its group under all its tags, with its public half; certificates
    /// of issuers stay.
    ///
    /// - Returns: Whether the certificate was there. If not, nothing is removed.
    /// - Throws: `corrupt` if another certificate of the key cannot be opened; then nothing is removed.
    @discardableResult
    public func remove(_ identity: KeychainIdentity) throws(KeychainError) -> Bool {
        try removed(identity) != .nothing
    }

    // MARK: - Files

    /// Stores all private keys and certificates of a file in one transaction: all of them or none.
    ///
    /// ```swift
    /// let imported = try keys.importItems(SecretValue(file), passphrase: passphrase, tag: "com.example.client")
    /// let identity = imported.identities.first
    /// ```
    ///
    /// The format is detected: PEM (certificates, and keys in PKCS#8, PKCS#1, SEC 1 and OpenSSH), PKCS#12, or one key or
    /// certificate in DER. Keys and certificates that are stored already are no error, and stay as they are.
    ///
    /// - Parameters:
    ///   - content: The bytes of the file, at most 16 MiB.
    ///   - passphrase: Only used for an encrypted file.
    ///   - tag: The tag of the private key, if the file has one. `nil`: a key that is added has no tag, and is found by its
    ///     certificate.
    ///   - label: A name for people, for the new items of the key and its certificate. `nil`: that of the file.
    /// - Throws: `authenticationFailed` if the passphrase is wrong or missing; `undecodableInput` for another format or a
    ///   damaged file; `unsupported` for algorithms and sizes that are not supported, and for public keys alone;
    ///   `tooLarge`; `invalidParameter` for a tag or a label that several would get; `duplicateItem` if another key has
    ///   the tag, or another certificate the name of one; and the errors of `save`. Then nothing was stored.
    @discardableResult
    public func importItems(
        _ content: SecretValue, passphrase: SecretValue? = nil, tag: String? = nil, label: String? = nil
    ) throws(KeychainError) -> ImportedItems {
        try call { (requests) throws(KeychainError) in
            try requests.importAll(Self.content(content, passphrase), tag, label)
        }
    }

    /// A PKCS#12 file of an identity and its chain, which OpenSSL, browsers and other systems read: PBES2 with AES-256,
    /// 600 000 rounds of PBKDF2-HMAC-SHA256.
    ///
    /// ```swift
    /// let file = try keys.exportPKCS12(identity, passphrase: passphrase)
    /// ```
    ///
    /// - Returns: `nil` if the key was removed, or replaced by another, since it was listed.
    /// - Throws: `invalidParameter` for an empty passphrase; `unsupported` if the key was imported so that it is not
    ///   exported; otherwise the errors of `read`.
    public func exportPKCS12(
        _ identity: KeychainIdentity, passphrase: SecretValue
    ) throws(KeychainError) -> Data? {
        try call { (requests) throws(KeychainError) in try Self.file(requests, identity, passphrase) }
    }

    static func content(
        _ content: SecretValue, _ passphrase: SecretValue?
    ) throws(KeychainError) -> KeyFileContent {
        do throws(KeyFailure) {
            return try KeyFileContent(content.secretBytes, passphrase: passphrase?.secretBytes)
        } catch {
            throw error.inKeychainWords("The file", expected: "file of keys or certificates")
        }
    }

    static func file(
        _ requests: KeyRequests, _ identity: KeychainIdentity, _ passphrase: SecretValue
    ) throws(KeychainError) -> Data? {
        guard passphrase.count > 0 else { throw .emptyPassphrase }
        guard let exported = try requests.exported(identity) else { return nil }
        do throws(KeyFailure) {
            return try exported.file(passphrase: passphrase.secretBytes)
        } catch {
            throw error.inKeychainWords("The identity")
        }
    }

    // MARK: - For the tool

    /// What the tool has read of a file.
    ///
    /// - Throws: Also `duplicateItem` if a key that is there, or its certificate, has another label or accessibility than
    ///   asked for. In a file without keys, this is true of all certificates.
    package func importExactly(
        _ content: KeyFileContent, tag: String?, label: String?
    ) throws(KeychainError) -> ImportedItems {
        try call { (requests) throws(KeychainError) in try requests.importAll(content, tag, label, isExact: true) }
    }

    /// As `remove`.
    package func removed(_ identity: KeychainIdentity) throws(KeychainError) -> IdentityRemoval {
        try call { (requests) throws(KeychainError) in try requests.remove(identity) }
    }

    /// The content of the file of `exportPKCS12`.
    package func exported(_ identity: KeychainIdentity) throws(KeychainError) -> PKCS12.Identity? {
        try call { (requests) throws(KeychainError) in try requests.exported(identity) }
    }
}

extension SecretValue {
    fileprivate var secretBytes: SecretBytes { withUnsafeBytes { SecretBytes(copying: $0) } }
}
