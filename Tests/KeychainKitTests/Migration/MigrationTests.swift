// SPDX-License-Identifier: Apache-2.0
// Values of older types, and items that move.

import Foundation
import KeychainKit
import Testing

@Suite("Migration")
struct MigrationTests {
    private let memory = MemoryStore(passphrase: "p")
    private var store: SecretStore { SecretStore(service: "app", store: memory) }

    private struct Login: Codable, Equatable {
        var user: String
        var password: String
        var version = 3
    }

    private struct OldLogin: Codable {
        var name: String
        var password: String
    }

    private let migration = SecretMigration(to: Login.self)
        .from(OldLogin.self) { Login(user: $0.name, password: $0.password) }
        .from(String.self) { text in
            guard !text.isEmpty else { throw Refused() }
            return Login(user: "unknown", password: text)
        }

    private struct Refused: Error {}

    // MARK: - Types

    @Test func valueOfTheNewestType_read_isLeftAsItIs() throws {
        try store.save(Login(user: "alice", password: "x"), for: "alice")
        let before = try store.item(for: "alice")
        #expect(try store.read(migration, for: "alice") == Login(user: "alice", password: "x"))
        #expect(try store.item(for: "alice") == before)
    }

    @Test func valueOfAnOlderType_read_isSavedAsTheNewest() throws {
        try store.save(OldLogin(name: "alice", password: "x"), for: "alice")
        #expect(try store.read(migration, for: "alice") == Login(user: "alice", password: "x"))
        #expect(try store.read(Login.self, for: "alice") == Login(user: "alice", password: "x"))
    }

    @Test func valueOfTheOldestType_readWithoutBlocking_isSavedAsTheNewest() async throws {
        try await store.save("x", for: "alice")
        let read = try await store.read(migration, for: "alice")
        #expect(read == Login(user: "unknown", password: "x"))
        #expect(try await store.read(Login.self, for: "alice") == read)
    }

    @Test func noValue_read_isNil() throws {
        #expect(try store.read(migration, for: "alice") == nil)
    }

    @Test func valueOfNoType_read_isAnErrorAndStays() throws {
        let bytes = Data([0xFF, 0xFE])
        try store.save(bytes, for: "alice")
        let result = reason { try store.read(migration, for: "alice") }
        #expect(result == .typeMismatch)
        #expect(try store.read(Data.self, for: "alice") == bytes)
    }

    @Test func conversionThatThrows_comesOut_andTheValueStays() throws {
        try store.save("", for: "alice")
        #expect(throws: Refused.self) { try store.read(migration, for: "alice") }
        #expect(try store.read(String.self, for: "alice") == "")
    }

    @Test func lockedValue_read_isLockedAndNotMissing() throws {
        try store.save("x", for: "alice")
        memory.lockState = .locked
        let result = reason { try store.read(migration, for: "alice") }
        #expect(result == .locked)
    }

    // MARK: - Places

    @Test func items_moved_haveTheNewServiceAndAllElseOfTheOld() throws {
        try store.save("1", for: "alice", attributes: ItemAttributes(label: "A"))
        try store.save("2", for: "bob")
        let before = try #require(try store.item(for: "alice"))
        let other = SecretStore(service: "new", store: memory)
        #expect(try store.move(to: other) == 2)
        #expect(try store.items().isEmpty)
        let after = try #require(try other.item(for: "alice"))
        #expect(after.id == before.id && after.label == "A" && after.created == before.created)
        #expect(try other.read(String.self, for: "bob") == "2")
    }

    @Test func items_movedToATakenName_stayAllWhereTheyAre() throws {
        try store.save("1", for: "alice")
        try store.save("2", for: "bob")
        let other = SecretStore(service: "new", store: memory)
        try other.save("3", for: "bob")
        let result = reason { try store.move(to: other) }
        #expect(result == .duplicateItem)
        #expect(try store.items().count == 2)
        #expect(try other.read(String.self, for: "bob") == "3")
    }

    @Test func items_movedToAnotherClass_haveIt() throws {
        try store.save("1", for: "alice")
        var other = store
        other.accessibility = .afterFirstUnlock
        try store.move(to: other)
        #expect(try store.item(for: "alice")?.accessibility == .afterFirstUnlock)
    }

    @Test func items_movedToAnotherGroup_areThere() throws {
        try store.save("1", for: "alice")
        var other = store
        other.accessGroup = "shared"
        try store.move(to: other)
        #expect(try other.item(for: "alice")?.accessGroup == "shared")
    }

    @Test func items_movedToAnotherKeychain_areNot() throws {
        try store.save("1", for: "alice")
        let result = reason { try store.move(to: SecretStore(service: "app", store: MemoryStore())) }
        #expect(result == .unsupported)
        #expect(try store.items().count == 1)
    }
}
