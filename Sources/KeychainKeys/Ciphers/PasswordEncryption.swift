// SPDX-License-Identifier: Apache-2.0
// Encryption with a passphrase, as PKCS#8 and PKCS#12 use it: PBES2 (RFC 8018).

import Crypto
import CryptoExtras
import Foundation
import SecretMemory
import SwiftASN1

/// An encryption scheme with its parameters.
enum PasswordEncryption {
    case pbes2(PBKDF2, AESKeyLength, iv: [UInt8])

    /// AES-CBC with keys of so many bytes.
    enum AESKeyLength: Int {
        case aes128 = 16
        case aes192 = 24
        case aes256 = 32
    }

    /// PBES2 with PBKDF2-HMAC-SHA256 and AES-256-CBC: what OpenSSL 3 writes, and the only one of PBES2 that Apple reads.
    static func new(rounds: Int) -> PasswordEncryption {
        .pbes2(PBKDF2(rounds: rounds), .aes256, iv: .random(count: 16))
    }

    /// Reads an AlgorithmIdentifier.
    init(_ reader: inout DERReader<ArraySlice<UInt8>>) throws(KeyFailure) {
        var algorithm = try reader.within(DERTag.sequence)
        let name = try algorithm.objectIdentifier()
        guard name == .pbes2 else { throw .unsupportedAlgorithm("\(name)") }
        var parameters = try algorithm.within(DERTag.sequence)
        try algorithm.finish()
        self = try Self.pbes2(&parameters)
    }

    private static func pbes2(
        _ parameters: inout DERReader<ArraySlice<UInt8>>
    ) throws(KeyFailure) -> PasswordEncryption {
        var derivation = try parameters.within(DERTag.sequence)
        let function = try derivation.objectIdentifier()
        guard function == .pbkdf2 else { throw .unsupportedAlgorithm("\(function)") }
        let pbkdf2 = try PBKDF2(&derivation)
        try derivation.finish()
        var encryption = try parameters.within(DERTag.sequence)
        let cipher = try encryption.objectIdentifier()
        let lengths: [ASN1ObjectIdentifier: AESKeyLength] = [
            .aes128CBC: .aes128, .aes192CBC: .aes192, .aes256CBC: .aes256,
        ]
        guard let length = lengths[cipher] else { throw .unsupportedAlgorithm("\(cipher)") }
        let iv = [UInt8](try encryption.content(DERTag.octetString))
        guard iv.count == 16 else { throw .malformed("initialization vector") }
        return .pbes2(pbkdf2, length, iv: iv)
    }

    var encoded: DERNode {
        switch self {
        case .pbes2(let derivation, _, let iv):
            .algorithm(
                .pbes2, .sequence(derivation.encoded, .algorithm(.aes256CBC, .octets(.bytes(iv)))))
        }
    }
}

extension PasswordEncryption {
    func encrypt(_ plaintext: SecretBytes, _ passphrase: SecretBytes) throws(KeyFailure) -> [UInt8] {
        guard case .pbes2(let derivation, .aes256, let iv) = self else {
            throw .unsupportedAlgorithm("encryption with a legacy cipher")
        }
        defer { scrubLeftovers() }
        let key = try derivation.key(passphrase, length: AESKeyLength.aes256.rawValue)
        var bytes = plaintext.withUnsafeBytes { [UInt8]($0) }
        defer { bytes.withUnsafeMutableBytes { wipeMemory($0) } }
        do {
            return [UInt8](try AES._CBC.encrypt(bytes, using: key, iv: AES._CBC.IV(ivBytes: iv)))
        } catch {
            throw .malformed("plaintext")
        }
    }

    /// - Throws: `KeyFailure.wrongPassphrase` if the padding is wrong: nothing else tells, so what is right must be seen by
    ///   what was decrypted.
    func decrypt(_ ciphertext: ArraySlice<UInt8>, _ passphrase: SecretBytes) throws(KeyFailure) -> SecretBytes {
        defer { scrubLeftovers() }
        switch self {
        case .pbes2(let derivation, let length, let iv):
            guard !ciphertext.isEmpty, ciphertext.count % 16 == 0 else { throw .malformed("ciphertext") }
            let key = try derivation.key(passphrase, length: length.rawValue)
            do {
                var plaintext = try AES._CBC.decrypt(ciphertext, using: key, iv: AES._CBC.IV(ivBytes: iv))
                return SecretBytes(moving: &plaintext)
            } catch {
                throw .wrongPassphrase
            }
        }
    }
}
