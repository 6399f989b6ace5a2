// SPDX-License-Identifier: Apache-2.0
// Keys that are generated or made from bytes, without a keychain.

import Foundation
import KeychainServices
import Testing

@Suite("Keys: creation")
struct KeyCreationTests {
    private func generate(_ parameters: Entries) -> Attempt<SecKey> {
        attempt { SecKeyCreateRandomKey(parameters as CFDictionary, $0) }
    }

    // MARK: Generating

    @Test("K01", arguments: [(256, 65, 97), (384, 97, 145), (521, 133, 199)])
    func generatedKey_ofACurve_exportsPointAndNumber(bits: Int, publicLength: Int, privateLength: Int) throws {
        let key = try #require(generate(["type": "73", "bsiz": bits]).value)
        let publicBytes = try exported(#require(SecKeyCopyPublicKey(key)))
        let privateBytes = try exported(key)
        #expect(publicBytes.count == publicLength && privateBytes.count == privateLength)
        #expect(publicBytes.first == 4 && privateBytes.starts(with: publicBytes))
    }

    @Test(arguments: ["105", "106"])
    func generatedKey_ofCurve25519_has32Bytes(type: String) throws {
        let key = try #require(generate(["type": type]).value)
        #expect(try exported(key).count == 32)
        #expect(try exported(#require(SecKeyCopyPublicKey(key))).count == 32)
    }

    static let refused: [Row<OSStatus>] = [
        Row("no type", ["bsiz": 256], errSecParam), Row("unknown type", ["type": "99", "bsiz": 256], errSecParam),
        Row("type as a number", ["type": 73, "bsiz": 256], errSecParam),
        Row("type of DSA", ["type": "43", "bsiz": 256], errSecParam),
        Row("no size", ["type": "73"], errSecParam), Row("size 192", ["type": "73", "bsiz": 192], errSecParam),
        Row("size 224", ["type": "73", "bsiz": 224], errSecParam),
        Row("size as other text", ["type": "73", "bsiz": "0x100"], errSecParam),
        Row("size as a truth value", ["type": "73", "bsiz": true], errSecParam),
        Row("RSA without size", ["type": "42"], errSecParam), Row("RSA 512", ["type": "42", "bsiz": 512], errSecParam),
        Row("RSA 1023", ["type": "42", "bsiz": 1023], errSecParam),
        Row("RSA 2^40", ["type": "42", "bsiz": 1 << 40], errSecParam),
        Row("RSA -1", ["type": "42", "bsiz": -1], errSecParam),
        Row("attributes that are no dictionary", ["type": "73", "bsiz": 256, "private": "x"], errSecParam),
        Row("token", ["type": "73", "bsiz": 256, "tkid": "com.apple.setoken"], errSecUnimplemented),
        Row("token inside", ["type": "73", "bsiz": 256, "private": ["tkid": "x"]], errSecUnimplemented),
    ]

    @Test("K10", arguments: refused)
    func generation_withoutASupportedTypeAndSize_isRefused(row: Row<OSStatus>) {
        #expect(generate(row.entries).status == row.expected)
        var (publicKey, privateKey): (SecKey?, SecKey?)
        #expect(SecKeyGeneratePair(row.entries as CFDictionary, &publicKey, &privateKey) == row.expected)
        #expect(publicKey == nil && privateKey == nil)
    }

    @Test func size_asDecimalText_isTaken() throws {
        let key = try #require(generate(["type": "73", "bsiz": "384"]).value)
        #expect(SecKeyGetBlockSize(key) == 48)
    }

    @Test func pair_generatedTheOlderWay_hasBothHalves() throws {
        var (publicKey, privateKey): (SecKey?, SecKey?)
        let parameters = [kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeySizeInBits: 256] as CFDictionary
        #expect(SecKeyGeneratePair(parameters, &publicKey, &privateKey) == errSecSuccess)
        #expect(try publicKey == SecKeyCopyPublicKey(#require(privateKey)))
        #expect(SecKeyGeneratePair(parameters, nil, nil) == errSecSuccess)
    }

    // MARK: Importing

    @Test("K13", arguments: TestKey.allCases)
    func key_importedFromItsBytes_exportsThem(key: TestKey) throws {
        #expect(try exported(key.privateKey()) == key.bytes)
        let publicBytes = try key.publicBytes()
        #expect(!key.isCurve || key.bytes.starts(with: publicBytes))
        let half = importedKey(publicBytes, key.type, "0")
        #expect(try half.value == key.publicKey())
    }

    @Test("K14", arguments: [0, 1, 49, 57, 64, 66, 96, 98, 132, 134])
    func publicKey_ofAnotherLength_isRefused(length: Int) {
        let padded = TestKey.p521.bytes.prefix(length)
        #expect(importedKey(Data(padded), "73", "0").status == errSecParam)
    }

    @Test func privateKey_cutAnywhere_isRefused() {
        for key in TestKey.allCases {
            for length in stride(from: 0, to: key.bytes.count, by: key.isRSA ? 29 : 1) {
                #expect(importedKey(key.bytes.prefix(length), key.type, "1").status == errSecParam, "\(key) \(length)")
            }
        }
    }

    static let identified: [Row<OSStatus>] = [
        Row("symmetric", ["type": "73", "kcls": "2"], errSecUnimplemented),
        Row("class 7", ["type": "73", "kcls": "7"], errSecParam), Row("no class", ["type": "73"], errSecParam),
        Row("no type", ["kcls": "1"], errSecParam), Row("type number", ["type": 73, "kcls": 1], errSecSuccess),
        Row("type text", ["type": "73", "kcls": "1"], errSecSuccess),
        Row("older type", ["type": "43", "kcls": "1"], errSecSuccess),
        Row("blank before", ["type": " 73", "kcls": "1"], errSecParam),
        Row("hexadecimal", ["type": "0x49", "kcls": "1"], errSecParam),
        Row("sign", ["type": "+73", "kcls": "1"], errSecParam),
        Row("fraction", ["type": 73.5, "kcls": "1"], errSecParam),
        Row("truth value", ["type": "73", "kcls": true], errSecParam),
        Row("other type", ["type": "42", "kcls": "1"], errSecParam),
        Row("unknown type", ["type": "99", "kcls": "1"], errSecParam),
        Row("other class", ["type": "73", "kcls": "0"], errSecParam),
        Row("token", ["type": "73", "kcls": "1", "tkid": "com.apple.setoken"], errSecUnimplemented),
    ]

    @Test("K16, K20", arguments: identified)
    func import_ofAPrivateKey_needsItsTypeAndClass(row: Row<OSStatus>) {
        let result = attempt { SecKeyCreateWithData(TestKey.p256.bytes as CFData, row.entries as CFDictionary, $0) }
        #expect(result.status == row.expected)
    }

    @Test("K19") func otherAttributes_ofAnImport_areIgnored() throws {
        let others: Entries = ["bsiz": 384, "perm": true, "labl": "l", "atag": Date()]
        let key = try #require(importedKey(TestKey.p256.bytes, "73", "1", others).value)
        #expect(SecKeyGetBlockSize(key) == 32)
    }

    @Test(arguments: ["-----BEGIN PRIVATE KEY-----", "", "\u{30}\u{82}"])
    func import_ofOtherBytes_isRefused(text: String) {
        for key in TestKey.allCases {
            for keyClass in ["0", "1"] {
                #expect(importedKey(Data(text.utf8), key.type, keyClass).status == errSecParam)
            }
        }
    }

    @Test func point_offItsCurve_isRefused() throws {
        var bytes = try TestKey.p256.publicBytes()
        bytes[64] ^= 1
        #expect(importedKey(bytes, "73", "0").status == errSecParam)
        var privateBytes = TestKey.p256.bytes
        privateBytes[96] ^= 1
        #expect(importedKey(privateBytes, "73", "1").status == errSecParam)
    }

    /// 8192 bits take minutes to make, and none to read.
    @Test func rsaKey_ofTheLargestSize_isRead() throws {
        let modulus = Data([0x00, 0xC0]) + Data(repeating: 0x5B, count: 1023)
        let numbers = Data(hex: "02820401") + modulus + Data(hex: "0203010001")
        let key = try #require(importedKey(Data(hex: "3082040A") + numbers, "42", "0").value)
        #expect(SecKeyGetBlockSize(key) == 1024)
        let larger = Data(hex: "02820401") + Data([0x01]) + modulus.dropFirst() + Data(hex: "0203010001")
        #expect(importedKey(Data(hex: "3082040A") + larger, "42", "0").status == errSecParam)
    }
}
