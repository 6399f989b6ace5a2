// SPDX-License-Identifier: Apache-2.0
// All items that a program may see: listed, read and removed.

import Foundation
import KeychainEngine
import KeychainKit
import KeychainTestSupport
import SecretMemory
import Synchronization
import Testing

@Suite("The catalog")
struct CatalogTests {
    /// One item of each class: `alice` of a service and of a server, and two without an account.
    func filled(_ kind: StoreKind) throws -> (catalog: KeychainCatalog, items: any ItemStore) {
        let items = try kind.empty()
        try SecretStore(service: "one", store: items).save(
            "s3cret", for: "alice", attributes: ItemAttributes(label: "Work"))
        try SecretStore(server: .init("git.example.com", port: 8443), store: items).save("t0ken", for: "alice")
        let engine = Engine(store: items)
        for itemClass in [ItemClass.certificate, .key] {
            _ = try engine.add(Query(itemClass, [.label: .string("Work")]), accessGroups: .unrestricted)
        }
        return (KeychainCatalog(store: items), items)
    }

    @Test(arguments: StoreKind.allCases) func catalog_ofNothing_isEmpty(kind: StoreKind) throws {
        #expect(try KeychainCatalog(store: kind.empty()).items().isEmpty)
    }

    @Test(arguments: StoreKind.allCases) func catalog_unfiltered_hasAllClasses(kind: StoreKind) throws {
        let found = try filled(kind).catalog.items()
        #expect(Set(found.map(\.itemClass)) == Set(ItemClass.allCases))
    }

    @Test(arguments: StoreKind.allCases) func catalog_ofSomeClasses_leavesOutTheOthers(kind: StoreKind) throws {
        #expect(try filled(kind).catalog.items([.key]).map(\.itemClass) == [.key])
    }

    /// A plain item, one that requires the user and one with a password; the user cannot be asked.
    private func guarded(_ kind: StoreKind) throws -> any ItemStore {
        let items = try kind.empty(passphrase: "p")
        try SecretStore(service: "one", store: items).save("1", for: "plain", attributes: ItemAttributes(label: "Work"))
        for (account, control) in [("user", AccessControl.Flags.userPresence), ("password", .applicationPassword)] {
            var store = SecretStore(service: "one", accessControl: control, store: items)
            let context = AuthenticationContext { nil }
            context.setApplicationPassword(SecretBytes(text: "right"))
            store.context = context
            try store.save("2", for: account, attributes: ItemAttributes(label: "Work"))
        }
        return items
    }

    @Test(arguments: StoreKind.allCases) func list_withItemsThatAskForSomebody_namesThemAndAsksNobody(kind: StoreKind)
        throws
    {
        let items = try guarded(kind)
        let asked = Mutex(0)
        var (catalog, store) = (KeychainCatalog(store: items), SecretStore(service: "one", store: items))
        catalog.context = AuthenticationContext {
            asked.withLock { $0 += 1 }
            return nil
        }
        store.context = catalog.context
        for found in [try catalog.items(), try store.items()] {
            let byName = Dictionary(uniqueKeysWithValues: found.map { ($0.account ?? "", $0) })
            #expect(byName.mapValues(\.requiresAuthentication) == ["plain": false, "user": true, "password": true])
            #expect(byName.mapValues(\.label) == ["plain": "Work", "user": nil, "password": nil])
        }
        #expect(asked.withLock { $0 } == 0)
    }

    @Test(arguments: StoreKind.allCases) func list_afterTheContextHasProvenTheUser_hasAllAttributes(kind: StoreKind)
        throws
    {
        var catalog = KeychainCatalog(store: try guarded(kind))
        catalog.context = AuthenticationContext { Person(passphrase: "p") }
        let filter = ItemFilter(account: "user")
        let item = try #require(try catalog.items(matching: filter).first)
        #expect(item.label == nil)
        _ = try catalog.value(of: item)
        #expect(try catalog.items(matching: filter).map(\.label) == ["Work"])
    }

    @Test(arguments: StoreKind.allCases) func list_thatSkipsProtectedItems_doesNotNameThem(kind: StoreKind) throws {
        var filter = ItemFilter.all
        filter.skipsProtected = true
        #expect(try KeychainCatalog(store: guarded(kind)).items(matching: filter).map(\.account) == ["plain"])
    }

    @Test(arguments: StoreKind.allCases) func list_thatSkipsProtectedItems_hasThoseThatTheContextOpens(kind: StoreKind)
        throws
    {
        var catalog = KeychainCatalog(store: try guarded(kind))
        let context = AuthenticationContext { Person(passphrase: "p") }
        catalog.context = context
        var filter = ItemFilter.all
        filter.skipsProtected = true
        func accounts() throws -> [String?] {
            let items = try catalog.items(matching: filter)
            #expect(items.allSatisfy { $0.label == "Work" })
            return items.map(\.account).sorted { $0 ?? "" < $1 ?? "" }
        }
        context.setApplicationPassword(SecretBytes(text: "wrong"))
        #expect(try accounts() == ["plain"])
        context.setApplicationPassword(SecretBytes(text: "right"))
        #expect(try accounts() == ["password", "plain"])
        _ = try catalog.value(of: try #require(try catalog.items(matching: ItemFilter(account: "user")).first))
        #expect(try accounts() == ["password", "plain", "user"])
    }

    @Test(arguments: StoreKind.allCases) func value_ofAnItemInTheList_stillAsks(kind: StoreKind) throws {
        let catalog = KeychainCatalog(store: try guarded(kind))
        let item = try #require(try catalog.items(matching: ItemFilter(account: "user")).first)
        #expect(reason { _ = try catalog.value(of: item) } == .interactionNotAllowed)
    }

    @Test func list_ofAKeychainThatCannotNameThem_leavesThemOut() throws {
        var catalog = KeychainCatalog(store: try guarded(.system))
        catalog.allowsInteraction = false
        #expect(try catalog.items().map(\.account) == ["plain"])
    }

    @Test(arguments: StoreKind.allCases) func catalog_ofAnotherStore_seesNothing(kind: StoreKind) throws {
        let filled = try filled(kind)
        #expect(try KeychainCatalog(store: kind.empty()).items().isEmpty)
        #expect(try filled.catalog.items().count == 4)
    }

    /// A condition, and the classes with items for which it holds.
    private static let filters: [(ItemFilter, Set<ItemClass>)] = [
        (ItemFilter(attributes: ItemAttributes(label: "Work")), [.genericPassword, .certificate, .key]),
        (ItemFilter(account: "alice"), [.genericPassword, .internetPassword]),
        (ItemFilter(service: "one"), [.genericPassword]),
        (ItemFilter(server: "git.example.com"), [.internetPassword]),
        (ItemFilter(attributes: ItemAttributes(generic: Data([1]))), []),
        (ItemFilter(service: "one", server: "git.example.com"), []),
        (ItemFilter(accessGroup: "default"), Set(ItemClass.allCases)),
        (ItemFilter(accessibility: .always), [.certificate]),
    ]

    @Test(arguments: StoreKind.allCases, filters)
    func filter_ofAttributes_holdsForClassesThatHaveThem(
        kind: StoreKind, filter: (ItemFilter, classes: Set<ItemClass>)
    ) throws {
        #expect(Set(try filled(kind).catalog.items(matching: filter.0).map(\.itemClass)) == filter.classes)
    }

    @Test(arguments: StoreKind.allCases) func filter_byPlace_findsTheServersItem(kind: StoreKind) throws {
        let catalog = try filled(kind).catalog
        var filter = ItemFilter.all
        filter.port = 8443
        #expect(try catalog.items(matching: filter).map(\.server) == ["git.example.com"])
        filter.path = "/"
        #expect(try catalog.items(matching: filter).isEmpty)
    }

    @Test(arguments: StoreKind.allCases, ["git.example.com", "example.com", "com"])
    func filter_byDomain_findsTheServersInIt(kind: StoreKind, domain: String) throws {
        let filled = try filled(kind)
        try SecretStore(server: .init("badgit.example.org"), store: filled.items).save("s3cret", for: "bob")
        var filter = ItemFilter.all
        filter.domain = domain
        #expect(try filled.catalog.items(matching: filter).map(\.server) == ["git.example.com"])
    }

    @Test(arguments: StoreKind.allCases, ["ample.com", "www.git.example.com", ""])
    func filter_byWhatIsNoDomainOfIt_findsNothing(kind: StoreKind, domain: String) throws {
        var filter = ItemFilter.all
        filter.domain = domain
        #expect(try filled(kind).catalog.items(matching: filter).isEmpty)
    }

    @Test(arguments: StoreKind.allCases) func filter_bySynchronizability_findsOneKindOrBoth(kind: StoreKind) throws {
        let items = try kind.empty()
        for isOn in [false, true] {
            try SecretStore(service: "one", synchronizable: isOn, store: items).save("s3cret", for: "alice")
        }
        let catalog = KeychainCatalog(store: items)
        #expect(try catalog.items().count == 2)
        for isOn in [false, true] {
            #expect(try catalog.items(matching: ItemFilter(synchronizable: isOn)).map(\.synchronizable) == [isOn])
        }
    }

    @Test(arguments: StoreKind.allCases) func catalog_ofAProgram_hasItsGroupsAlone(kind: StoreKind) throws {
        let items = try kind.empty()
        for group in ["app", "team", "strangers"] {
            try SecretStore(service: "one", accessGroup: group, store: items).save("s3cret", for: "alice")
        }
        let catalog = KeychainCatalog(store: items, accessGroups: AccessGroups(["app", "team"]))
        #expect(Set(try catalog.items().map(\.accessGroup)) == ["app", "team"])
        #expect(try catalog.removeAll(matching: .all) == 2)
        #expect(try KeychainCatalog(store: items).items().map(\.accessGroup) == ["strangers"])
    }
}
