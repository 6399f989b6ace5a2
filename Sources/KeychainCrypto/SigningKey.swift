// SPDX-License-Identifier: Apache-2.0
// sign and verify: the author of data that another machine reads.

import Crypto
public import Foundation
public import SecretMemory

/// An Ed25519 key pair (RFC 8032). The private key is its seed of 32 bytes.
public enum SigningKey {
    public static let publicKeyLength = 32
    public static let signatureLength = 64

    /// A new seed. Any 32 bytes are one.
    public static func make() -> SecretBytes { .random(count: 32) }

    public static func publicKey(of seed: SecretBytes) throws(CipherFailure) -> Data {
        defer { scrubResidue() }
        return try privateKey(seed).publicKey.rawRepresentation
    }

    public static func signature(of message: [UInt8], with seed: SecretBytes) throws(CipherFailure) -> Data {
        // The library expands the seed on the stack and in blocks that it gives back as they are.
        defer { scrubResidue() }
        do {
            return try privateKey(seed).signature(for: message)
        } catch {
            throw CipherFailure()
        }
    }

    /// Whether the owner of the key signed the message. The result is `false` for an invalid key.
    public static func isValid(_ signature: Data, of message: [UInt8], by publicKey: Data) -> Bool {
        guard signature.count == signatureLength, publicKey.count == publicKeyLength,
            let key = try? Curve25519.Signing.PublicKey(rawRepresentation: publicKey)
        else { return false }
        return key.isValidSignature(signature, for: message)
    }

    private static func privateKey(_ seed: SecretBytes) throws(CipherFailure) -> Curve25519.Signing.PrivateKey {
        do {
            return try seed.withUnsafeBytes { try Curve25519.Signing.PrivateKey(rawRepresentation: $0) }
        } catch {
            throw CipherFailure()
        }
    }
}
