// SPDX-License-Identifier: Apache-2.0
// Encryption with a passphrase, as PKCS#8 and PKCS#12 use it: PBES2 (RFC 8018), and the older schemes of PKCS#12.

import Crypto
import CryptoExtras
import Foundation
import SecretMemory
import SwiftASN1

/// An encryption scheme with its parameters.
enum PasswordEncryption {
    case pbes2(PBKDF2, BlockCipher, iv: [UInt8])
    case pkcs12(PKCS12Derivation, BlockCipher)

    /// A cipher in CBC mode. Only AES-256 is written.
    enum BlockCipher {
        case aes128
        case aes192
        case aes256
        case tripleDES
        case rc2of40Bits
        case rc2of128Bits

        var keyLength: Int {
            switch self {
            case .aes128, .rc2of128Bits: 16
            case .aes192, .tripleDES: 24
            case .aes256: 32
            case .rc2of40Bits: 5
            }
        }

        var blockLength: Int {
            switch self {
            case .aes128, .aes192, .aes256: 16
            case .tripleDES, .rc2of40Bits, .rc2of128Bits: 8
            }
        }
    }

    /// PBES2 with PBKDF2-HMAC-SHA256 and AES-256-CBC, as OpenSSL 3 writes it. It is the only PBES2 scheme that Apple
    /// reads.
    static func new(rounds: Int) -> PasswordEncryption {
        .pbes2(PBKDF2(rounds: rounds), .aes256, iv: .random(count: 16))
    }

    /// The number of rounds for one key.
    var rounds: Int {
        switch self {
        case .pbes2(let derivation, _, _): derivation.rounds
        case .pkcs12(let derivation, _): derivation.rounds
        }
    }

    /// Only for schemes that `new` creates.
    var encoded: DERNode {
        guard case .pbes2(let derivation, .aes256, let iv) = self else { preconditionFailure("a scheme to read only") }
        return .algorithm(.pbes2, .sequence(derivation.encoded, .algorithm(.aes256CBC, .octets(.bytes(iv)))))
    }
}

// MARK: - Reading parameters

extension PasswordEncryption {
    /// Reads an AlgorithmIdentifier.
    init<Bytes>(_ reader: inout DERReader<Bytes>) throws(KeyFailure) {
        let legacy: [ASN1ObjectIdentifier: BlockCipher] = [
            .pkcs12TripleDES: .tripleDES, .pkcs12RC2of40Bits: .rc2of40Bits, .pkcs12RC2of128Bits: .rc2of128Bits,
        ]
        var algorithm = try reader.within(DERTag.sequence)
        let name = try algorithm.objectIdentifier()
        guard name == .pbes2 || legacy[name] != nil else { throw .unsupportedAlgorithm("\(name)") }
        var parameters = try algorithm.within(DERTag.sequence)
        try algorithm.finish()
        if let cipher = legacy[name] {
            self = .pkcs12(try PKCS12Derivation(&parameters), cipher)
        } else {
            self = try Self.pbes2(&parameters)
        }
    }

    private static func pbes2<Bytes>(_ parameters: inout DERReader<Bytes>) throws(KeyFailure) -> PasswordEncryption {
        var derivation = try parameters.within(DERTag.sequence)
        let function = try derivation.objectIdentifier()
        guard function == .pbkdf2 else { throw .unsupportedAlgorithm("\(function)") }
        let pbkdf2 = try PBKDF2(&derivation)
        try derivation.finish()
        var encryption = try parameters.within(DERTag.sequence)
        let name = try encryption.objectIdentifier()
        let ciphers: [ASN1ObjectIdentifier: BlockCipher] = [
            .aes128CBC: .aes128, .aes192CBC: .aes192, .aes256CBC: .aes256, .tripleDESCBC: .tripleDES,
        ]
        guard let cipher = ciphers[name] else { throw .unsupportedAlgorithm("\(name)") }
        let iv = [UInt8](try encryption.content(DERTag.octetString))
        try encryption.finish()
        try parameters.finish()
        guard iv.count == cipher.blockLength else { throw .malformed("initialization vector") }
        return .pbes2(pbkdf2, cipher, iv: iv)
    }
}

extension PKCS12Derivation {
    /// Reads the parameters of the schemes of PKCS#12, which hash with SHA-1.
    fileprivate init<Bytes>(_ parameters: inout DERReader<Bytes>) throws(KeyFailure) {
        let salt = [UInt8](try parameters.content(DERTag.octetString))
        let rounds = try parameters.smallInteger()
        try parameters.finish()
        try DerivationLimits.check(rounds: rounds, salt: salt)
        self.init(hash: .sha1, salt: salt, rounds: rounds)
    }
}

// MARK: - Encrypting and decrypting

extension PasswordEncryption {
    func encrypt(_ plaintext: SecretBytes, _ passphrase: SecretBytes) throws(KeyFailure) -> [UInt8] {
        guard case .pbes2(let derivation, .aes256, let iv) = self else {
            throw .unsupportedAlgorithm("encryption with a legacy cipher")
        }
        defer { scrubResidue() }
        let key = try derivation.key(passphrase, length: BlockCipher.aes256.keyLength)
        var bytes = plaintext.withUnsafeBytes { [UInt8]($0) }
        defer { bytes.withUnsafeMutableBytes { wipeMemory($0) } }
        do {
            return [UInt8](try AES._CBC.encrypt(bytes, using: key, iv: AES._CBC.IV(ivBytes: iv)))
        } catch {
            throw .malformed("plaintext")
        }
    }

    /// - Throws: `KeyFailure.wrongPassphrase` if the padding is wrong. The padding is the only check here, so the
    ///   caller must check the decrypted content.
    func decrypt(_ ciphertext: some ByteSlice, _ passphrase: PKCS12Passphrase) throws(KeyFailure) -> SecretBytes {
        defer { scrubResidue() }
        switch self {
        case .pbes2(let derivation, let cipher, let iv):
            let key = try derivation.key(passphrase.utf8, length: cipher.keyLength)
            return try cipher.decrypt(ciphertext, key.withUnsafeBytes { SecretBytes(copying: $0) }, iv)
        case .pkcs12(let derivation, let cipher):
            let key = derivation.bytes(.key, passphrase, count: cipher.keyLength)
            let iv = derivation.bytes(.initializationVector, passphrase, count: cipher.blockLength)
            return try cipher.decrypt(ciphertext, key, iv.withUnsafeBytes { [UInt8]($0) })
        }
    }
}

extension PasswordEncryption.BlockCipher {
    fileprivate func decrypt(
        _ ciphertext: some ByteSlice, _ key: SecretBytes, _ iv: [UInt8]
    ) throws(KeyFailure) -> SecretBytes {
        switch self {
        case .aes128, .aes192, .aes256: return try decryptAES(ciphertext, key, iv)
        case .tripleDES: return try TripleDES(key.withUnsafeBytes { [UInt8]($0) }).decryptCBC(ciphertext, iv: iv)
        case .rc2of40Bits, .rc2of128Bits:
            return try RC2(key.withUnsafeBytes { [UInt8]($0) }).decryptCBC(ciphertext, iv: iv)
        }
    }

    private func decryptAES(
        _ ciphertext: some ByteSlice, _ key: SecretBytes, _ iv: [UInt8]
    ) throws(KeyFailure) -> SecretBytes {
        guard !ciphertext.isEmpty, ciphertext.count % 16 == 0 else { throw .malformed("ciphertext") }
        do {
            var plaintext = try AES._CBC.decrypt(
                [UInt8](ciphertext), using: key.withUnsafeBytes { SymmetricKey(data: $0) },
                iv: AES._CBC.IV(ivBytes: iv))
            return SecretBytes(moving: &plaintext)
        } catch {
            throw .wrongPassphrase
        }
    }
}
