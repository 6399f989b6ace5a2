// SPDX-License-Identifier: Apache-2.0
// Project Wycheproof's cases through the operations on keys.

import Foundation
import KeychainTestSupport
import SecretMemory
import Testing

@testable import KeychainKeys

struct WycheproofTests {
    @Test(arguments: [
        ("ecdsa_secp256r1_sha256_test", 484, KeyAlgorithm.ecdsaSignature(.message(.sha256), .der)),
        ("ecdsa_secp256r1_sha256_p1363_test", 262, .ecdsaSignature(.message(.sha256), .raw)),
        ("ecdsa_secp384r1_sha384_test", 504, .ecdsaSignature(.message(.sha384), .der)),
        ("ecdsa_secp384r1_sha384_p1363_test", 280, .ecdsaSignature(.message(.sha384), .raw)),
        ("ecdsa_secp521r1_sha512_test", 542, .ecdsaSignature(.message(.sha512), .der)),
        ("ecdsa_secp521r1_sha512_p1363_test", 318, .ecdsaSignature(.message(.sha512), .raw)),
        ("ed25519_test", 210, .eddsaSignature),
        ("rsa_signature_2048_sha256_test", 259, .rsaSignaturePKCS1(.message(.sha256))),
        ("rsa_pss_2048_sha256_mgf1_32_test", 108, .rsaSignaturePSS(.message(.sha256))),
    ])
    func verify_casesOfWycheproof_areAsTheySay(file: String, count: Int, algorithm: KeyAlgorithm) throws {
        let vectors = try Wycheproof(file: file)
        #expect(vectors.count == count)
        for group in vectors.testGroups {
            let key = try PublicKey(subjectPublicKeyInfo: group.publicKeyDer.required())
            for entry in group.tests where !entry.isOptional {
                let isValid = try key.isValidSignature(entry.sig.required(), for: entry.msg.required(), algorithm)
                #expect(isValid == entry.isValid, "\(file), case \(entry.tcId)")
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
            let key = try PrivateKey(pkcs8: SecretBytes(group.privateKeyPkcs8.required()))
            for entry in group.tests where !entry.flags.contains("EncryptionWithLabel") {
                let opened = try? key.decrypt(entry.ct.required(), algorithm).data
                #expect(opened == (entry.isValid ? try entry.msg.required() : nil), "\(file), case \(entry.tcId)")
            }
        }
    }

    @Test(arguments: [
        ("ecdh_secp256r1_ecpoint_test", 355, KeyKind.p256), ("ecdh_secp384r1_ecpoint_test", 790, .p384),
        ("ecdh_secp521r1_ecpoint_test", 661, .p521),
    ])
    func exchange_casesOfWycheproof_areAsTheySay(file: String, count: Int, kind: KeyKind) throws {
        let vectors = try Wycheproof(file: file)
        #expect(vectors.count == count)
        for entry in vectors.cases where !entry.isOptional {
            let number = SecretBytes(try entry.private.required().drop { $0 == 0 })
            let key = try PrivateKey(kind, scalar: SecretSlice(number))
            let peer = try? PublicKey(kind, externalRepresentation: entry.public.required())
            let secret = try peer.map { try key.exchange(with: $0, .keyExchange(.standard)).data }
            #expect(secret == (entry.isValid ? try entry.shared.required() : nil), "case \(entry.tcId)")
        }
    }

    @Test func gcmWithSixteenBytes_casesOfWycheproof_openWhereTheyAreValid() throws {
        let groups = try Wycheproof(file: "aes_gcm_test").testGroups.filter { $0.ivSize == 128 && $0.tagSize == 128 }
        #expect(groups.flatMap(\.tests).count == 58)
        for entry in groups.flatMap(\.tests) {
            let cipher = SixteenByteGCM(
                SecretBytes(try entry.key.required()), iv: [UInt8](try entry.iv.required()),
                associated: [UInt8](try entry.aad.required()))
            let sealed = try entry.ct.required() + entry.tag.required()
            let opened = try? cipher.open(sealed).data
            #expect(opened == (entry.isValid ? try entry.msg.required() : nil), "case \(entry.tcId)")
            guard entry.isValid else { continue }
            #expect(try cipher.seal(entry.msg.required()) == sealed, "case \(entry.tcId)")
        }
    }

    @Test func exchange_x25519CasesOfWycheproof_areAsTheySay() throws {
        let vectors = try Wycheproof(file: "x25519_test")
        #expect(vectors.count == 518)
        for entry in vectors.cases {
            let key = try PrivateKey(.x25519, externalRepresentation: SecretBytes(entry.private.required()))
            let peer = try PublicKey(.x25519, externalRepresentation: entry.public.required())
            let shared = try entry.shared.required()
            let secret = try? key.exchange(with: peer, .keyExchange(.standard)).data
            // A secret of zeros would be known to everyone.
            #expect(secret == (shared.contains { $0 != 0 } ? shared : nil), "case \(entry.tcId)")
        }
    }
}
