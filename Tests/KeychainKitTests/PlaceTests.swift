// SPDX-License-Identifier: Apache-2.0
// Which items a store means: its service or server, its access group, its kind of synchronization.

import Foundation
import KeychainKit
import KeychainTestSupport
import Testing

/// One field that tells internet passwords of a server apart.
struct PlaceField: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The same server as others, with the field.
    let server: SecretStore.Server
    let isGiven: @Sendable (KeychainItem) -> Bool

    static let all = [
        PlaceField("protocol", .init("example.com", protocol: .https)) { $0.protocol == .https },
        PlaceField("port", .init("example.com", port: 8443)) { $0.port == 8443 },
        PlaceField("path", .init("example.com", path: "/x")) { $0.path == "/x" },
        PlaceField("securityDomain", .init("example.com", securityDomain: "staff")) { $0.securityDomain == "staff" },
        PlaceField("authenticationType", .init("example.com", authenticationType: .htmlForm)) {
            $0.authenticationType == .htmlForm
        },
    ]

    private init(
        _ name: String, _ server: SecretStore.Server, _ isGiven: @escaping @Sendable (KeychainItem) -> Bool
    ) {
        (testDescription, self.server, self.isGiven) = (name, server, isGiven)
    }

    func store(_ items: any ItemStore) -> SecretStore { SecretStore(server: server, store: items) }
}

@Suite("Services and servers")
struct PlaceTests {
    @Test(arguments: StoreKind.allCases, PlaceField.all)
    func field_ofAServer_tellsItemsApart(kind: StoreKind, field: PlaceField) throws {
        let items = try kind.empty()
        let (plain, other) = (SecretStore(server: .init("example.com"), store: items), field.store(items))
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
        try SecretStore(server: .init("example.com"), store: items).save("s3cret", for: "alice")
        let given = try KeychainCatalog(store: items).items().map(field.isGiven)
        #expect(given.filter { $0 }.count == 1)
    }

    @Test(arguments: StoreKind.allCases) func store_ofAService_seesNoOther(kind: StoreKind) throws {
        let items = try kind.empty()
        try SecretStore(service: "one", store: items).save("s3cret", for: "alice")
        try SecretStore(server: .init("two"), store: items).save("s3cret", for: "alice")
        let store = SecretStore(service: "two", store: items)
        #expect(try store.items().isEmpty)
        #expect(try store.item(for: "alice") == nil)
        #expect(try store.removeAll() == 0)
        #expect(try !store.remove(for: "alice"))
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
