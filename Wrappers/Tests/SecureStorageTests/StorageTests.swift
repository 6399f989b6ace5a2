// SPDX-License-Identifier: Apache-2.0
// What the storage stores, its items in the keychain, and its errors.

import Foundation
import KeychainEngine
@_spi(Wrappers) import KeychainKit
import KeychainTesting
import SecureStorage
import Testing
import WrapperStores

@Suite("Secure storage")
struct StorageTests {
    struct Login: Codable, Equatable, Sendable {
        var user: String
        var tokens: [String: [Date]]
    }

    /// The item of a key, as other programs find it.
    func item(_ key: String, in store: any ItemStore) throws -> KeychainItem? {
        try SecretStore(service: "app", store: store).item(for: key)
    }

    func storage(_ store: any ItemStore) -> KeychainSecureStorage {
        KeychainSecureStorage(service: "app").using(store)
    }

    // MARK: - Values

    @Test(arguments: StoreKind.everywhere)
    func anyCodable_savedAndLoaded_isTheSame(kind: StoreKind) async throws {
        let storage = storage(try kind.empty())
        let login = Login(user: "älice\n", tokens: ["a": [Date(timeIntervalSince1970: 1.5)], "b": []])
        try await storage.save(login, for: "login")
        #expect(try await storage.load(for: "login") == login)
        try await storage.save("", for: "empty")
        #expect(try await storage.load(for: "empty") == "")
        try await storage.save(Data([0, 255]), for: "key")
        #expect(try await storage.load(for: "key") == Data([0, 255]))
        try await storage.save([Login](), for: "list")
        #expect(try await storage.load(for: "list") == [Login]())
        let long = String(repeating: "a", count: 10_000)
        try await storage.save(long, for: "long")
        #expect(try await storage.load(for: "long") == long)
    }

    @Test(arguments: StoreKind.everywhere)
    func value_savedOverAnother_takesItsPlace(kind: StoreKind) async throws {
        let store = try kind.empty()
        let storage = storage(store)
        try await storage.save("old", for: "token")
        let old = try #require(try item("token", in: store))
        try await storage.save("new", for: "token")
        #expect(try await storage.load(for: "token") == "new")
        // In place: it is the same item still.
        #expect(try item("token", in: store)?.persistentReference == old.persistentReference)
    }

    @Test func absentKey_loadedAndDeleted_isNoError() async throws {
        let storage = storage(MemoryStore())
        let absent: String? = try await storage.load(for: "token")
        #expect(absent == nil)
        try await storage.delete(for: "token")
        #expect(!storage.exists(for: "token"))
        #expect(storage.lastFailure == nil)
    }

    @Test func absentKey_thatHasToBeThere_isNotFound() async throws {
        let storage = storage(MemoryStore())
        await #expect(throws: SecureStorageError.notFound) { try await storage.value(String.self, for: "apiKey") }
        try await storage.save("s3cret", for: "apiKey")
        #expect(try await storage.value(for: "apiKey") == "s3cret")
    }

    @Test func keys_thatDifferInCase_areTwo() async throws {
        let storage = storage(MemoryStore())
        try await storage.save("one", for: "Token")
        try await storage.save("two", for: "token")
        #expect(try await storage.load(for: "Token") == "one")
    }

    // MARK: - In the keychain

    @Test(arguments: StoreKind.everywhere)
    func item_ofAKey_liesAsJSONAndOpensAfterTheFirstUnlock(kind: StoreKind) async throws {
        let store = try kind.empty()
        try await storage(store).save("s3cret", for: "token")
        let item = try #require(try item("token", in: store))
        #expect(item.accessibility == .afterFirstUnlock)
        let bytes = try await SecretStore(service: "app", store: store).read(Data.self, for: "token")
        #expect(bytes == Data(#""s3cret""#.utf8))
    }

    /// The original updated the value alone, and left an item as open, or as closed, as it was.
    @Test(arguments: StoreKind.everywhere)
    func item_savedWithAnotherAccessibility_getsTheStoragesWithTheNextSaving(kind: StoreKind) async throws {
        let store = try kind.empty()
        try await SecretStore(service: "app", accessibility: .whenUnlocked, store: store).save("old", for: "token")
        try await storage(store).save("new", for: "token")
        #expect(try item("token", in: store)?.accessibility == .afterFirstUnlock)
    }

    @Test func item_withoutAService_liesUnderTheProgramsName() async throws {
        let store = MemoryStore()
        try await KeychainSecureStorage.shared.using(store).save("s3cret", for: "token")
        let services = try await KeychainCatalog(store: store).items().map(\.service)
        #expect(services == [Bundle.main.bundleIdentifier ?? Bundle.main.executableURL?.lastPathComponent])
    }

    @Test func storages_ofTwoServices_doNotMeet() async throws {
        let store = MemoryStore()
        try await storage(store).save("one", for: "token")
        let other = KeychainSecureStorage(service: "other").using(store)
        #expect(!other.exists(for: "token"))
        try await other.delete(for: "token")
        #expect(storage(store).exists(for: "token"))
    }

    @Test func storage_withAnAccessGroup_keepsItsItemsThere() async throws {
        let store = MemoryStore()
        let shared = KeychainSecureStorage(service: "app", accessGroup: "TEAM.shared").using(store)
        try await shared.save("s3cret", for: "token")
        #expect(try item("token", in: store)?.accessGroup == "TEAM.shared")
        let stranger = KeychainSecureStorage(service: "app").using(store, accessGroups: AccessGroups(["TEAM.other"]))
        #expect(!stranger.exists(for: "token"))
    }

    // MARK: - Threads

    /// An actor around a call that blocks would block a thread of all other tasks.
    @Test func storage_thatDoesNotAnswer_leavesOtherTasksTheirThreads() async throws {
        let store = ScriptedStore()
        store.fail(.neverAnswers, .every)
        let storage = storage(store)
        let waiting = (1...64).map { _ in
            Task { () async -> Bool in
                do {
                    let _: String? = try await storage.load(for: "token")
                    return false
                } catch { return true }
            }
        }
        // With all threads blocked this would never run.
        await Task.detached {}.value
        for task in waiting { task.cancel() }
        for task in waiting { #expect(await task.value) }
        store.release()
    }

    @Test(arguments: StoreKind.everywhere)
    func storage_usedByManyTasks_losesNothing(kind: StoreKind) async throws {
        let storage = storage(try kind.empty())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...20 {
                group.addTask { try await storage.save(number, for: "key \(number)") }
                group.addTask { try await storage.save(number, for: "all") }
            }
            try await group.waitForAll()
        }
        for number in 1...20 { #expect(try await storage.load(for: "key \(number)") == number) }
        let last: Int? = try await storage.load(for: "all")
        #expect(last != nil)
    }
}
