// SPDX-License-Identifier: Apache-2.0
// Making keys in place, in hardware or in the keychain, and agreeing on secrets with them.

public import Crypto
import KeychainKeys
public import KeychainKit

extension KeyStore {
    /// Makes a key under a tag that has none, without the caller ever seeing its private bytes.
    ///
    /// ```swift
    /// try KeyTokens.use(token)
    /// let key = try keys.create(.p256, tag: "com.example.device", protection: .hardwareIfAvailable)
    /// if key.isHardwareBound { print("nothing can copy this key") }
    /// let signature = try keys.signer(tag: "com.example.device")?.sign(message, using: .es256)
    /// ```
    ///
    /// A key in hardware signs, and agrees on secrets, through the hardware. No call gives its bytes, and no export or
    /// synchronization has them: the keychain stores a form that only this hardware can use, in a class that is bound to this
    /// device. Where its ``accessControl`` requires the user, each use asks. Its protection cannot be changed later. The same is true
    /// of a key that is ``KeyProtection/notExportable``, but the vault alone keeps it.
    ///
    /// - Parameters:
    ///   - type: In hardware, and if it is not exportable, ``KeyType/p256``; otherwise all but ML-KEM, ML-DSA and X-Wing. RSA keys have 3072 bits.
    ///   - label: A name for people.
    /// - Returns: The stored key; ``StoredKey/isHardwareBound`` says where it is.
    /// - Throws: `duplicateItem` if there is a key of the tag, which stays as it is; `unsupported` if the process uses no
    ///   hardware (`KeyTokens`), or that holds no keys of the type; `unavailable` if the hardware does not answer;
    ///   `invalidParameter` for a synchronizable key in hardware; otherwise the errors of `save`. Then nothing was stored.
    @discardableResult
    public func create(
        _ type: KeyType, tag: String, label: String? = nil, protection: KeyProtection
    ) throws(KeychainError) -> StoredKey {
        try call { (requests) throws(KeychainError) in try requests.create(type, tag, label, protection) }
    }

    /// Makes a key under a tag that has none, without the caller ever seeing its private bytes.
    @discardableResult
    public nonisolated(nonsending) func create(
        _ type: KeyType, tag: String, label: String? = nil, protection: KeyProtection
    ) async throws(KeychainError) -> StoredKey {
        try await call { (requests) throws(KeychainError) in try requests.create(type, tag, label, protection) }
    }

    /// The secret that the P-256 key of a tag shares with another key: the x coordinate of the common point, 32 bytes.
    /// `nil` only if the keychain could be read and there is no key.
    ///
    /// ```swift
    /// let secret = try keys.sharedSecret(tag: "com.example.device", with: peer)
    /// ```
    ///
    /// It works for keys in hardware too. Derive a key from it before it is used, for example with HKDF.
    ///
    /// - Throws: `typeMismatch` for a key of another type; otherwise the errors of `read` and of the hardware.
    public func sharedSecret(
        tag: String, with publicKey: P256.KeyAgreement.PublicKey
    ) throws(KeychainError) -> SecretValue? {
        let point = publicKey.x963Representation
        let secret = try call { (requests) throws(KeychainError) in try requests.sharedSecret(tag, point) }
        return secret.map { SecretValue($0) }
    }

    /// The secret that the P-256 key of a tag shares with another key. `nil` only if the keychain could be read and there is
    /// no key.
    public nonisolated(nonsending) func sharedSecret(
        tag: String, with publicKey: P256.KeyAgreement.PublicKey
    ) async throws(KeychainError) -> SecretValue? {
        let point = publicKey.x963Representation
        let secret = try await call { (requests) throws(KeychainError) in try requests.sharedSecret(tag, point) }
        return secret.map { SecretValue($0) }
    }
}
