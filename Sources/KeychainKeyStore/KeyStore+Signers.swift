// SPDX-License-Identifier: Apache-2.0
// Signers for stored keys, and what they ask of the store.

import Foundation
import KeychainEngine
import KeychainKeys
public import KeychainKit
import SecretMemory

extension KeyStore {
    /// A signer for the key of a tag. `nil` only if the keychain could be read and there is no key.
    ///
    /// ```swift
    /// let signer = try keys.signer(tag: "com.example.signing")
    /// let signature = try signer?.sign(message, using: .es256)
    /// ```
    ///
    /// The key is opened once, for its public half. So the user is asked if it requires authentication. Of a key in
    /// hardware the public half is known, and only signing asks.
    ///
    /// - Throws: `unsupported` for a key that does not sign, and for ML-DSA; otherwise the errors of `read(_:tag:)`.
    public func signer(tag: String) throws(KeychainError) -> KeychainSigner? {
        let found = try call { (requests) throws(KeychainError) in try requests.signingKey(tag) }
        return try found.map { (found) throws(KeychainError) in try KeychainSigner(self, found.key, found.publicHalf) }
    }

    /// A signer for the key of a tag. `nil` only if the keychain could be read and there is no key.
    public nonisolated(nonsending) func signer(tag: String) async throws(KeychainError) -> KeychainSigner? {
        let found = try await call { (requests) throws(KeychainError) in try requests.signingKey(tag) }
        return try found.map { (found) throws(KeychainError) in try KeychainSigner(self, found.key, found.publicHalf) }
    }

    /// A signer for the key of an identity. The keychain is not read: the certificate has the public half.
    ///
    /// ```swift
    /// let signer = try keys.signer(of: identity)
    /// ```
    ///
    /// - Parameter identity: One of this store.
    /// - Throws: `unsupported` for a key that does not sign.
    public func signer(of identity: KeychainIdentity) throws(KeychainError) -> KeychainSigner {
        guard let publicHalf = identity.certificate.certificate.content.publicKey else { throw .typeDoesNotSign }
        return try KeychainSigner(self, identity.key, publicHalf)
    }
}

extension KeyRequests {
    /// The key of a tag and its public half.
    func signingKey(_ tag: String) throws(KeychainError) -> (key: StoredKey, publicHalf: PublicKey)? {
        guard let found = try only(tag) else { return nil }
        guard !found.item.isOnToken else {
            let key = StoredKey(found, publicKey: nil)
            guard let publicHalf = key.publicKey else { throw .notAKey }
            return (key, publicHalf)
        }
        // Of the types that only programs read, the number is not one of `PrivateKey`.
        guard let type = found.item.keyNumbers?.type, KeyType(found.item)?.isOnlyForPrograms != true else {
            throw .typeDoesNotSign
        }
        guard let bytes = try bytes(found) else { return nil }
        do throws(KeyFailure) {
            let publicHalf = try PrivateKey(typeNumber: type, externalRepresentation: bytes).publicKey
            return (StoredKey(found, publicKey: publicHalf), publicHalf)
        } catch {
            throw .notAKey
        }
    }

    /// - Throws: `itemNotFound` if the item has another key by now, or is gone.
    func signature(
        of message: Data, _ algorithm: SigningAlgorithm, by signer: KeychainSigner
    ) throws(KeychainError) -> Data {
        defer { scrubResidue() }
        let half = signer.publicHalf
        guard !signer.key.isOnToken else {
            return try half.signature(of: message, algorithm.content) { () throws(KeychainError) in
                try open(signer.key, half)
            }
        }
        guard let (item, bytes) = try complete(query(signer.key.id)), item.keyLabel == half.applicationLabel else {
            throw .keyOfSignerIsGone
        }
        guard let key = try? PrivateKey(half.kind, externalRepresentation: bytes), key.publicKey == half else {
            throw .notAKey
        }
        do throws(KeyFailure) {
            return try key.loaded().sign(message, algorithm.content)
        } catch {
            throw error.inKeychainWords("The key")
        }
    }
}

extension KeyType {
    /// Whether the C API has no such keys.
    fileprivate var isOnlyForPrograms: Bool { kind == nil }
}

extension KeychainError {
    static let typeDoesNotSign = KeychainError(
        .unsupported, "A signer cannot use keys of this type. Read the key with its type in swift-crypto.")

    static let keyOfSignerIsGone = KeychainError(
        .itemNotFound,
        "The key was removed, or replaced by another, since the signer was made. Nothing was signed. Make a new signer."
    )

    static func doesNotSign(_ type: KeyType) -> KeychainError {
        KeychainError(.unsupported, "A key of type \(type) does not sign. Use a key of another type.")
    }

    static func doesNotSign(_ type: KeyType, with algorithm: SigningAlgorithm) -> KeychainError {
        KeychainError(
            .unsupported,
            "A key of type \(type) does not sign with \(algorithm). Use one of the signer's `algorithms`.")
    }
}
