// SPDX-License-Identifier: Apache-2.0
// X25519 recipients and identities of age: `age1…` and `AGE-SECRET-KEY-1…`.

import Crypto
import Foundation
import KeychainKit
import SecretMemory

/// A public key that a file is encrypted to.
struct AgeRecipient {
    private static let prefix = "age"
    let key: Curve25519.KeyAgreement.PublicKey

    /// - Returns: `nil` if it is not an X25519 recipient.
    init?(_ text: some Collection<UInt8>) {
        guard let bytes = Bech32.decode(text, prefix: Self.prefix), bytes.count == 32 else { return nil }
        do { key = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: bytes) } catch { return nil }
    }

    /// - Throws: `invalidParameter` for a key with which everybody shares the same secret.
    func wrap(_ fileKey: SymmetricKey) throws(KeychainError) -> AgeStanza {
        let own = Curve25519.KeyAgreement.PrivateKey()
        let share = own.publicKey.rawRepresentation
        guard let wrapping = AgeWrapping.key(own, key, share: share, recipient: key.rawRepresentation) else {
            throw KeychainError(.invalidParameter, "One of the recipients is not a usable key. Nothing was written.")
        }
        let body = try AgeWrapping.wrap(fileKey, with: wrapping)
        return AgeStanza(arguments: [AgeWrapping.x25519, share.unpaddedBase64], body: body)
    }
}

/// A private key that opens files encrypted to its recipient.
struct AgeIdentity {
    private static let prefix = "age-secret-key-"
    private let key: Curve25519.KeyAgreement.PrivateKey

    /// - Returns: `nil` if it is not an X25519 identity.
    init?(_ text: some Collection<UInt8>) {
        guard var bytes = Bech32.decode(text, prefix: Self.prefix), bytes.count == 32 else { return nil }
        defer { bytes.wipe() }
        do { key = try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: bytes) } catch { return nil }
    }

    /// - Returns: `nil` if the stanza is for another recipient.
    func unwrap(_ stanza: AgeStanza) -> SymmetricKey? {
        guard stanza.arguments.count == 2, stanza.arguments[0] == AgeWrapping.x25519,
            let share = Data(unpaddedBase64: stanza.arguments[1]), share.count == 32,
            let other = Self.publicKey(share),
            let wrapping = AgeWrapping.key(
                key, other, share: share, recipient: key.publicKey.rawRepresentation)
        else { return nil }
        return AgeWrapping.unwrap(stanza.body, with: wrapping)
    }

    private static func publicKey(_ bytes: Data) -> Curve25519.KeyAgreement.PublicKey? {
        do { return try Curve25519.KeyAgreement.PublicKey(rawRepresentation: bytes) } catch { return nil }
    }
}

/// The encryption of the file key, which is the same for all kinds of stanzas.
enum AgeWrapping {
    static let x25519 = "X25519"
    static let fileKeyLength = 16

    static func newFileKey() -> SymmetricKey { SymmetricKey(size: SymmetricKeySize(bitCount: 8 * fileKeyLength)) }

    /// Each wrapping key is used once.
    private static let nonce = Data(count: 12)

    static func wrap(_ fileKey: SymmetricKey, with key: SymmetricKey) throws(KeychainError) -> Data {
        do {
            let box = try fileKey.withUnsafeBytes {
                try ChaChaPoly.seal($0, using: key, nonce: ChaChaPoly.Nonce(data: nonce))
            }
            return box.ciphertext + box.tag
        } catch {
            throw KeychainError(.inputOutput, "The file key could not be encrypted. Nothing was written.")
        }
    }

    /// - Returns: `nil` if it does not open.
    static func unwrap(_ body: Data, with key: SymmetricKey) -> SymmetricKey? {
        guard body.count == fileKeyLength + 16 else { return nil }
        do {
            let box = try ChaChaPoly.SealedBox(
                nonce: ChaChaPoly.Nonce(data: nonce), ciphertext: body.prefix(fileKeyLength), tag: body.suffix(16))
            var opened = try ChaChaPoly.open(box, using: key)
            defer { opened.wipe() }
            return SymmetricKey(data: opened)
        } catch {
            return nil
        }
    }

    /// - Returns: `nil` if the shared secret is zero.
    static func key(
        _ own: Curve25519.KeyAgreement.PrivateKey, _ other: Curve25519.KeyAgreement.PublicKey, share: Data,
        recipient: Data
    ) -> SymmetricKey? {
        do {
            let shared = try own.sharedSecretFromKeyAgreement(with: other)
            return shared.hkdfDerivedSymmetricKey(
                using: SHA256.self, salt: share + recipient, sharedInfo: Data("age-encryption.org/v1/X25519".utf8),
                outputByteCount: 32)
        } catch {
            return nil
        }
    }
}
