// SPDX-License-Identifier: Apache-2.0
// seal and open for a public key that resists quantum computers.

import Crypto
public import Foundation
public import SecretMemory

/// An X-Wing key pair (ML-KEM-768 with X25519), and HPKE to it (RFC 9180, base mode: X-Wing, HKDF-SHA256, AES-256-GCM). The
/// private key is its seed of 32 bytes.
///
/// Does not identify the sealer: anyone with the public key can seal. Sign what is sealed.
public enum HybridKey {
    public static let publicKeyLength = 1216
    public static let encapsulatedKeyLength = 1120

    /// The length of the result of sealing this many bytes: encapsulated key ‖ ciphertext ‖ tag.
    public static func sealedLength(_ count: Int) -> Int { encapsulatedKeyLength + count + 16 }

    /// A new seed. Any 32 bytes are one.
    public static func make() -> SecretBytes { .random(count: 32) }

    public static func publicKey(of seed: SecretBytes) throws(CipherFailure) -> Data {
        defer { scrubResidue() }
        return try privateKey(seed).publicKey.rawRepresentation
    }

    /// - Parameter context: The associated data; the same is needed to open the result.
    public static func seal(_ secret: SecretBytes, to publicKey: Data, context: [UInt8]) throws(CipherFailure) -> Data {
        defer { scrubResidue() }
        do {
            let recipient = try XWingMLKEM768X25519.PublicKey(rawRepresentation: publicKey)
            var sender = try HPKE.Sender(recipientKey: recipient, ciphersuite: suite, info: info)
            let sealed = try secret.withUnsafeBytes { try sender.seal($0, authenticating: context) }
            return sender.encapsulatedKey + sealed
        } catch {
            throw CipherFailure()
        }
    }

    public static func open(_ sealed: Data, with seed: SecretBytes, context: [UInt8]) throws(CipherFailure)
        -> SecretBytes
    {
        guard sealed.count > sealedLength(0) else { throw CipherFailure() }
        let encapsulated = Data(sealed.prefix(encapsulatedKeyLength))
        let ciphertext = Data(sealed.dropFirst(encapsulatedKeyLength))
        defer { scrubResidue() }
        do {
            var recipient = try HPKE.Recipient(
                privateKey: privateKey(seed), ciphersuite: suite, info: info, encapsulatedKey: encapsulated)
            var opened = try recipient.open(ciphertext, authenticating: context)
            defer { opened.wipe() }
            return opened.withUnsafeBytes { SecretBytes(copying: $0) }
        } catch {
            throw CipherFailure()
        }
    }

    private static let suite = HPKE.Ciphersuite.XWingMLKEM768X25519_SHA256_AES_GCM_256
    private static let info = Data("swift-keychain/1 hybrid key seal\0".utf8)

    private static func privateKey(_ seed: SecretBytes) throws(CipherFailure) -> XWingMLKEM768X25519.PrivateKey {
        do {
            var bytes = seed.withUnsafeBytes { Data($0) }
            defer { bytes.wipe() }
            return try XWingMLKEM768X25519.PrivateKey(seedRepresentation: bytes, publicKey: nil)
        } catch {
            throw CipherFailure()
        }
    }
}
