// SPDX-License-Identifier: Apache-2.0
// One item of a name, whether it is synchronizable or not; and lists that do not ask the user.

import Foundation
import KeychainEngine
@_spi(Wrappers) import KeychainKit
import KeychainTestSupport
import Synchronization
import Testing

@Suite("Items of either kind")
struct KindsTests {
    private func stores(_ kind: StoreKind) throws -> (either: SecretStore, local: SecretStore, synced: SecretStore) {
        let store = try kind.empty(passphrase: "p")
        let local = SecretStore(service: "app", store: store)
        var (either, synced) = (local, local)
        (either.options.synchronizableAny, synced.synchronizable) = (true, true)
        return (either, local, synced)
    }

    @Test(arguments: StoreKind.allCases)
    func item_ofEitherKind_isFoundChangedAndRemoved(kind: StoreKind) throws {
        let (either, _, synced) = try stores(kind)
        try synced.save("1", for: "alice")
        let id = try #require(try synced.item(for: "alice")?.id)
        try either.save("2", for: "alice")
        #expect(try either.item(for: "alice")?.id == id && either.contains(for: "alice"))
        #expect(try either.read(String.self, for: "alice") == "2" && either.items().map(\.id) == [id])
        #expect(try either.remove(for: "alice") && synced.items().isEmpty)
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
        let person = Person(passphrase: "p")
        (local.accessControl, either.synchronizable) = (.userPresence, true)
        either.context = AuthenticationContext { person }
        try local.save("1", for: "alice")
        try synced.save("2", for: "alice")
        try either.save("3", for: "alice")
        #expect(try synced.items().isEmpty && either.item(for: "alice")?.accessControl == .userPresence)
        #expect(try either.read(String.self, for: "alice") == "3" && person.questions.count == 1)
    }

    @Test func callOnItemsOfBothKinds_asksWithOneContext() throws {
        let store = ContextStore()
        let local = SecretStore(service: "app", store: store)
        var (either, synced) = (local, local)
        (either.options.synchronizableAny, synced.synchronizable) = (true, true)
        try local.save("1", for: "alice")
        try synced.save("2", for: "alice")
        store.forgetContexts()
        _ = try either.read(String.self, for: "alice")
        #expect(store.contexts == 1)
        store.forgetContexts()
        try either.save("3", for: "alice")
        #expect(store.contexts == 1)
    }

    /// Each worker queue keeps threads.
    @Test func chosenStore_thatIsAStructure_hasOneWorkerQueue() throws {
        let keychain = ChosenKeychain(Structure(memory: MemoryStore()))
        let (one, other) = (keychain.secrets(service: "one"), keychain.secrets(service: "other"))
        try one.transaction { transaction in try transaction.in(other).save("1", for: "alice") }
        #expect(try other.read(String.self, for: "alice") == "1")
    }

    /// As in Apple's keychain.
    @Test func store_withoutTransactions_keepsTheNewValueAndOneItem() throws {
        let store = InterruptedStore()
        var either = SecretStore(service: "app", accessibility: .whenUnlockedThisDeviceOnly, store: store)
        var synced = SecretStore(service: "app", store: store)
        (either.options.synchronizableAny, synced.synchronizable) = (true, true)
        try synced.save("1", for: "alice")
        try either.save("2", for: "alice")
        #expect(try synced.items().isEmpty && either.read(String.self, for: "alice") == "2")
    }

    /// Between the search and the adding.
    @Test func storeWithoutTransactions_whereAnotherProgramAddsTheItem_savesOverIt() throws {
        let store = InterruptedStore()
        let local = SecretStore(service: "app", store: store)
        var either = local
        either.options.synchronizableAny = true
        store.interrupt { try local.save("theirs", for: "alice") }
        try either.save("mine", for: "alice")
        #expect(try local.items().count == 1 && local.read(String.self, for: "alice") == "mine")
    }

    @Test(arguments: StoreKind.allCases)
    func listingEntries_showNamesOfProtectedItems(kind: StoreKind) async throws {
        let store = try kind.empty(passphrase: "p")
        var secrets = SecretStore(service: "app", store: store)
        try await secrets.save("1", for: "alice")
        secrets.accessControl = .userPresence
        try await secrets.save("2", for: "bob")
        let catalog = KeychainCatalog(store: store)
        let seen = try await catalog.listingEntries(.genericPassword, matching: ItemFilter(service: "app"))
        let dates = Dictionary(uniqueKeysWithValues: seen.map { ($0.account, $0.created != nil) })
        #expect(dates == ["alice": true, "bob": false])
        let none = try await catalog.listingEntries(.genericPassword, matching: ItemFilter(service: "other"))
        #expect(none.isEmpty)
    }

    @Test func listingEntries_whileLocked_areLocked() throws {
        let memory = MemoryStore()
        try SecretStore(service: "app", store: memory).save("1", for: "alice")
        memory.lockState = .locked
        let failure = reason { try KeychainCatalog(store: memory).listingEntries(.genericPassword, matching: .all) }
        #expect(failure == .locked)
    }
}

/// A store that counts the contexts of requests.
private final class ContextStore: StoreOverMemory {
    let memory = MemoryStore()
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

    func update(
        _ selection: Selection, _ authorization: Authorization, _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        seen.withLock { $0.append(authorization.context) }
        return try memory.update(selection, authorization, change)
    }
}

private struct Structure: StoreOverMemory, TransactionalStore {
    let memory: MemoryStore

    func transaction<Result>(
        _ authorization: Authorization, _ body: (any ItemOperations) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try memory.transaction(authorization, body)
    }
}
