// SPDX-License-Identifier: Apache-2.0
// Key objects in the item calls: what is stored, what finds it, and what comes back.

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import Testing

@Suite("Rules: key objects")
struct KeyItemTests {
    private func own(_ key: TestKey = .p256) throws -> SecKey { try key.privateKey() }

    // MARK: Adding

    @Test("K56", arguments: StoreKind.allCases)
    func add_ofAPrivateKey_storesItsAttributesAndBytes(kind: StoreKind) throws {
        let services = try kind.services()
        #expect(services.add(["v_Ref": try own()]).status == errSecSuccess)
        let found = services.find(keys(["r_Attributes": true, "r_Data": true]))
        let item = try #require(found.dictionary)
        for (name, number) in [
            "kcls": 1, "type": 73, "bsiz": 256, "esiz": 256, "priv": 1, "perm": 1, "sign": 1, "vrfy": 0,
        ] {
            #expect(item[name] as? Int == number, "\(name)")
        }
        #expect(item["klbl"] as? Data == Data(hex: "a30b4ea027c1da5448b14442e74d85d9c5b38b6e"))
        #expect(item["v_Data"] as? Data == TestKey.p256.bytes)
    }

    @Test(arguments: StoreKind.allCases)
    func add_ofAKeyWithOtherAttributes_storesTheCallers(kind: StoreKind) throws {
        let services = try kind.services()
        let given: Entries = ["klbl": Data([1]), "atag": "tag", "labl": "l", "sign": false, "v_Data": secret]
        #expect(services.add(given.adding(["v_Ref": try own()])).status == errSecSuccess)
        let item = try #require(services.find(keys(["r_Attributes": true, "r_Data": true])).dictionary)
        #expect(item["klbl"] as? Data == Data([1]) && item["atag"] as? String == "tag")
        #expect(item["sign"] as? Int == 0 && item["v_Data"] as? Data == secret && item["type"] as? Int == 73)
    }

    @Test(arguments: StoreKind.allCases)
    func add_ofAKeyTwice_isADuplicateUnlessTheTagDiffers(kind: StoreKind) throws {
        let services = try kind.services()
        #expect(services.add(["v_Ref": try own(), "atag": "1"]).status == errSecSuccess)
        #expect(services.add(["v_Ref": try own(), "atag": "1"]).status == errSecDuplicateItem)
        #expect(services.add(["v_Ref": try own(), "atag": "2"]).status == errSecSuccess)
        #expect(services.add(["v_Ref": try own(.p384), "atag": "1"]).status == errSecSuccess)
        #expect(services.add(["v_Ref": try TestKey.p256.publicKey(), "atag": "1"]).status == errSecSuccess)
        #expect(services.count(keys()) == 4)
    }

    @Test(arguments: StoreKind.allCases, ["genp", "inet", "cert"])
    func keyObject_inAnotherClass_isNoSuchAttribute(kind: StoreKind, itemClass: String) throws {
        for call in Call.allCases {
            let services = try kind.services()
            #expect(call.status(services, ["class": itemClass, "v_Ref": try own()]) == errSecNoSuchAttr)
        }
    }

    @Test(arguments: StoreKind.allCases, TestKey.allCases)
    func key_ofEachKindStored_comesBackEqual(kind: StoreKind, key: TestKey) throws {
        let services = try kind.services()
        for half in [try key.privateKey(), try key.publicKey()] {
            let added = services.add(["v_Ref": half, "r_Ref": true])
            #expect(added.object as? SecKey == half)
            #expect(services.find(["v_Ref": half, "r_Ref": true]).object as? SecKey == half)
        }
    }

    // MARK: Finding

    @Test("K58", arguments: StoreKind.allCases)
    func storedKey_foundByItsObject_canBeReadUpdatedAndDeleted(kind: StoreKind) throws {
        let services = try kind.services()
        let key = try own()
        services.add(["v_Ref": key, "extr": false, "sign": false, "perm": false])
        services.add(["v_Ref": try own(.p384)])
        #expect(services.find(["v_Ref": key, "r_Attributes": true]).dictionary?["bsiz"] as? Int == 256)
        #expect(services.find(["v_Ref": key, "r_Data": true]).data?.count == 97)
        #expect(services.update(["v_Ref": key], to: ["labl": "new"]) == errSecSuccess)
        #expect(services.count(keys(["labl": "new"])) == 1)
        #expect(services.delete(["v_Ref": key]) == errSecSuccess)
        #expect(services.find(["v_Ref": key, "r_Ref": true]).status == errSecItemNotFound)
        #expect(services.delete(["v_Ref": key]) == errSecItemNotFound)
        #expect(services.count(keys()) == 1)
    }

    /// As by Apple, marks do not restrict a key that is not on a token.
    @Test(arguments: StoreKind.allCases, ["r_Data", "r_Ref"])
    func key_markedAsNotExtractable_isMarkedAndExported(kind: StoreKind, part: String) throws {
        let services = try kind.services()
        #expect(services.add(["v_Ref": try own(), "extr": 0]).status == errSecSuccess)
        #expect(try services.attributes(["v_Ref": own()])["extr"] as? Int == 0)
        let found = services.find(keys(["extr": false, part: true]))
        let bytes = try (found.object as? SecKey).map(exported) ?? found.data
        #expect(bytes == TestKey.p256.bytes)
    }

    @Test(arguments: StoreKind.allCases)
    func object_ofTheOtherHalf_findsNothing(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(["v_Ref": try own()])
        #expect(services.find(["v_Ref": try TestKey.p256.publicKey()]).status == errSecItemNotFound)
    }

    @Test("K59", arguments: StoreKind.allCases)
    func keyStoredAsBytes_isAnObjectAndNotFoundByOne(kind: StoreKind) throws {
        let services = try kind.services()
        let item = keys(["kcls": "1", "type": "73", "atag": "tag", "v_Data": TestKey.p256.bytes])
        #expect(services.add(item).status == errSecSuccess)
        #expect(services.find(["v_Ref": try own()]).status == errSecItemNotFound)
        #expect(services.find(keys(["atag": "tag", "r_Ref": true])).object as? SecKey == (try own()))
    }

    @Test("K61", arguments: StoreKind.allCases)
    func key_askedForEverything_isADictionaryOfAllParts(kind: StoreKind) throws {
        let services = try kind.services()
        let returns: Entries = ["r_Ref": true, "r_Attributes": true, "r_Data": true, "r_PersistentRef": true]
        let key = try own()
        for answer in [services.add(returns.adding(["v_Ref": key])), services.find(keys(returns))] {
            let item = try #require(answer.dictionary)
            #expect(item["v_Ref"] as? SecKey == key && item["v_Data"] as? Data == TestKey.p256.bytes)
            #expect(item["class"] as? String == "keys" && item["bsiz"] as? Int == 256)
            let reference = try #require(item["v_PersistentRef"] as? Data)
            #expect(services.find(["v_PersistentRef": reference, "r_Ref": true]).object as? SecKey == key)
        }
        let some = try #require(services.find(keys(["r_Ref": true, "r_Attributes": true])).dictionary)
        #expect(some["v_Ref"] as? SecKey == key && some["v_Data"] == nil && some["v_PersistentRef"] == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func bytes_thatAreNoKeyOfTheirType_haveNoObject(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(["v_Ref": try own()])
        for (tag, item) in [
            "no type": ["kcls": 1, "v_Data": TestKey.p256.bytes],
            "other bytes": ["kcls": 1, "type": 73, "v_Data": secret],
            "other type": ["kcls": 1, "type": 42, "v_Data": TestKey.p256.bytes], "no bytes": ["kcls": 1, "type": 73],
            "AES": ["kcls": 2, "type": 2_147_483_649, "v_Data": Data(count: 32)],
            "foreign type": ["kcls": Int.max, "type": Int.min, "v_Data": secret],
        ] as [String: Entries] {
            services.add(keys(item).adding(["atag": tag]))
            let one = services.find(keys(["atag": tag, "r_Ref": true]))
            #expect(one.status == errSecSuccess && one.object == nil, "\(tag)")
            let record = services.find(keys(["atag": tag, "r_Ref": true, "r_Attributes": true])).dictionary
            #expect(record?["atag"] as? String == tag && record?["v_Ref"] == nil)
        }
        let all = services.find(keys(["r_Ref": true, "m_Limit": "m_LimitAll"]))
        #expect(all.object as? [SecKey] == [try own()])
    }

    @Test("K62", arguments: StoreKind.allCases)
    func objectReference_thatIsNoKey_isRefused(kind: StoreKind) throws {
        let values: [Any] = ["text", secret, [secret], NSObject(), NSNull(), 5, Entries()]
        for value in values {
            for call in Call.allCases {
                #expect(try call.status(kind, ["v_Ref": value]) == errSecParam, "\(call) \(value)")
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func keyObject_inAttributesToUpdate_isNoSuchAttribute(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(["v_Ref": try own()])
        #expect(services.update(keys(), to: ["v_Ref": try own(.p384)]) == errSecNoSuchAttr)
    }

    /// Its class of accessibility and its group are those that the caller gives, as for any item.
    @Test(arguments: StoreKind.allCases)
    func key_addedIntoAGroup_isFoundThereOnly(kind: StoreKind) throws {
        let services = try kind.services()
        #expect(services.add(["v_Ref": try own(), "agrp": "test2", "pdmn": "dk"]).status == errSecSuccess)
        #expect(services.add(["v_Ref": try own(), "agrp": "foreign"]).status == errSecMissingEntitlement)
        #expect(services.with(groups: ["test"]).find(["v_Ref": try own()]).status == errSecItemNotFound)
        #expect(try services.attributes(["v_Ref": try own()])["pdmn"] as? String == "dk")
    }
}
