// SPDX-License-Identifier: Apache-2.0
// Certificates and identities, without blocking a thread.

public import Foundation
public import KeychainKit

extension KeyStore {
    /// Saves a certificate. It is no error if it is stored already.
    public nonisolated(nonsending) func save(
        _ certificate: KeychainCertificate, label: String? = nil
    ) async throws(KeychainError) {
        try await call { (requests) throws(KeychainError) in try requests.save(certificate.content, label) }
    }

    /// The certificates that match. The user is not asked.
    public nonisolated(nonsending) func certificates(
        matching search: CertificateSearch = CertificateSearch()
    ) async throws(KeychainError) -> [StoredCertificate] {
        try await call { (requests) throws(KeychainError) in try requests.certificates(matching: search) }
    }

    /// Removes a certificate. A private key of it stays. Returns whether it was there.
    @discardableResult
    public nonisolated(nonsending) func remove(
        _ certificate: KeychainCertificate
    ) async throws(KeychainError) -> Bool {
        try await call { (requests) throws(KeychainError) in try requests.remove(certificate.content) }
    }

    // MARK: - Identities

    /// Saves a private key and its certificate in one transaction.
    public nonisolated(nonsending) func save<Key: StorableKey>(
        _ key: Key, certificate: KeychainCertificate, chain: [KeychainCertificate] = [], tag: String,
        label: String? = nil
    ) async throws(KeychainError) {
        let form = try KeyForm(Key.keyType, key.storedBytes)
        try await call { (requests) throws(KeychainError) in
            try requests.save(form, certificate.content, chain.map(\.content), tag, label)
        }
    }

    /// The private keys that have a certificate, with those of which the certificate matches. The user is not asked.
    public nonisolated(nonsending) func identities(
        matching search: CertificateSearch = CertificateSearch(), tag: String? = nil
    ) async throws(KeychainError) -> [KeychainIdentity] {
        try await call { (requests) throws(KeychainError) in try requests.identities(matching: search, tag) }
    }

    /// Reads the private key of an identity. `nil` if it was removed, or replaced by another, since it was listed.
    public nonisolated(nonsending) func read<Key: StorableKey>(
        _ type: Key.Type = Key.self, of identity: KeychainIdentity
    ) async throws(KeychainError) -> Key? {
        let wanted = Key.keyType
        let bytes = try await call { (requests) throws(KeychainError) in try requests.read(wanted, of: identity) }
        return try bytes.map { (bytes) throws(KeychainError) in try .stored(bytes) }
    }

    /// Removes a certificate and its private key, unless the store has another certificate of the key. Returns whether the
    /// certificate was there.
    @discardableResult
    public nonisolated(nonsending) func remove(_ identity: KeychainIdentity) async throws(KeychainError) -> Bool {
        try await call { (requests) throws(KeychainError) in try requests.remove(identity) != .nothing }
    }

    // MARK: - Files

    /// Stores all private keys and certificates of a file in one transaction: all of them or none.
    @discardableResult
    public nonisolated(nonsending) func importItems(
        _ content: SecretValue, passphrase: SecretValue? = nil, tag: String? = nil, label: String? = nil
    ) async throws(KeychainError) -> ImportedItems {
        try await call { (requests) throws(KeychainError) in
            try requests.importAll(Self.content(content, passphrase), tag, label)
        }
    }

    /// A PKCS#12 file of an identity and its chain. `nil` if the key was removed, or replaced by another.
    public nonisolated(nonsending) func exportPKCS12(
        _ identity: KeychainIdentity, passphrase: SecretValue
    ) async throws(KeychainError) -> Data? {
        try await call { (requests) throws(KeychainError) in try Self.file(requests, identity, passphrase) }
    }
}
