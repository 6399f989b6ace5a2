// SPDX-License-Identifier: Apache-2.0
// What key objects tell about themselves, and what they do not.

import Foundation
import KeychainServices
import Testing

@Suite("Keys: properties")
struct KeyPropertyTests {
    private func attributes(_ key: SecKey) throws -> Entries {
        try #require(SecKeyCopyAttributes(key) as? Entries)
    }

    // MARK: Attributes

    @Test(arguments: TestKey.allCases)
    func attributes_ofBothHalves_areThoseOfTheFacts(key: TestKey) throws {
        for (isPrivate, half) in [(true, try key.privateKey()), (false, try key.publicKey())] {
            let attributes = try attributes(half)
            #expect(attributes["class"] as? String == "keys")
            #expect(attributes["kcls"] as? String == (isPrivate ? "1" : "0"))
            #expect(attributes["type"] as? String == key.type)
            #expect(attributes["bsiz"] as? Int == key.bits && attributes["esiz"] as? Int == key.bits)
            #expect(attributes["v_Data"] as? Data == (isPrivate ? key.bytes : try key.publicBytes()))
            for (name, expected) in flags(key, isPrivate) {
                #expect(attributes[name] as? Bool == expected, "\(name)")
            }
            #expect(attributes.count == 7 + 16)
        }
    }

    private func flags(_ key: TestKey, _ isPrivate: Bool) -> [String: Bool] {
        [
            "perm": true, "priv": true, "modi": true, "extr": true, "sens": false, "asen": false, "next": false,
            "snrc": false, "vyrc": false, "encr": !isPrivate, "vrfy": !isPrivate, "wrap": !isPrivate,
            "decr": isPrivate || key.isRSA, "unwp": isPrivate, "sign": isPrivate, "drve": isPrivate && !key.isRSA,
        ]
    }

    @Test("K22") func attributes_ofAnRSAPublicKey_claimThatItDecrypts() throws {
        let attributes = try attributes(TestKey.rsa2048.publicKey())
        #expect(attributes[kSecAttrCanDecrypt as String] as? Bool == true)
        #expect(attributes[kSecAttrCanSign as String] as? Bool == false)
        #expect(attributes[kSecAttrKeySizeInBits as String] as? Int == 2048)
    }

    @Test(arguments: [
        (TestKey.p256, "a30b4ea027c1da5448b14442e74d85d9c5b38b6e"),
        (.p384, "badb017a70a1cddfe71e3d9cefb700c7e12ad389"), (.p521, "d69cfc122c3df3e0dcc2185479eec6d508f77213"),
    ])
    func applicationLabel_ofAKnownKey_isTheHashOfItsPublicBits(key: TestKey, label: String) throws {
        for half in [try key.privateKey(), try key.publicKey()] {
            #expect(try attributes(half)["klbl"] as? Data == Data(hex: label))
        }
    }

    // MARK: Equality, type, description

    @Test func keys_ofTheSameHalfAndBytes_areEqual() throws {
        for key in TestKey.allCases {
            let (own, public1) = (try key.privateKey(), try key.publicKey())
            #expect(try own == key.privateKey() && own.hash == key.privateKey().hash)
            #expect(try public1 == key.publicKey() && CFEqual(public1, key.publicKey()))
            #expect(own != public1 && !CFEqual(own, public1))
            for other in TestKey.allCases where other != key { #expect(try own != other.privateKey()) }
        }
        #expect(try !TestKey.p256.privateKey().isEqual("x"))
    }

    @Test func publicKey_ofAPublicKey_isTheSame() throws {
        let key = try TestKey.p384.publicKey()
        #expect(SecKeyCopyPublicKey(key) == key)
    }

    @Test func blockSize_ofEachKey_isThatOfItsNumbers() throws {
        for (key, size) in [
            (TestKey.p256, 32), (.p384, 48), (.p521, 66), (.rsa1024, 128), (.rsa2048, 256), (.ed25519, 32),
        ] {
            #expect(SecKeyGetBlockSize(try key.privateKey()) == size)
            #expect(SecKeyGetBlockSize(try key.publicKey()) == size)
        }
    }

    @Test func typeNumber_ofAnObject_isThatOfItsClass() throws {
        let control = try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAlways, [], nil))
        let objects: [(AnyObject, CFTypeID)] = [
            (try TestKey.p256.privateKey(), SecKeyGetTypeID()), (control, SecAccessControlGetTypeID()),
            ("text" as CFString, CFStringGetTypeID()), (Data() as CFData, CFDataGetTypeID()),
            ([1] as CFArray, CFArrayGetTypeID()), (["x": 1] as CFDictionary, CFDictionaryGetTypeID()),
            (NSNumber(value: 1), CFNumberGetTypeID()), (NSNumber(value: true), CFBooleanGetTypeID()),
            (NSSet(), CFSetGetTypeID()), (NSDate(), CFDateGetTypeID()),
            (NSError(domain: "x", code: 1), CFErrorGetTypeID()), (NSObject(), 0),
        ]
        for (object, number) in objects { #expect(CFGetTypeID(object) == number, "\(object)") }
        #expect(Set(objects.map(\.1)).count == objects.count)
        #expect(CFGetTypeID(nil) == 0)
    }

    @Test(arguments: TestKey.allCases)
    func description_ofAPrivateKey_hasNoneOfItsBytes(key: TestKey) throws {
        let own = try key.privateKey()
        _ = SecKeyCreateSignature(own, .ecdsaSignatureDigestX962, Data() as CFData, nil)
        var dumped = ""
        dump(own, to: &dumped)
        for text in ["\(own)", String(reflecting: own), own.debugDescription, dumped, "\([own])"] {
            #expect(text.contains("SecKey"))
            #expect(
                !text.contains("\(key.bytes.suffix(4).map { $0 })") && !text.contains(key.bytes.base64EncodedString()))
            #expect(text.utf8.count < 200, "\(text)")
        }
        #expect(Mirror(reflecting: own).children.isEmpty)
    }
}
