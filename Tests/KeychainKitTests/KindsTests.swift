// SPDX-License-Identifier: Apache-2.0
// One item of a name, whether it is synchronizable or not; and lists for which nobody is asked.

import Foundation
import KeychainEngine
import KeychainKit
import Synchronization
import Testing
import VaultUnderTest

@Suite("Items of either kind")
struct KindsTests {
    private func stores(_ kind: StoreKind) throws -> (either: SecretStore, local: SecretStore, synced: SecretStore) {
        let store = try kind.empty(passphrase: "p")
        let local = SecretStore(service: "app", store: store)
        var (either, synced) = (local, local)
        (either.synchronizableAny, synced.synchronizable) = (true, true)
        return (either, local, synced)
    }

    @Test(arguments: StoreKind.allCases)
    func item_ofEitherKind_isFoundChangedAndRemoved(kind: StoreKind) throws {
        let (either, _, synced) = try stores(kind)
        try synced.save("1", for: "alice")
        let id = try #require(try synced.item("alice")?.id)
        try either.save("2", for: "alice")
        #expect(try either.item("alice")?.id == id && either.contains("alice"))
        #expect(try either.read(String.self, for: "alice") == "2" && either.items().map(\.id) == [id])
        #expect(try either.remove("alice") && synced.items().isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func newItem_isOfTheStoresOwnKind(kind: StoreKind) throws {
        var (either, local, synced) = try stores(kind)
        try either.save("1", for: "alice")
        either.synchronizable = true
        try either.save("1", for: "bob")
        #expect(try local.items().map(\.account) == ["alice"] && synced.items().map(\.account) == ["bob"])
    }

    @Test(arguments: StoreKind.allCases)
    func saving_inATransaction_leavesOneItem(kind: StoreKind) throws {
        let (either, local, synced) = try stores(kind)
        try local.save("1", for: "alice")
        try synced.save("2", for: "alice")
        try either.transaction { transaction in
            #expect(try transaction.read(String.self, for: "alice") == "1")
            try transaction.save("3", for: "alice")
        }
        #expect(try local.read(String.self, for: "alice") == "3" && synced.items().isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func name_inSeveralGroupsButNotTheDefaultOne_isAmbiguous(kind: StoreKind) throws {
        var (either, local, synced) = try stores(kind)
        (local.accessGroup, synced.accessGroup) = ("one", "two")
        try local.save("1", for: "alice")
        try synced.save("2", for: "alice")
        #expect(reason { try either.save("3", for: "alice") } == .duplicateItem)
        either.accessGroup = "two"
        try either.save("3", for: "alice")
        #expect(try local.read(String.self, for: "alice") == "1" && synced.read(String.self, for: "alice") == "3")
    }

    /// Saving without a word on protection takes none away, whichever item is the store's own.
    @Test(arguments: StoreKind.allCases)
    func protectedItem_besideASynchronizableOne_staysWhenBothBecomeOne(kind: StoreKind) throws {
        var (either, local, synced) = try stores(kind)
        let person = Answering("p")
        (local.accessControl, either.synchronizable) = (.userPresence, true)
        either.context = AuthenticationContext { person }
        try local.save("1", for: "alice")
        try synced.save("2", for: "alice")
        try either.save("3", for: "alice")
        #expect(try synced.items().isEmpty && either.item("alice")?.accessControl == .userPresence)
        #expect(try either.read(String.self, for: "alice") == "3" && person.count == 1)
    }

    @Test func callOnItemsOfBothKinds_asksWithOneContext() throws {
        let store = WithoutTransactions()
        let local = SecretStore(service: "app", store: store)
        var (either, synced) = (local, local)
        (either.synchronizableAny, synced.synchronizable) = (true, true)
        try local.save("1", for: "alice")
        try synced.save("2", for: "alice")
        store.forgetContexts()
        _ = try either.read(String.self, for: "alice")
        #expect(store.contexts == 1)
        store.forgetContexts()
        try either.save("3", for: "alice")
        #expect(store.contexts == 1)
    }

    /// Each lane keeps threads.
    @Test func chosenStore_thatIsAStructure_hasOneLane() throws {
        let keychain = ChosenKeychain(Structure(memory: MemoryStore()))
        let (one, other) = (keychain.secrets(service: "one"), keychain.secrets(service: "other"))
        try one.transaction { transaction in try transaction.in(other).save("1", for: "alice") }
        #expect(try other.read(String.self, for: "alice") == "1")
    }

    /// As in Apple's keychain.
    @Test func storeWithoutTransactions_keepsTheNewValueAndOneItem() throws {
        let store = WithoutTransactions()
        var either = SecretStore(service: "app", accessibility: .whenUnlockedThisDeviceOnly, store: store)
        var synced = SecretStore(service: "app", store: store)
        (either.synchronizableAny, synced.synchronizable) = (true, true)
        try synced.save("1", for: "alice")
        try either.save("2", for: "alice")
        #expect(try synced.items().isEmpty && either.read(String.self, for: "alice") == "2")
    }

    @Test(arguments: StoreKind.allCases)
    func sightings_showNamesOfProtectedItems(kind: StoreKind) async throws {
        let store = try kind.empty(passphrase: "p")
        var secrets = SecretStore(service: "app", store: store)
        try await secrets.save("1", for: "alice")
        secrets.accessControl = .userPresence
        try await secrets.save("2", for: "bob")
        let catalog = KeychainCatalog(store: store)
        let seen = try await catalog.sightings(.genericPassword, matching: ItemFilter(service: "app"))
        let dates = Dictionary(uniqueKeysWithValues: seen.map { ($0.account, $0.datesIfSeen.created != nil) })
        #expect(dates == ["alice": true, "bob": false])
        let none = try await catalog.sightings(.genericPassword, matching: ItemFilter(service: "other"))
        #expect(none.isEmpty)
    }

    @Test func sightings_whileLocked_areLocked() throws {
        let memory = MemoryStore()
        try SecretStore(service: "app", store: memory).save("1", for: "alice")
        memory.lockState = .locked
        let failure = reason { try KeychainCatalog(store: memory).sightings(.genericPassword, matching: .all) }
        #expect(failure == .locked)
    }
}

/// A store that makes each call for itself.
private final class WithoutTransactions: ItemStore {
    private let memory = MemoryStore()
    private let seen = Mutex<[AuthenticationContext]>([])

    /// How many there were in requests since they were forgotten.
    var contexts: Int { seen.withLock { Set($0.map { ObjectIdentifier($0) }).count } }

    func forgetContexts() { seen.withLock { $0 = [] } }

    func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainError) -> SelectedItems {
        seen.withLock { $0.append(authorization.context) }
        return try memory.select(selection, limit: limit, includingValues: includingValues, authorization)
    }

    func insert(_ item: Item, _ authorization: Authorization) throws(KeychainError) -> StoredItem {
        try memory.insert(item, authorization)
    }

    func update(
        _ selection: Selection, _ authorization: Authorization, _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        seen.withLock { $0.append(authorization.context) }
        return try memory.update(selection, authorization, change)
    }

    func delete(_ selection: Selection, _ authorization: Authorization) throws(KeychainError) -> Int {
        try memory.delete(selection, authorization)
    }
}

private struct Structure: ItemStore {
    let memory: MemoryStore

    func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainError) -> SelectedItems {
        try memory.select(selection, limit: limit, includingValues: includingValues, authorization)
    }

    func insert(_ item: Item, _ authorization: Authorization) throws(KeychainError) -> StoredItem {
        try memory.insert(item, authorization)
    }

    func update(
        _ selection: Selection, _ authorization: Authorization, _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        try memory.update(selection, authorization, change)
    }

    func delete(_ selection: Selection, _ authorization: Authorization) throws(KeychainError) -> Int {
        try memory.delete(selection, authorization)
    }

    var hasTransactions: Bool { true }

    func transaction<Result>(
        _ authorization: Authorization, _ body: (any ItemOperations) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try memory.transaction(authorization, body)
    }
}
