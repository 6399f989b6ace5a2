// SPDX-License-Identifier: Apache-2.0
// seal and open for a public key: a writer needs no secret, a reader must have proven the passphrase.

import Crypto
public import Foundation
public import SecretMemory

/// The user key, an X25519 key pair, and HPKE to it (RFC 9180, base mode: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256,
/// AES-256-GCM).
///
/// ```swift
/// let sealed = try UserKey.seal(oneTimeKey, to: UserKey.publicKey(of: userKey), context: place.bytes)
/// let oneTimeKey = try UserKey.open(sealed, with: userKey, context: place.bytes)
/// ```
///
/// Does not identify the sealer: anyone with the public key can seal.
public enum UserKey {
    public static let publicKeyLength = 32
    /// The length of a sealed 256-bit key: encapsulated key ‖ ciphertext ‖ tag.
    public static let sealedKeyLength = publicKeyLength + 32 + 16

    /// A new private key. Any 32 bytes are one (RFC 7748, section 5).
    public static func make() -> SecretBytes { .random(count: 32) }

    public static func publicKey(of key: SecretBytes) throws(CipherFailure) -> Data {
        defer { scrubResidue() }
        return try privateKey(key).publicKey.rawRepresentation
    }

    /// Seals a 256-bit key.
    ///
    /// - Parameters:
    ///   - publicKey: Rejected if everyone could open the result, as with all zeros.
    ///   - context: The associated data; the same is needed to open the result.
    public static func seal(_ secret: SecretBytes, to publicKey: Data, context: [UInt8]) throws(CipherFailure) -> Data {
        guard secret.count == 32 else { throw CipherFailure() }
        defer { scrubResidue() }
        do {
            let recipient = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: publicKey)
            _ = try sharedSecret(of: Curve25519.KeyAgreement.PrivateKey(), with: recipient)
            var sender = try HPKE.Sender(recipientKey: recipient, ciphersuite: suite, info: info)
            let sealed = try secret.withUnsafeBytes { try sender.seal($0, authenticating: context) }
            return sender.encapsulatedKey + sealed
        } catch {
            throw CipherFailure()
        }
    }

    public static func open(_ sealed: Data, with key: SecretBytes, context: [UInt8]) throws(CipherFailure)
        -> SecretBytes
    {
        guard sealed.count == sealedKeyLength else { throw CipherFailure() }
        let (encapsulated, ciphertext) = (Data(sealed.prefix(32)), Data(sealed.dropFirst(32)))
        return try open(ciphertext, encapsulatedBy: encapsulated, with: key, info: info, context: context)
    }

    /// Plain HPKE. Everything that is opened is opened here.
    static func open(
        _ ciphertext: Data, encapsulatedBy encapsulated: Data, with key: SecretBytes, info: Data, context: [UInt8]
    ) throws(CipherFailure) -> SecretBytes {
        // The library leaves the shared secret in freed blocks, and the private key on the stack.
        defer { scrubResidue() }
        do {
            let key = try privateKey(key)
            _ = try sharedSecret(of: key, with: Curve25519.KeyAgreement.PublicKey(rawRepresentation: encapsulated))
            var recipient = try HPKE.Recipient(
                privateKey: key, ciphersuite: suite, info: info, encapsulatedKey: encapsulated)
            var opened = try recipient.open(ciphertext, authenticating: context)
            defer { opened.wipe() }
            return opened.withUnsafeBytes { SecretBytes(copying: $0) }
        } catch {
            throw CipherFailure()
        }
    }

    private static let suite = HPKE.Ciphersuite(kem: .Curve25519_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_256)
    private static let info = Data("swift-keychain/1 user key seal\0".utf8)

    private static func privateKey(_ key: SecretBytes) throws(CipherFailure) -> Curve25519.KeyAgreement.PrivateKey {
        do {
            return try key.withUnsafeBytes { try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: $0) }
        } catch {
            throw CipherFailure()
        }
    }

    /// X25519 of two keys; fails if the point is of small order.
    static func sharedSecret(of key: SecretBytes, with publicKey: Data) throws(CipherFailure) -> SecretBytes {
        do {
            let point = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: publicKey)
            return try sharedSecret(of: privateKey(key), with: point)
                .withUnsafeBytes { SecretBytes(copying: $0) }
        } catch {
            throw CipherFailure()
        }
    }

    /// A point of small order makes every shared secret zero, so that no private key is needed to open. RFC 9180
    /// (7.1.4) requires this check; the library does not make it.
    private static func sharedSecret(
        of key: Curve25519.KeyAgreement.PrivateKey, with point: Curve25519.KeyAgreement.PublicKey
    ) throws -> SharedSecret {
        let shared = try key.sharedSecretFromKeyAgreement(with: point)
        guard shared.withUnsafeBytes({ $0.reduce(0, |) }) != 0 else { throw CipherFailure() }
        return shared
    }
}
