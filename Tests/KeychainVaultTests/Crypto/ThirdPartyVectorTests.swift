// SPDX-License-Identifier: Apache-2.0
// Vectors of others (Wycheproof, RFCs) through the code that seals, opens and derives here.

import Foundation
import KeychainTestSupport
import SecretMemory
import Testing

@testable import KeychainCrypto

/// A case of a file in `Tests/Vectors/ThirdParty`, with the sizes of its group.
private struct ThirdPartyCase {
    let group: JSON
    let test: JSON

    var name: String { "case \(test["tcId"].map(\.testDescription) ?? "?")" }
    var isValid: Bool { test["result"]?.text == "valid" }

    func bytes(_ member: String) throws -> Data { try test.bytes(member) }

    /// Whether the group states these sizes, in bits.
    func hasSizes(_ sizes: [String: Int]) -> Bool { sizes.allSatisfy { group[$0.key] == .number($0.value) } }

    static func all(_ file: String) throws -> [ThirdPartyCase] {
        let content = try JSON(fileAt: FormatReader.testsFolder + "/Vectors/ThirdParty/\(file).json")
        return (content["testGroups"]?.elements ?? []).flatMap { group in
            (group["tests"]?.elements ?? []).map { ThirdPartyCase(group: group, test: $0) }
        }
    }
}

extension JSON {
    fileprivate func bytes(_ member: String) throws -> Data {
        let text = try #require(self[member]?.text)
        return try #require(Data(hexadecimal: text))
    }
}

struct ThirdPartyVectorTests {
    // MARK: - AES-256-GCM

    @Test func aesGCM_casesOfWycheproof_openOnlyWhereTheyAreValid() throws {
        let cases = try ThirdPartyCase.all("aes_gcm_test")
        // Keys of 256 bits, nonces of 96, tags of 128: the only sizes that this package writes.
        let ours = cases.filter { $0.hasSizes(["keySize": 256, "ivSize": 96, "tagSize": 128]) }
        #expect(cases.count == 316 && ours.count == 66 && ours.count(where: \.isValid) == 39)
        for entry in ours {
            let sealed = try entry.bytes("iv") + entry.bytes("ct") + entry.bytes("tag")
            let key = SecretBytes(bytes: [UInt8](try entry.bytes("key")))
            let opened = try? Sealing.open(sealed, symmetric(key), [UInt8](entry.bytes("aad")))
            #expect(opened == (entry.isValid ? try entry.bytes("msg") : nil), "\(entry.name)")
        }
    }

    @Test func aesGCM_nonceOfAnotherSize_doesNotOpen() throws {
        let others = try ThirdPartyCase.all("aes_gcm_test").filter {
            $0.hasSizes(["keySize": 256, "tagSize": 128]) && !$0.hasSizes(["ivSize": 96])
        }
        #expect(others.count == 39)
        for entry in others {
            let sealed = try entry.bytes("iv") + entry.bytes("ct") + entry.bytes("tag")
            let key = SecretBytes(bytes: [UInt8](try entry.bytes("key")))
            #expect(throws: CipherFailure.self, "\(entry.name)") {
                try Sealing.open(sealed, symmetric(key), [UInt8](entry.bytes("aad")))
            }
        }
    }

    // MARK: - HKDF-SHA-256

    /// Longer outputs begin with the 32 bytes that keys have here, shorter ones are the beginning of those.
    private static func isDerived(_ okm: Data, _ secret: Data, _ salt: Data, _ info: Data) -> Bool {
        let key = Derivation.key(from: SecretBytes(bytes: [UInt8](secret)), salt: salt, info: [UInt8](info))
        return Data(key.bytes).prefix(okm.count) == okm.prefix(32)
    }

    @Test func hkdf_casesOfWycheproof_beginWithTheKey() throws {
        let cases = try ThirdPartyCase.all("hkdf_sha256_test")
        // Invalid are outputs of more than 8160 bytes; the length is fixed here.
        #expect(cases.count == 86 && cases.count(where: \.isValid) == 83)
        for entry in cases where entry.isValid {
            let isDerived = Self.isDerived(
                try entry.bytes("okm"), try entry.bytes("ikm"), try entry.bytes("salt"), try entry.bytes("info"))
            #expect(isDerived, "\(entry.name)")
        }
    }

    /// RFC 5869, A.1 to A.3.
    @Test func hkdf_casesOfItsRFC_beginWithTheKey() throws {
        let zeroToFF = Data(0...255)
        let cases: [(secret: Data, salt: Data, info: Data, okm: String)] = [
            (
                Data(repeating: 0x0B, count: 22), zeroToFF[0...0x0C], zeroToFF[0xF0...0xF9],
                "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
            ),
            (
                zeroToFF[0...0x4F], zeroToFF[0x60...0xAF], zeroToFF[0xB0...0xFF],
                "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09"
            ),
            (
                Data(repeating: 0x0B, count: 22), Data(), Data(),
                "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
            ),
        ]
        for (index, entry) in cases.enumerated() {
            let okm = try #require(Data(hexadecimal: entry.okm))
            #expect(Self.isDerived(okm, entry.secret, Data(entry.salt), Data(entry.info)), "A.\(index + 1)")
        }
    }

    // MARK: - HMAC-SHA-256

    @Test func hmac_casesOfWycheproof_areAcceptedOnlyWhereTheyAreValid() throws {
        let cases = try ThirdPartyCase.all("hmac_sha256_test")
        let whole = cases.filter { $0.hasSizes(["tagSize": 256]) }
        #expect(cases.count == 174 && whole.count == 87 && whole.count(where: \.isValid) == 33)
        for entry in whole {
            let (key, message) = (SecretBytes(bytes: [UInt8](try entry.bytes("key"))), [UInt8](try entry.bytes("msg")))
            let tag = try entry.bytes("tag")
            #expect(Authentication.isValid(tag, for: message, key: key) == entry.isValid, "\(entry.name)")
            #expect((Authentication.code(for: message, key: key) == tag) == entry.isValid, "\(entry.name)")
        }
    }

    @Test func blindIndex_casesOfWycheproof_areDigestsOnlyWhereTheyAreValid() throws {
        for entry in try ThirdPartyCase.all("hmac_sha256_test") {
            let (index, tag) = (
                BlindIndex(key: SecretBytes(bytes: [UInt8](try entry.bytes("key")))), try entry.bytes("tag")
            )
            let digest = index.digest([UInt8](try entry.bytes("msg")), length: tag.count)
            #expect((digest == tag) == entry.isValid, "\(entry.name)")
        }
    }

    /// RFC 4231, 4.2 to 4.8 without 4.6 (a truncated one), and one that says the same of the blind index.
    @Test func hmac_casesOfItsRFC_areTheCodes() throws {
        let cases: [(key: [UInt8], message: [UInt8], code: String)] = [
            (
                [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8),
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                [UInt8](repeating: 0xAA, count: 20), [UInt8](repeating: 0xDD, count: 50),
                "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
            ),
            (
                [UInt8](1...25), [UInt8](repeating: 0xCD, count: 50),
                "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
            ),
            (
                [UInt8](repeating: 0xAA, count: 131),
                Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
        ]
        for entry in cases {
            let (key, code) = (SecretBytes(bytes: entry.key), try #require(Data(hexadecimal: entry.code)))
            #expect(Authentication.code(for: entry.message, key: key) == code)
            #expect(BlindIndex(key: key).digest(entry.message, length: 16) == code.prefix(16))
        }
    }

    // MARK: - X25519 and HPKE

    @Test func x25519_casesOfWycheproof_areSharedOrOfSmallOrder() throws {
        let cases = try ThirdPartyCase.all("x25519_test")
        // "Acceptable" are odd public keys: ours refuses those that share nothing but zeros, and computes with the rest.
        let zeros = Data(count: 32)
        #expect(cases.count == 518)
        #expect(try cases.count { try $0.bytes("shared") == zeros } == 31)
        for entry in cases {
            let (key, shared) = (SecretBytes(bytes: [UInt8](try entry.bytes("private"))), try entry.bytes("shared"))
            let found = try? UserKey.sharedSecret(of: key, with: entry.bytes("public"))
            #expect(found.map { Data($0.bytes) } == (shared == zeros ? nil : shared), "\(entry.name)")
        }
    }

    /// Only messages with sequence number 0: what is sealed here is one message each.
    @Test func hpke_caseOfItsRFC_opens() throws {
        let content = try JSON(fileAt: FormatReader.testsFolder + "/Vectors/ThirdParty/hpke-test-vectors.json")
        let entry = try #require(content.elements.first)
        let messages = entry["encryptions"]?.elements ?? []
        #expect(content.elements.count == 1 && messages.count == 257)
        let key = SecretBytes(bytes: [UInt8](try entry.bytes("skRm")))
        #expect(try UserKey.publicKey(of: key) == entry.bytes("pkRm"))
        for (number, message) in messages.enumerated() {
            let opened = try? UserKey.open(
                message.bytes("ct"), encapsulatedBy: entry.bytes("enc"), with: key, info: entry.bytes("info"),
                context: [UInt8](message.bytes("aad")))
            #expect(opened.map { Data($0.bytes) } == (number == 0 ? try message.bytes("pt") : nil), "\(number)")
        }
    }

    // MARK: - scrypt

    /// RFC 7914, section 12, without the last (a gibibyte of memory).
    @Test func scrypt_casesOfItsRFC_areTheKeys() throws {
        let cases: [(secret: String, salt: String, cost: ScryptParameters, keys: String)] = [
            (
                "", "", ScryptParameters(rounds: 16, blockSize: 1, parallelism: 1),
                "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442"
                    + "fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906"
            ),
            (
                "password", "NaCl", ScryptParameters(rounds: 1024, blockSize: 8, parallelism: 16),
                "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
                    + "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"
            ),
            (
                "pleaseletmein", "SodiumChloride", ScryptParameters(rounds: 16384, blockSize: 8, parallelism: 1),
                "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
                    + "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887"
            ),
        ]
        for entry in cases {
            let derived = try PassphraseDerivation.derived(
                from: SecretBytes(text: entry.secret), Data(entry.salt.utf8), entry.cost)
            #expect((derived.wrapping.bytes + derived.commitment.bytes).hexadecimal == entry.keys)
            // All of them cost less than is accepted from a file.
            #expect(!entry.cost.isAcceptable)
        }
    }
}
