// SPDX-License-Identifier: Apache-2.0
// Project Wycheproof's cases through the operations on keys.

import Foundation
import SecretMemory
import Testing

@testable import KeychainKeys

/// A file of `Tests/Vectors/ThirdParty`.
private struct Wycheproof: Decodable {
    struct Group: Decodable {
        let publicKeyDer, privateKeyPkcs8: String?
        let ivSize, tagSize: Int?
        let tests: [Case]
    }

    struct Case: Decodable {
        let tcId: Int
        let result: String
        let msg, sig, ct, shared, key, iv, aad, tag: String?
        let `public`, `private`: String?
        let flags: [String]
    }

    let testGroups: [Group]
    var count: Int { testGroups.reduce(0) { $0 + $1.tests.count } }

    init(file: String) throws {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let content = try Data(contentsOf: tests.appendingPathComponent("Vectors/ThirdParty/\(file).json"))
        self = try JSONDecoder().decode(Wycheproof.self, from: content)
    }
}

extension Data {
    fileprivate init(_ hex: String?) throws { self.init(hex: try #require(hex)) }
}

struct WycheproofTests {
    @Test(arguments: [
        ("ecdsa_secp256r1_sha256_test", 484, KeyAlgorithm.ecdsaSignature(.message(.sha256), .der)),
        ("ecdsa_secp256r1_sha256_p1363_test", 262, .ecdsaSignature(.message(.sha256), .raw)),
        ("ecdsa_secp384r1_sha384_test", 504, .ecdsaSignature(.message(.sha384), .der)),
        ("ecdsa_secp521r1_sha512_test", 542, .ecdsaSignature(.message(.sha512), .der)),
        ("ed25519_test", 210, .eddsaSignature),
        ("rsa_signature_2048_sha256_test", 259, .rsaSignaturePKCS1(.message(.sha256))),
        ("rsa_pss_2048_sha256_mgf1_32_test", 108, .rsaSignaturePSS(.message(.sha256))),
    ])
    func verify_casesOfWycheproof_areAsTheySay(file: String, count: Int, algorithm: KeyAlgorithm) throws {
        let vectors = try Wycheproof(file: file)
        #expect(vectors.count == count)
        for group in vectors.testGroups {
            let key = try PublicKey(subjectPublicKeyInfo: Data(group.publicKeyDer))
            for entry in group.tests where entry.result != "acceptable" {
                let isValid = try key.isValidSignature(Data(entry.sig), for: Data(entry.msg), algorithm)
                #expect(isValid == (entry.result == "valid"), "\(file), case \(entry.tcId)")
            }
        }
    }

    @Test(arguments: [
        ("rsa_oaep_2048_sha256_mgf1sha256_test", 37, KeyAlgorithm.rsaEncryptionOAEP(.sha256)),
        ("rsa_pkcs1_2048_test", 67, .rsaEncryptionPKCS1),
    ])
    func decrypt_casesOfWycheproof_areAsTheySay(file: String, count: Int, algorithm: KeyAlgorithm) throws {
        let vectors = try Wycheproof(file: file)
        #expect(vectors.count == count)
        for group in vectors.testGroups {
            let key = try PrivateKey(pkcs8: SecretBytes(Data(group.privateKeyPkcs8)))
            for entry in group.tests where !entry.flags.contains("EncryptionWithLabel") {
                let opened = try? key.decrypt(Data(entry.ct), algorithm).data
                #expect(opened == (entry.result == "valid" ? try Data(entry.msg) : nil), "\(file), case \(entry.tcId)")
            }
        }
    }

    @Test func exchange_casesOfWycheproof_areAsTheySay() throws {
        let vectors = try Wycheproof(file: "ecdh_secp256r1_ecpoint_test")
        #expect(vectors.count == 355)
        for entry in vectors.testGroups.flatMap(\.tests) where entry.result != "acceptable" {
            let number = SecretBytes(try Data(entry.private).drop { $0 == 0 })
            let key = try PrivateKey(.p256, scalar: SecretSlice(number))
            let peer = try? PublicKey(.p256, externalRepresentation: Data(entry.public))
            let secret = try peer.map { try key.exchange(with: $0, .keyExchange(.standard)).data }
            #expect(secret == (entry.result == "valid" ? try Data(entry.shared) : nil), "case \(entry.tcId)")
        }
    }

    @Test func gcmWithSixteenBytes_casesOfWycheproof_openWhereTheyAreValid() throws {
        let groups = try Wycheproof(file: "aes_gcm_test").testGroups.filter { $0.ivSize == 128 && $0.tagSize == 128 }
        #expect(groups.flatMap(\.tests).count == 58)
        for entry in groups.flatMap(\.tests) {
            let cipher = SixteenByteGCM(
                SecretBytes(try Data(entry.key)), iv: [UInt8](try Data(entry.iv)),
                associated: [UInt8](try Data(entry.aad)))
            let sealed = try Data(entry.ct) + Data(entry.tag)
            let opened = try? cipher.open(sealed).data
            #expect(opened == (entry.result == "valid" ? try Data(entry.msg) : nil), "case \(entry.tcId)")
            guard entry.result == "valid" else { continue }
            #expect(try cipher.seal(Data(entry.msg)) == sealed, "case \(entry.tcId)")
        }
    }

    @Test func exchange_x25519CasesOfWycheproof_areAsTheySay() throws {
        let vectors = try Wycheproof(file: "x25519_test")
        #expect(vectors.count == 518)
        for entry in vectors.testGroups.flatMap(\.tests) {
            let key = try PrivateKey(.x25519, externalRepresentation: SecretBytes(Data(entry.private)))
            let peer = try PublicKey(.x25519, externalRepresentation: Data(entry.public))
            let shared = try Data(entry.shared)
            let secret = try? key.exchange(with: peer, .keyExchange(.standard)).data
            // A secret of zeros would be known to everyone.
            #expect(secret == (shared.contains { $0 != 0 } ? shared : nil), "case \(entry.tcId)")
        }
    }
}
