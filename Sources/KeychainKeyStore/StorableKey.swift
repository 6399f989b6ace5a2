// SPDX-License-Identifier: Apache-2.0
// What can be stored as a key.

public import SecretMemory

/// A private key that a ``KeyStore`` saves and reads. The private keys of swift-crypto conform: P-256, P-384, P-521 and
/// Curve25519 for signatures and for agreement, RSA for signatures and for encryption, ML-KEM, ML-DSA and X-Wing.
///
/// A type of your own conforms if its bytes are those of one of the types:
///
/// ```swift
/// struct SigningKey: StorableKey {
///     static let keyType = KeyType.ed25519
///     let storedBytes: SecretBytes
/// }
/// ```
///
/// | Type | Bytes |
/// |---|---|
/// | P-256, P-384, P-521 | 04 ‖ X ‖ Y ‖ K (ANSI X9.63) |
/// | Ed25519, X25519 | the 32 bytes of the key |
/// | RSA | an RSAPrivateKey of PKCS#1 in DER |
/// | ML-KEM, ML-DSA, X-Wing | the seed |
///
/// The bytes do not say whether a key is for signatures or for agreement: a key that was saved as
/// `P256.Signing.PrivateKey` can be read as `P256.KeyAgreement.PrivateKey`.
public protocol StorableKey {
    /// The type that its items have.
    static var keyType: KeyType { get }

    /// - Parameter storedBytes: Bytes of the type that are known to be a valid key.
    init(storedBytes: SecretBytes) throws

    /// The private key in the format of the type.
    var storedBytes: SecretBytes { get }
}
