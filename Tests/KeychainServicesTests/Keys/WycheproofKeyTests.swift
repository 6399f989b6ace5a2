// SPDX-License-Identifier: Apache-2.0
// Project Wycheproof's cases through the functions on keys.

import Crypto
import Foundation
import KeychainServices
import KeychainTestSupport
import Testing

/// The bytes in front of a key that the functions on keys do not take: the header of SubjectPublicKeyInfo or PKCS #8.
private struct Header: Sendable {
    let type: String
    let length: Int

    static let (p256, p384, p521) = (
        Header(type: "73", length: 26), Header(type: "73", length: 23), Header(type: "73", length: 25)
    )
    static let ed25519 = Header(type: "105", length: 12)
    /// SubjectPublicKeyInfo is taken as it is.
    static let rsaPublic = Header(type: "42", length: 0)
    static let rsaPrivate = Header(type: "42", length: 26)

    func key(_ bytes: Data, _ keyClass: String) throws -> SecKey {
        try #require(importedKey(Data(bytes.dropFirst(length)), type, keyClass).value)
    }
}

@Suite("Keys: Wycheproof")
struct WycheproofKeyTests {
    @Test(arguments: [
        ("ecdsa_secp256r1_sha256_test", 484, Header.p256, SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256),
        ("ecdsa_secp256r1_sha256_p1363_test", 262, .p256, .ecdsaSignatureMessageRFC4754SHA256),
        ("ecdsa_secp384r1_sha384_test", 504, .p384, .ecdsaSignatureMessageX962SHA384),
        ("ecdsa_secp384r1_sha384_p1363_test", 280, .p384, .ecdsaSignatureMessageRFC4754SHA384),
        ("ecdsa_secp521r1_sha512_test", 542, .p521, .ecdsaSignatureMessageX962SHA512),
        ("ecdsa_secp521r1_sha512_p1363_test", 318, .p521, .ecdsaSignatureMessageRFC4754SHA512),
        ("ed25519_test", 210, .ed25519, SecKeyAlgorithm(rawValue: "algid:sign:EdDSA:message-Curve25519:SHA512")),
        ("rsa_signature_2048_sha256_test", 259, .rsaPublic, .rsaSignatureMessagePKCS1v15SHA256),
        ("rsa_pss_2048_sha256_mgf1_32_test", 108, .rsaPublic, .rsaSignatureMessagePSSSHA256),
    ])
    fileprivate func signature_casesOfWycheproof_matchWhereTheyAreValid(
        file: String, count: Int, header: Header, algorithm: SecKeyAlgorithm
    ) throws {
        let vectors = try Wycheproof(file: file)
        #expect(vectors.count == count)
        for group in vectors.testGroups {
            let key = try header.key(group.publicKeyDer.required(), "0")
            for entry in group.tests where !entry.isOptional {
                let (message, signature) = (try entry.msg.required() as CFData, try entry.sig.required() as CFData)
                let result = attempt { SecKeyVerifySignature(key, algorithm, message, signature, $0) ? true : nil }
                #expect(
                    result.status == (entry.isValid ? errSecSuccess : errSecVerifyFailed), "\(file), case \(entry.tcId)"
                )
            }
        }
    }

    @Test(arguments: [
        ("rsa_oaep_2048_sha256_mgf1sha256_test", 37, SecKeyAlgorithm.rsaEncryptionOAEPSHA256),
        ("rsa_pkcs1_2048_test", 67, .rsaEncryptionPKCS1),
    ])
    func encryption_casesOfWycheproof_opensWhereTheyAreValid(
        file: String, count: Int, algorithm: SecKeyAlgorithm
    ) throws {
        let vectors = try Wycheproof(file: file)
        #expect(vectors.count == count)
        for group in vectors.testGroups {
            let key = try Header.rsaPrivate.key(group.privateKeyPkcs8.required(), "1")
            for entry in group.tests where !entry.flags.contains("EncryptionWithLabel") {
                let sealed = try entry.ct.required() as CFData
                let opened = attempt { SecKeyCreateDecryptedData(key, algorithm, sealed, $0) as Data? }
                #expect(opened.value == (entry.isValid ? try entry.msg.required() : nil), "\(file), case \(entry.tcId)")
            }
        }
    }

    @Test(arguments: [
        ("ecdh_secp256r1_ecpoint_test", 355, 32), ("ecdh_secp384r1_ecpoint_test", 790, 48),
        ("ecdh_secp521r1_ecpoint_test", 661, 66),
    ])
    func exchange_casesOfWycheproof_agreesWhereTheyAreValid(file: String, count: Int, length: Int) throws {
        let vectors = try Wycheproof(file: file)
        #expect(vectors.count == count)
        for entry in vectors.cases where !entry.isOptional {
            let own = try Self.x963(entry.private.required(), length)
            let secret = try exchange(own: own, peer: entry.public.required(), "73")
            #expect(secret == (entry.isValid ? try entry.shared.required() : nil), "case \(entry.tcId)")
        }
    }

    @Test func x25519_casesOfWycheproof_agreesUnlessAllBytesAreZero() throws {
        let vectors = try Wycheproof(file: "x25519_test")
        #expect(vectors.count == 518)
        for entry in vectors.cases {
            let shared = try entry.shared.required()
            let secret = try exchange(own: entry.private.required(), peer: entry.public.required(), "106")
            #expect(secret == (shared.contains { $0 != 0 } ? shared : nil), "case \(entry.tcId)")
        }
    }

    /// `nil` if the peer is no key, or nothing is agreed on.
    private func exchange(own: Data, peer: Data, _ type: String) throws -> Data? {
        let key = try #require(importedKey(own, type, "1").value)
        guard let peer = importedKey(peer, type, "0").value else { return nil }
        return attempt {
            SecKeyCopyKeyExchangeResult(key, .ecdhKeyExchangeStandard, peer, [:] as CFDictionary, $0) as Data?
        }.value
    }

    /// The external representation of a private number, which the file has with more or fewer zeros in front.
    private static func x963(_ number: Data, _ length: Int) throws -> Data {
        let digits = number.drop { $0 == 0 }
        let raw = Data(repeating: 0, count: length - digits.count) + digits
        return switch length {
        case 32: try P256.KeyAgreement.PrivateKey(rawRepresentation: raw).x963Representation
        case 48: try P384.KeyAgreement.PrivateKey(rawRepresentation: raw).x963Representation
        default: try P521.KeyAgreement.PrivateKey(rawRepresentation: raw).x963Representation
        }
    }
}
