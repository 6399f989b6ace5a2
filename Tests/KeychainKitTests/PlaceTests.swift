// SPDX-License-Identifier: Apache-2.0
// Which items a store means: its service or server, its access group, its kind of synchronization.

import Foundation
import KeychainKit
import Testing
import VaultUnderTest

/// One field that tells internet passwords of a server apart.
struct PlaceField: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The same server, with the field and without.
    let store: @Sendable (any ItemStore) -> SecretStore
    let isGiven: @Sendable (KeychainItem) -> Bool

    static let all = [
        PlaceField("protocol", { SecretStore(server: "example.com", protocol: .https, store: $0) }) {
            $0.protocol == .https
        },
        PlaceField("port", { SecretStore(server: "example.com", port: 8443, store: $0) }) { $0.port == 8443 },
        PlaceField("path", { SecretStore(server: "example.com", path: "/x", store: $0) }) { $0.path == "/x" },
        PlaceField("securityDomain", { SecretStore(server: "example.com", securityDomain: "staff", store: $0) }) {
            $0.securityDomain == "staff"
        },
        PlaceField(
            "authenticationType", { SecretStore(server: "example.com", authenticationType: .htmlForm, store: $0) }
        ) { $0.authenticationType == .htmlForm },
    ]

    private init(
        _ name: String, _ store: @escaping @Sendable (any ItemStore) -> SecretStore,
        _ isGiven: @escaping @Sendable (KeychainItem) -> Bool
    ) {
        (testDescription, self.store, self.isGiven) = (name, store, isGiven)
    }
}

@Suite("Services and servers")
struct PlaceTests {
    @Test(arguments: StoreKind.allCases, PlaceField.all)
    func field_ofAServer_tellsItemsApart(kind: StoreKind, field: PlaceField) throws {
        let items = try kind.empty()
        let (plain, other) = (SecretStore(server: "example.com", store: items), field.store(items))
        try plain.save("plain", for: "alice")
        try other.save("other", for: "alice")
        #expect(try plain.read(String.self, for: "alice") == "plain")
        #expect(try other.read(String.self, for: "alice") == "other")
        #expect(try plain.items().count == 1)
    }

    @Test(arguments: StoreKind.allCases, PlaceField.all)
    func field_ofAServer_isReadBack(kind: StoreKind, field: PlaceField) throws {
        let items = try kind.empty()
        try field.store(items).save("s3cret", for: "alice")
        try SecretStore(server: "example.com", store: items).save("s3cret", for: "alice")
        let given = try KeychainCatalog(store: items).items().map(field.isGiven)
        #expect(given.filter { $0 }.count == 1)
    }

    @Test(arguments: StoreKind.allCases) func store_ofAService_seesNoOther(kind: StoreKind) throws {
        let items = try kind.empty()
        try SecretStore(service: "one", store: items).save("s3cret", for: "alice")
        try SecretStore(server: "two", store: items).save("s3cret", for: "alice")
        let store = SecretStore(service: "two", store: items)
        #expect(try store.items().isEmpty)
        #expect(try store.item("alice") == nil)
        #expect(try store.removeAll() == 0)
        #expect(try !store.remove("alice"))
        #expect(try KeychainCatalog(store: items).items().count == 2)
    }

    @Test(arguments: StoreKind.allCases) func filter_withAnotherPlace_hasNoEffectInAStore(kind: StoreKind) throws {
        let items = try kind.empty()
        let store = SecretStore(service: "one", store: items)
        try store.save("s3cret", for: "alice")
        try SecretStore(service: "two", store: items).save("s3cret", for: "bob")
        var filter = ItemFilter(service: "two", server: "example.com")
        (filter.domain, filter.port, filter.path) = ("example.com", 1, "/")
        #expect(try store.items(matching: filter).map(\.account) == ["alice"])
    }

    @Test(arguments: StoreKind.allCases) func removeAll_ofAService_removesAndCountsItsItems(kind: StoreKind) throws {
        let items = try kind.empty()
        let store = SecretStore(service: "one", store: items)
        for account in ["alice", "bob"] { try store.save("s3cret", for: account) }
        try SecretStore(service: "two", store: items).save("s3cret", for: "carol")
        #expect(try store.removeAll() == 2)
        #expect(try KeychainCatalog(store: items).items().map(\.account) == ["carol"])
    }

    @Test func removeAll_whileLocked_works() throws {
        let items = MemoryStore()
        let store = SecretStore(service: "one", store: items)
        try store.save("s3cret", for: "alice")
        items.lockState = .locked
        #expect(try store.removeAll() == 1)
    }
}

@Suite("Synchronizable items")
struct SynchronizableTests {
    private func stores(_ kind: StoreKind) throws -> (local: SecretStore, synchronizable: SecretStore) {
        let items = try kind.empty()
        return (
            SecretStore(service: "one", store: items), SecretStore(service: "one", synchronizable: true, store: items)
        )
    }

    @Test(arguments: StoreKind.allCases) func items_synchronizableAndNot_areTwo(kind: StoreKind) throws {
        let (local, synchronizable) = try stores(kind)
        try local.save("local", for: "alice")
        try synchronizable.save("synchronizable", for: "alice")
        #expect(try local.read(String.self, for: "alice") == "local")
        #expect(try synchronizable.read(String.self, for: "alice") == "synchronizable")
        #expect(try [local.item("alice"), synchronizable.item("alice")].map(\.?.synchronizable) == [false, true])
    }

    @Test(arguments: StoreKind.allCases) func list_ofOneKind_leavesOutTheOther(kind: StoreKind) throws {
        let (local, synchronizable) = try stores(kind)
        try local.save("local", for: "alice")
        try synchronizable.save("synchronizable", for: "bob")
        #expect(try local.items().map(\.account) == ["alice"])
        #expect(try synchronizable.items().map(\.account) == ["bob"])
        #expect(try local.items(matching: ItemFilter(synchronizable: true)).isEmpty)
    }

    @Test(arguments: StoreKind.allCases) func removeAll_ofOneKind_leavesTheOther(kind: StoreKind) throws {
        let (local, synchronizable) = try stores(kind)
        try local.save("local", for: "alice")
        try synchronizable.save("synchronizable", for: "alice")
        #expect(try local.removeAll() == 1)
        #expect(try synchronizable.contains("alice"))
    }
}

@Suite("Access groups")
struct AccessGroupTests {
    private static let caller = Caller(groups: ["app", "team", "family"])

    /// Stores over the same items: with no group named, and with each of the caller's.
    private struct Groups {
        let any, app, team, family: SecretStore
    }

    private func groups(_ kind: StoreKind) throws -> Groups {
        let items = try kind.empty()
        let stores = [nil, "app", "team", "family"].map {
            SecretStore(service: "one", accessGroup: $0, store: items, caller: Self.caller)
        }
        return Groups(any: stores[0], app: stores[1], team: stores[2], family: stores[3])
    }

    @Test(arguments: StoreKind.allCases) func item_savedWithoutAGroup_isInTheDefaultOne(kind: StoreKind) throws {
        let groups = try groups(kind)
        try groups.any.save("s3cret", for: "alice")
        #expect(try groups.any.item("alice")?.accessGroup == "app")
        #expect(try !groups.team.contains("alice"))
    }

    @Test(arguments: StoreKind.allCases) func item_savedWithAGroup_isThereAlone(kind: StoreKind) throws {
        let groups = try groups(kind)
        try groups.team.save("s3cret", for: "alice")
        #expect(try groups.team.item("alice")?.accessGroup == "team")
        #expect(try !groups.app.contains("alice"))
    }

    @Test(arguments: StoreKind.allCases) func item_ofAnyGroup_isFoundWithoutAGroup(kind: StoreKind) throws {
        let groups = try groups(kind)
        try groups.team.save("s3cret", for: "alice")
        #expect(try groups.any.read(String.self, for: "alice") == "s3cret")
    }

    @Test(arguments: StoreKind.allCases) func item_ofAnotherGroup_savedWithoutAGroup_isChangedThere(kind: StoreKind)
        throws
    {
        let groups = try groups(kind)
        try groups.team.save("old", for: "alice")
        try groups.any.save("new", for: "alice")
        #expect(try groups.team.read(String.self, for: "alice") == "new")
        #expect(try !groups.app.contains("alice"))
    }

    @Test(arguments: StoreKind.allCases) func item_ofAnotherGroup_createdWithoutAGroup_isADuplicate(kind: StoreKind)
        throws
    {
        let groups = try groups(kind)
        try groups.team.save("old", for: "alice")
        #expect(reason { try groups.any.create("new", for: "alice") } == .duplicateItem)
        let inTransaction = reason {
            try groups.any.transaction { (transaction) -> Void in try transaction.create("new", for: "alice") }
        }
        #expect(inTransaction == .duplicateItem)
        #expect(try groups.any.read(String.self, for: "alice") == "old")
        #expect(try !groups.app.contains("alice"))
    }

    @Test(arguments: StoreKind.allCases) func change_ofAnAbsentItem_thatComesInAnotherGroup_runsAgain(kind: StoreKind)
        throws
    {
        let groups = try groups(kind)
        var runs = 0
        try groups.any.update(Int.self, for: "n") { value in
            runs += 1
            if runs == 1 { try groups.team.save(10, for: "n") }
            value = (value ?? 0) + 1
        }
        #expect(try groups.team.read(Int.self, for: "n") == 11)
        #expect(try !groups.app.contains("n"))
    }

    @Test(arguments: StoreKind.allCases) func name_inSeveralGroups_meansTheDefaultOne(kind: StoreKind) throws {
        let groups = try groups(kind)
        try groups.app.save("app", for: "alice")
        try groups.team.save("team", for: "alice")
        #expect(try groups.any.read(String.self, for: "alice") == "app")
        #expect(try groups.any.item("alice")?.accessGroup == "app")
        try groups.any.save("new", for: "alice")
        #expect(try groups.app.read(String.self, for: "alice") == "new")
        #expect(try groups.team.read(String.self, for: "alice") == "team")
    }

    @Test(arguments: StoreKind.allCases) func name_inSeveralOtherGroups_isADuplicate(kind: StoreKind) throws {
        let groups = try groups(kind)
        try groups.team.save("team", for: "alice")
        try groups.family.save("family", for: "alice")
        #expect(reason { try groups.any.read(String.self, for: "alice") } == .duplicateItem)
        #expect(reason { try groups.any.item("alice") } == .duplicateItem)
        #expect(reason { try groups.any.save("new", for: "alice") } == .duplicateItem)
        #expect(reason { try groups.any.update(String.self, for: "alice") { $0 = "new" } } == .duplicateItem)
        #expect(try groups.team.read(String.self, for: "alice") == "team")
        #expect(try groups.family.read(String.self, for: "alice") == "family")
    }

    @Test(arguments: StoreKind.allCases) func remove_withoutAGroup_leavesNoItemOfTheName(kind: StoreKind) throws {
        let groups = try groups(kind)
        try groups.app.save("app", for: "alice")
        try groups.team.save("team", for: "alice")
        #expect(try groups.any.remove("alice"))
        #expect(try !groups.any.contains("alice"))
    }

    @Test(arguments: StoreKind.allCases) func remove_withAGroup_leavesTheOthers(kind: StoreKind) throws {
        let groups = try groups(kind)
        try groups.app.save("app", for: "alice")
        try groups.team.save("team", for: "alice")
        #expect(try groups.team.remove("alice"))
        #expect(try groups.any.item("alice")?.accessGroup == "app")
    }

    @Test(arguments: StoreKind.allCases) func list_withAGroup_isOfThatGroup(kind: StoreKind) throws {
        let groups = try groups(kind)
        for store in [groups.app, groups.team, groups.family] { try store.save("s3cret", for: "alice") }
        #expect(try groups.any.items().count == 3)
        #expect(try groups.team.items().map(\.accessGroup) == ["team"])
        #expect(try groups.any.items(matching: ItemFilter(accessGroup: "team")).map(\.accessGroup) == ["team"])
        #expect(try groups.app.items(matching: ItemFilter(accessGroup: "team")).isEmpty)
    }

    @Test(arguments: StoreKind.allCases) func group_ofAnotherProgram_isRefused(kind: StoreKind) throws {
        let store = SecretStore(
            service: "one", accessGroup: "strangers", store: try kind.empty(), caller: Self.caller)
        #expect(reason { try store.save("s3cret", for: "alice") } == .missingEntitlement)
        #expect(reason { try store.read(String.self, for: "alice") } == .missingEntitlement)
        #expect(reason { try store.items() } == .missingEntitlement)
        #expect(reason { try store.removeAll() } == .missingEntitlement)
    }
}
