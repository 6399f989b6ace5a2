// SPDX-License-Identifier: Apache-2.0
// What updating accepts and does (rule 2.6).

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import Testing

@Suite("Rules: updating")
struct UpdateTests {
    private func services(_ kind: StoreKind) throws -> Services {
        let services = try kind.services()
        services.add(genp(["acct": "a", "labl": "old", "v_Data": secret]))
        return services
    }

    static let changes: [Row<OSStatus>] = [
        Row("nothing", [:], errSecSuccess), Row("attribute", ["labl": "new"], errSecSuccess),
        Row("secret", ["v_Data": otherSecret], errSecSuccess), Row("secret text", ["v_Data": "x"], errSecParam),
        Row("class", ["class": "genp"], errSecNoSuchAttr), Row("return key", ["r_Data": true], errSecNoSuchAttr),
        Row("match key", ["m_Limit": "m_LimitOne"], errSecNoSuchAttr),
        Row("UI", ["u_AuthUI": "u_AuthUIF"], errSecNoSuchAttr),
        Row("context", ["u_AuthCtx": LAContext()], errSecNoSuchAttr),
        Row("object", ["v_Ref": NSObject()], errSecNoSuchAttr),
        Row("reference", ["v_PersistentRef": Data()], errSecNoSuchAttr),
        Row("four unknown letters", ["zzzz": "x"], errSecNoSuchAttr), Row("one letter", ["x": "x"], errSecNoSuchAttr),
        Row("long unknown", ["persistref": Data()], errSecNoSuchAttr), Row("no letter", ["": "x"], errSecNoSuchAttr),
        Row("four letters outside ASCII", ["éééé": "x"], errSecNoSuchAttr),
        Row("attribute of another class", ["srvr": "x"], errSecNoSuchAttr),
        Row("older access list", ["acls": NSObject()], errSecNoSuchAttr),
        Row("data protection keychain", ["nleg": true], errSecSuccess), Row("user view", ["musr": "x"], errSecSuccess),
        Row("sharing group", ["ggrp": "x"], errSecParam), Row("null", ["labl": NSNull()], errSecParam),
        Row("wrong type", ["labl": Date()], errSecParam), Row("issuer text", ["issr": "x"], errSecNoSuchAttr),
        Row("foreign group", ["agrp": "foreign"], errSecMissingEntitlement),
        Row("token group", ["agrp": "com.apple.token"], errSecMissingEntitlement),
        Row("any synchronizable", ["sync": "syna"], errSecSuccess),
        Row("digest", ["sha1": Data(count: 20)], errSecSuccess), Row("bad digest", ["sha1": Data()], errSecParam),
        Row("unknown accessibility", ["pdmn": "zz"], errSecParam), Row("until reboot", ["pdmn": "f"], errSecParam),
        Row("access control text", ["accc": "x"], errSecParam), Row("token", ["tkid": "t"], errSecUnimplemented),
        Row("fraction", ["crtr": 1.5], errSecDecode),
    ]

    @Test(arguments: StoreKind.allCases, changes)
    func entry_ofAttributesToUpdate_isAppliedIgnoredOrRefused(kind: StoreKind, row: Row<OSStatus>) throws {
        #expect(try services(kind).update(genp(), to: row.entries) == row.expected)
    }

    @Test(arguments: StoreKind.allCases)
    func key_ofAttributesToUpdateThatIsNoString_isRefused(kind: StoreKind) throws {
        let changes = [5: "x"] as [AnyHashable: Any] as NSDictionary
        #expect(try services(kind).update(genp() as NSDictionary, changes) == errSecParam)
    }

    @Test(arguments: StoreKind.allCases)
    func update_ofOneAttribute_keepsTheOthersAndTheSecret(kind: StoreKind) throws {
        let services = try services(kind)
        #expect(services.update(genp(), to: ["icmt": "new"]) == errSecSuccess)
        let found = services.find(genp(["r_Attributes": true, "r_Data": true])).dictionary
        #expect(found?["labl"] as? String == "old")
        #expect(found?["icmt"] as? String == "new")
        #expect(found?["v_Data"] as? Data == secret)
    }

    @Test(arguments: StoreKind.allCases)
    func update_ofSeveralMatches_changesAll(kind: StoreKind) throws {
        let services = try services(kind)
        services.add(genp(["acct": "b"]))
        #expect(services.update(genp(), to: ["labl": "new"]) == errSecSuccess)
        #expect(services.count(genp(["labl": "new"])) == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func update_ofSeveralMatchesToOnePrimaryKey_isADuplicateAndChangesNone(kind: StoreKind) throws {
        let services = try services(kind)
        services.add(genp(["acct": "b"]))
        #expect(services.update(genp(), to: ["acct": "c"]) == errSecDuplicateItem)
        #expect(services.count(genp(["acct": "a"])) == 1)
        #expect(services.count(genp(["acct": "b"])) == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func update_toTheItemsOwnPrimaryKey_succeeds(kind: StoreKind) throws {
        #expect(try services(kind).update(genp(), to: ["acct": "a"]) == errSecSuccess)
    }

    @Test(arguments: StoreKind.allCases)
    func modificationDate_alwaysMovesForward(kind: StoreKind) throws {
        let now = Date(timeIntervalSinceReferenceDate: 700_000_000)
        let services = try kind.services(now: { now })
        services.add(genp())
        #expect(services.update(genp(), to: [:]) == errSecSuccess)
        let modified = try #require(services.attributes(genp())["mdat"] as? Date)
        #expect(modified > now)
        #expect(modified.timeIntervalSince(now) < 0.002)
    }

    @Test(arguments: StoreKind.allCases)
    func creationDate_isKeptByAnUpdate(kind: StoreKind) throws {
        let services = try services(kind)
        let before = try #require(services.attributes(genp())["cdat"] as? Date)
        #expect(services.update(genp(), to: ["labl": "new"]) == errSecSuccess)
        #expect(try services.attributes(genp())["cdat"] as? Date == before)
    }

    @Test(arguments: StoreKind.allCases)
    func creationDate_givenInAnUpdate_isChanged(kind: StoreKind) throws {
        let services = try services(kind)
        let date = Date(timeIntervalSinceReferenceDate: 1.5)
        #expect(services.update(genp(), to: ["cdat": date, "mdat": date]) == errSecSuccess)
        #expect(try services.attributes(genp())["cdat"] as? Date == date)
        #expect(try services.attributes(genp())["mdat"] as? Date != date)
    }

    @Test(arguments: StoreKind.allCases)
    func digest_isNewAfterEveryUpdate(kind: StoreKind) throws {
        let services = try services(kind)
        let before = try #require(services.attributes(genp())["sha1"] as? Data)
        #expect(services.update(genp(), to: ["sha1": before]) == errSecSuccess)
        let after = try #require(services.attributes(genp())["sha1"] as? Data)
        #expect(after != before)
        #expect(after.count == 20)
    }

    @Test(arguments: StoreKind.allCases)
    func accessibility_setByAnUpdate_replacesTheAccessControl(kind: StoreKind) throws {
        let services = try kind.services()
        let control = try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAlways, [], nil))
        services.add(genp(["accc": control]))
        #expect(services.update(genp(), to: ["pdmn": "ck"]) == errSecSuccess)
        let attributes = try services.attributes(genp())
        #expect(attributes["pdmn"] as? String == "ck")
        #expect(attributes["accc"] as? SecAccessControl != control)
    }

    @Test(arguments: StoreKind.allCases)
    func accessControl_setByAnUpdate_replacesTheAccessibility(kind: StoreKind) throws {
        let services = try services(kind)
        let control = try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAlways, [], nil))
        #expect(services.update(genp(), to: ["accc": control]) == errSecSuccess)
        let attributes = try services.attributes(genp())
        #expect(attributes["pdmn"] as? String == "dk")
        #expect(attributes["accc"] as? SecAccessControl == control)
    }
}

@Suite("Rules: deleting")
struct DeleteTests {
    @Test(arguments: StoreKind.allCases)
    func delete_byClass_removesAllOfTheClassAndNoOther(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(genp(["acct": "a"]))
        services.add(genp(["acct": "b", "agrp": "test2"]))
        services.add(inet())
        #expect(services.delete(genp()) == errSecSuccess)
        #expect(services.count(genp()) == 0)
        #expect(services.count(inet()) == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func delete_withoutTheKey_leavesSynchronizableItems(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(genp())
        services.add(genp(["sync": true]))
        #expect(services.delete(genp()) == errSecSuccess)
        #expect(services.count(genp(["sync": true])) == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func delete_leavesForeignGroups(kind: StoreKind) throws {
        let services = try kind.services(groups: ["A"])
        services.add(genp())
        #expect(services.with(groups: ["B"]).delete(genp()) == errSecItemNotFound)
        #expect(services.count(genp()) == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func item_deleted_canBeAddedAgain(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(genp(["sync": true]))
        #expect(services.delete(genp(["sync": true])) == errSecSuccess)
        #expect(services.find(genp(["sync": true])).status == errSecItemNotFound)
        #expect(services.add(genp(["sync": true])).status == errSecSuccess)
    }
}
