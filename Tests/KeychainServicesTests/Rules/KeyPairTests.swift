// SPDX-License-Identifier: Apache-2.0
// Generated keys that are stored at once.

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import Testing

@Suite("Rules: generated keys")
struct KeyPairTests {
    private let curve: Entries = ["type": "73", "bsiz": 256]

    private func generate(_ services: Services, _ others: Entries) -> Attempt<SecKey> {
        attempt { services.createRandomKey(curve.adding(others) as NSDictionary, $0) }
    }

    @Test("K04", arguments: StoreKind.allCases)
    func permanentKey_inAForeignGroup_isRefusedAndNotStored(kind: StoreKind) throws {
        let services = try kind.services()
        #expect(generate(services, ["perm": true, "agrp": "foreign"]).status == errSecMissingEntitlement)
        #expect(services.count(keys()) == 0)
    }

    @Test("K05", arguments: StoreKind.allCases)
    func key_thatIsNotPermanent_isNotStored(kind: StoreKind) throws {
        let services = try kind.services()
        let key = try #require(generate(services, ["labl": "l"]).value)
        #expect(services.find(["v_Ref": key, "r_Ref": true]).status == errSecItemNotFound)
        #expect(services.count(keys()) == 0)
    }

    @Test("K07", arguments: StoreKind.allCases)
    func half_thatAloneIsPermanent_isStoredAlone(kind: StoreKind) throws {
        for (name, keyClass) in [("private", 1), ("public", 0)] {
            let services = try kind.services()
            let key = try #require(generate(services, [name: ["perm": true, "atag": Data("t".utf8)] as Entries]).value)
            let half = keyClass == 1 ? key : try #require(SecKeyCopyPublicKey(key))
            #expect(services.find(keys(["atag": Data("t".utf8), "r_Ref": true])).object as? SecKey == half)
            #expect(services.count(keys()) == 1 && services.count(keys(["kcls": keyClass])) == 1)
        }
    }

    @Test("K08", arguments: StoreKind.allCases, [1, "1", "true", Data([1]), NSNull()] as [any Sendable])
    func permanence_thatIsNoTruthValue_isTakenAsAbsent(kind: StoreKind, value: any Sendable) throws {
        let services = try kind.services()
        #expect(generate(services, ["perm": value]).status == errSecSuccess)
        #expect(generate(services, ["perm": true, "private": ["perm": value], "public": ["perm": false]]).value != nil)
        #expect(services.count(keys()) == 0)
    }

    @Test("K11", arguments: StoreKind.allCases)
    func pairs_ofOneLabelAndTag_areFourItems(kind: StoreKind) throws {
        let services = try kind.services()
        for _ in 1...2 {
            #expect(generate(services, ["perm": true, "labl": "l", "atag": "t"]).status == errSecSuccess)
        }
        #expect(services.count(keys(["labl": "l", "atag": "t"])) == 4)
        #expect(services.count(keys(["kcls": 0])) == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func attributes_ofOneHalf_winOverThoseForBoth(kind: StoreKind) throws {
        let services = try kind.services()
        let halves: Entries = ["private": ["labl": "p", "type": "42", "bsiz": 1], "public": ["agrp": "test2"]]
        #expect(generate(services, halves.adding(["perm": true, "labl": "l"])).status == errSecSuccess)
        let (own, other) = (try services.attributes(keys(["kcls": 1])), try services.attributes(keys(["kcls": 0])))
        #expect(own["labl"] as? String == "p" && own["agrp"] as? String == "test")
        #expect(other["labl"] as? String == "l" && other["agrp"] as? String == "test2")
        #expect(own["type"] as? Int == 73 && own["bsiz"] as? Int == 256)
        #expect(own["klbl"] as? Data == other["klbl"] as? Data)
    }

    static let halfRefused: [Row<OSStatus>] = [
        Row("foreign group", ["private": ["agrp": "foreign"]], errSecMissingEntitlement),
        Row("wrong type", ["private": ["labl": Date()]], errSecParam),
        Row("unknown attribute", ["private": ["zzzz": 1]], errSecNoSuchAttr),
        Row("number as key", ["private": [5: 1]], errSecNoSuchAttr),
        Row("duplicate", ["private": ["klbl": Data([1]), "atag": "taken"]], errSecDuplicateItem),
        Row("public half", ["public": ["agrp": "foreign"]], errSecMissingEntitlement),
    ]

    @Test(arguments: StoreKind.allCases, halfRefused)
    func pair_ofWhichOneHalfCannotBeStored_isNotStored(kind: StoreKind, row: Row<OSStatus>) throws {
        let services = try kind.services()
        services.add(keys(["kcls": 1, "type": 73, "bsiz": 256, "esiz": 256, "klbl": Data([1]), "atag": "taken"]))
        #expect(generate(services, row.entries.adding(["perm": true])).status == row.expected)
        #expect(services.count(keys()) == 1)
    }

    @Test(arguments: LockableKind.allCases)
    func pair_ofWhichOneHalfIsLocked_isNotStored(kind: LockableKind) throws {
        let keychain = try kind.keychain()
        try keychain.enter(.locked)
        let halves: Entries = ["perm": true, "public": ["pdmn": "dk"], "private": ["pdmn": "ak"]]
        #expect(generate(keychain.services, halves).status == errSecInteractionNotAllowed)
        try keychain.enter(.unlocked)
        #expect(keychain.services.count(keys()) == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func parameters_thatCanBeChanged_areTaken(kind: StoreKind) throws {
        let services = try kind.services()
        let parameters = NSMutableDictionary()
        for (name, value) in curve.adding(["perm": true]) { parameters.setObject(value, forKey: name as NSString) }
        #expect(attempt { services.createRandomKey(parameters, $0) }.status == errSecSuccess)
        #expect(services.count(keys()) == 2)
    }
}
