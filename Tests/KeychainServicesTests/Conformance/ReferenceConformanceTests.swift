// SPDX-License-Identifier: Apache-2.0
// Conformance cases C59–C73: persistent references, and items that are synchronizable.

import Foundation
import KeychainServices
import KeychainTestSupport
import Testing

@Suite("Conformance: persistent references")
struct ReferenceConformanceTests {
    private func reference(_ services: Services, _ item: Entries) throws -> Data {
        try #require(services.add(item.adding(["r_PersistentRef": true])).data)
    }

    @Test("C59", arguments: StoreKind.allCases)
    func attributes_foundByReferenceAndByAttributes_areEqual(kind: StoreKind) throws {
        let services = try kind.services()
        let item = inet(["srvr": "a.example.com", "acct": "a"])
        let reference = try reference(services, item)
        let byReference = try services.attributes(["v_PersistentRef": reference])
        #expect(byReference as NSDictionary == (try services.attributes(item)) as NSDictionary)
    }

    @Test("C61", arguments: StoreKind.allCases)
    func update_byReference_changesThatItemOnly(kind: StoreKind) throws {
        let services = try kind.services()
        let first = try reference(services, inet(["srvr": "a"]))
        let second = try reference(services, inet(["srvr": "b"]))
        #expect(services.update(["v_PersistentRef": first], to: ["srvr": "c"]) == errSecSuccess)
        #expect(try services.attributes(["v_PersistentRef": first])["srvr"] as? String == "c")
        #expect(try services.attributes(["v_PersistentRef": second])["srvr"] as? String == "b")
    }

    @Test("C62", arguments: StoreKind.allCases)
    func delete_byReference_removesThatItemOnly(kind: StoreKind) throws {
        let services = try kind.services()
        let first = try reference(services, inet(["srvr": "a"]))
        let second = try reference(services, inet(["srvr": "b"]))
        #expect(services.delete(["v_PersistentRef": first]) == errSecSuccess)
        #expect(services.find(["v_PersistentRef": first]).status == errSecItemNotFound)
        #expect(services.find(["v_PersistentRef": second]).status == errSecSuccess)
        #expect(services.delete(["v_PersistentRef": second, "r_Attributes": true]) == errSecSuccess)
    }

    @Test("C64", arguments: StoreKind.allCases)
    func list_ofAttributesAndReferences_hasAReferenceInEveryElement(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(genp())
        let query = genp(["sync": "syna", "m_Limit": "m_LimitAll", "r_Attributes": true, "r_PersistentRef": true])
        let list = try #require(services.find(query).dictionaries)
        #expect(list.count == 1)
        #expect(list.allSatisfy { $0["v_PersistentRef"] is Data })
    }

    @Test("C67", arguments: StoreKind.allCases, Call.allCases)
    func identityClass_whereThereIsNone_isNotFoundAndNotAdded(kind: StoreKind, call: Call) throws {
        let status = call.status(try kind.services(), ["class": "idnt", "labl": "l"])
        #expect(status == (call == .add ? errSecParam : errSecItemNotFound))
    }

    @Test("C68", arguments: StoreKind.allCases)
    func update_byTheReferenceOfAnIdentity_isAnInternalError(kind: StoreKind) throws {
        let reference = Data("idnt".utf8) + Data(count: 16)
        #expect(try kind.services().update(["v_PersistentRef": reference], to: ["labl": "l"]) == -26276)
    }
}

@Suite("Conformance: synchronizable items")
struct SynchronizableConformanceTests {
    private func servicesWithItem(_ kind: StoreKind) throws -> Services {
        let services = try kind.services()
        let answer = services.add(genp(["acct": "a", "sync": true, "r_Attributes": true]))
        try #require(answer.status == errSecSuccess)
        return services
    }

    @Test("C69", arguments: StoreKind.allCases)
    func synchronizableItem_searchedAsSuchOrAsAny_isFound(kind: StoreKind) throws {
        let services = try servicesWithItem(kind)
        #expect(services.find(genp(["sync": true])).status == errSecSuccess)
        #expect(services.find(genp(["sync": "syna"])).status == errSecSuccess)
    }

    @Test("C70", arguments: StoreKind.allCases)
    func synchronizableItem_searchedWithoutTheKey_isNotFound(kind: StoreKind) throws {
        #expect(try servicesWithItem(kind).find(genp()).status == errSecItemNotFound)
    }

    @Test("C71", arguments: StoreKind.allCases)
    func synchronizableItem_updated_isFoundAndDeletedByTheNewValue(kind: StoreKind) throws {
        let services = try servicesWithItem(kind)
        #expect(services.update(genp(["sync": true]), to: ["icmt": "new"]) == errSecSuccess)
        #expect(services.find(genp(["sync": true, "icmt": "new"])).status == errSecSuccess)
        #expect(services.delete(genp(["sync": true, "icmt": "new"])) == errSecSuccess)
    }

    @Test("C73", arguments: StoreKind.allCases)
    func synchronizableItem_withAccessControlFlags_isRefused(kind: StoreKind) throws {
        let control = try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [], nil))
        #expect(try kind.services().add(genp(["sync": true, "accc": control])).status == errSecParam)
    }
}
