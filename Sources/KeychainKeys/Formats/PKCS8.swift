// SPDX-License-Identifier: Apache-2.0
// Private keys in PKCS#8 (RFC 5958), in the clear and encrypted with a passphrase.

public import Foundation
public import SecretMemory

extension PrivateKey {
    /// A PrivateKeyInfo or OneAsymmetricKey.
    public init(pkcs8 bytes: SecretBytes) throws(KeyFailure) {
        try self.init(pkcs8: SecretSlice(bytes))
    }

    init(pkcs8 bytes: SecretSlice) throws(KeyFailure) {
        var reader = try DERReader.only(DERTag.sequence, in: bytes, "PKCS#8")
        guard try reader.smallInteger() <= 1 else { throw .malformed(reader.format) }
        let kind = try KeyKind.algorithm(&reader)
        let key = try reader.content(DERTag.octetString)
        // Attributes are ignored.
        _ = try reader.contentIfPresent(DERTag.context(0))
        let publicKey = try reader.bitStringIfPresent(DERTag.contextPrimitive(1))
        try reader.finish()
        try self.init(kind, inPKCS8: key)
        if let publicKey { try self.publicKey.check(beside: publicKey) }
    }

    private init(_ kind: KeyKind, inPKCS8 key: SecretSlice) throws(KeyFailure) {
        switch kind {
        case .rsa: try self.init(pkcs1: key.copy)
        case .p256, .p384, .p521: try self.init(sec1: key, curve: kind)
        case .ed25519, .x25519:
            var inner = DERReader(key, "PKCS#8")
            let bytes = try inner.content(DERTag.octetString)
            try inner.finish()
            try self.init(kind, externalRepresentation: bytes.copy)
        }
    }

    public func pkcs8() throws(KeyFailure) -> SecretBytes {
        let key: DERNode =
            switch kind {
            case .rsa: .secret(externalRepresentation)
            case .p256, .p384, .p521: try sec1(namingCurve: false)
            case .ed25519, .x25519: .octets(.secret(externalRepresentation))
            }
        return DERNode.sequence(.integer(0), kind.algorithm, .octets(key)).encodedSecret
    }
}

extension PrivateKey {
    /// The number of PBKDF2 rounds in new files.
    public static let defaultRounds = 600_000

    /// An EncryptedPrivateKeyInfo.
    ///
    /// - Parameter passphrase: UTF-8.
    /// - Throws: `KeyFailure.wrongPassphrase`, also if the ciphertext is damaged, because the format has no checksum.
    public init(encryptedPKCS8 bytes: Data, passphrase: SecretBytes) throws(KeyFailure) {
        try self.init(encryptedPKCS8: [UInt8](bytes)[...], PKCS12Passphrase(passphrase))
    }

    init(encryptedPKCS8 bytes: some ByteSlice, _ passphrase: PKCS12Passphrase) throws(KeyFailure) {
        var reader = try DERReader.only(DERTag.sequence, in: bytes, "encrypted PKCS#8")
        let scheme = try PasswordEncryption(&reader)
        let ciphertext = try reader.content(DERTag.octetString)
        try reader.finish()
        let plaintext = try scheme.decrypt(ciphertext, passphrase)
        do {
            try self.init(pkcs8: plaintext)
        } catch .malformed("PKCS#8") {
            // With one wrong passphrase in 256, the result seems to be padded correctly.
            throw .wrongPassphrase
        }
    }

    /// Encrypts the key: PBES2 with PBKDF2-HMAC-SHA256 and AES-256-CBC.
    public func encryptedPKCS8(
        passphrase: SecretBytes, rounds: Int = PrivateKey.defaultRounds
    ) throws(KeyFailure) -> Data {
        guard DerivationLimits.rounds.contains(rounds) else { throw .limitExceeded("rounds of the key derivation") }
        let scheme = PasswordEncryption.new(rounds: rounds)
        let ciphertext = try scheme.encrypt(pkcs8(), passphrase)
        return Data(DERNode.sequence(scheme.encoded, .octets(.bytes(ciphertext))).encoded)
    }
}
