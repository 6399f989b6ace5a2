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
    private typealias Stores = (either: EitherKindStore, local: SecretStore, synced: SecretStore)

    private func stores(_ kind: StoreKind) throws -> Stores { stores(over: try kind.empty(passphrase: "p")) }

    private func stores(over store: any ItemStore) -> Stores {
        let local = SecretStore(service: "app", store: store)
        var synced = local
        synced.synchronizable = true
        return (EitherKindStore(local), local, synced)
    }

    @Test(arguments: StoreKind.allCases)
    func item_ofEitherKind_isFoundChangedAndRemoved(kind: StoreKind) throws {
        let (either, local, synced) = try stores(kind)
        try synced.save("1", for: "alice")
        let id = try #require(try synced.item(for: "alice")?.id)
        try either.save("2", for: "alice")
        #expect(try either.contains(for: "alice") && either.read(String.self, for: "alice") == "2")
        #expect(try synced.items().map(\.id) == [id] && local.items().isEmpty)
        #expect(try either.remove(for: "alice") && synced.items().isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func newItem_isOfTheStoresOwnKind(kind: StoreKind) throws {
        let (either, local, synced) = try stores(kind)
        try either.save("1", for: "alice")
        try EitherKindStore(synced).save("1", for: "bob")
        #expect(try local.items().map(\.account) == ["alice"] && synced.items().map(\.account) == ["bob"])
    }

    @Test(arguments: StoreKind.everywhere)
    func itemsOfBothKinds_areReadByTheOwnKindFirstAndBecomeOne(kind: StoreKind) throws {
        let (either, local, synced) = try stores(kind)
        try local.save("1", for: "alice")
        try synced.save("2", for: "alice")
        #expect(try either.read(String.self, for: "alice") == "1")
        try either.save("3", for: "alice")
        #expect(try local.read(String.self, for: "alice") == "3" && synced.items().isEmpty)
    }

    /// The only item of a name; what else is found with it might require the user.
    @Test(arguments: [false, true])
    func item_ofEitherKind_readAgain_isNotSearchedFor(isSynchronizable: Bool) throws {
        let store = RecordingStore(try TemporaryVault())
        let (either, local, synced) = stores(over: store)
        try (isSynchronizable ? synced : local).save("1", for: "alice")
        try readUntilRepeated(either, "alice", "1", store)
    }

    @Test func item_ofEitherKind_readAgainWithoutBlocking_isNotSearchedFor() async throws {
        let store = RecordingStore(try TemporaryVault())
        let (either, local, _) = stores(over: store)
        try await local.save("1", for: "alice")
        for _ in 1...100 where store.repeated == 0 {
            #expect(try await either.read(String.self, for: "alice") == "1")
        }
        #expect(store.repeated == 1)
    }

    @Test func itemOfTheOtherKind_afterOneOfTheOwnKindCame_isNotReadAgain() throws {
        let store = RecordingStore(try TemporaryVault())
        let (either, local, synced) = stores(over: store)
        try synced.save("other", for: "alice")
        try readUntilRepeated(either, "alice", "other", store)
        try local.save("own", for: "alice")
        #expect(try either.read(String.self, for: "alice") == "own")
    }

    /// Both would have the same name, if the kind were not part of it.
    @Test func itemOfTheOtherKind_readAgain_isNotOneOfAStoreOfOneKind() throws {
        let store = RecordingStore(try TemporaryVault())
        let (either, local, synced) = stores(over: store)
        try synced.save("1", for: "alice")
        try readUntilRepeated(either, "alice", "1", store)
        #expect(try local.read(String.self, for: "alice") == nil)
    }

    /// What is found later than the next check of the files is not remembered.
    private func readUntilRepeated(
        _ either: EitherKindStore, _ account: String, _ value: String, _ store: RecordingStore
    ) throws {
        for _ in 1...100 where store.repeated == 0 { #expect(try either.read(String.self, for: account) == value) }
        #expect(store.repeated == 1)
    }

    @Test(arguments: StoreKind.everywhere)
    func update_changesTheItemThatExists_whicheverKindItIs(kind: StoreKind) throws {
        let (either, local, synced) = try stores(kind)
        try synced.save(1, for: "alice")
        try local.save(1, for: "bob")
        try either.update(Int.self, for: "alice") { $0? += 1 }
        try EitherKindStore(synced).update(Int.self, for: "bob") { $0? += 1 }
        #expect(try synced.items().map(\.account) == ["alice"] && local.items().map(\.account) == ["bob"])
        #expect(try synced.read(Int.self, for: "alice") == 2 && local.read(Int.self, for: "bob") == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func name_inSeveralGroupsButNotTheDefaultOne_isAmbiguous(kind: StoreKind) throws {
        var (either, local, synced) = try stores(kind)
        (local.accessGroup, synced.accessGroup) = ("one", "two")
        try local.save("1", for: "alice")
        try synced.save("2", for: "alice")
        #expect(reason { try either.save("3", for: "alice") } == .duplicateItem)
        var localInTwo = local
        localInTwo.accessGroup = "two"
        either = EitherKindStore(localInTwo)
        try either.save("3", for: "alice")
        #expect(try local.read(String.self, for: "alice") == "1" && synced.read(String.self, for: "alice") == "3")
    }

    /// Saving without a word on protection takes none away, whichever item is the store's own.
    @Test(arguments: StoreKind.allCases)
    func protectedItem_besideASynchronizableOne_staysWhenBothBecomeOne(kind: StoreKind) throws {
        var (_, local, synced) = try stores(kind)
        let person = Person(passphrase: "p")
        local.accessControl = .userPresence
        try local.save("1", for: "alice")
        try synced.save("2", for: "alice")
        local.context = AuthenticationContext { person }
        synced.context = local.context
        let either = EitherKindStore(synced)
        try either.save("3", for: "alice")
        #expect(try synced.items().isEmpty && local.item(for: "alice")?.accessControl == .userPresence)
        #expect(try either.read(String.self, for: "alice") == "3" && person.questions.count == 1)
    }

    @Test func callOnItemsOfBothKinds_asksWithOneContext() throws {
        let store = ContextStore()
        let (either, local, synced) = stores(over: store)
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
        let (_, _, synced) = stores(over: store)
        let either = EitherKindStore(
            SecretStore(service: "app", accessibility: .whenUnlockedThisDeviceOnly, store: store))
        try synced.save("1", for: "alice")
        try either.save("2", for: "alice")
        #expect(try synced.items().isEmpty && either.read(String.self, for: "alice") == "2")
    }

    /// Between the search and the adding.
    @Test func storeWithoutTransactions_whereAnotherProgramAddsTheItem_savesOverIt() throws {
        let store = InterruptedStore()
        let (either, local, _) = stores(over: store)
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
