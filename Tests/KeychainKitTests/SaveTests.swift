// SPDX-License-Identifier: Apache-2.0
// What saving does to an item that is there.

import Foundation
import KeychainEngine
import KeychainKit
import KeychainTestSupport
import Testing

@Suite("Saving over an item")
struct SaveTests {
    func store(_ kind: StoreKind) throws -> SecretStore {
        SecretStore(service: "app", store: try kind.empty(passphrase: "passphrase"))
    }

    @Test(arguments: StoreKind.allCases)
    func item_savedOver_staysTheSameItem(kind: StoreKind) throws {
        let store = try store(kind)
        try store.save("1", for: "alice", attributes: ItemAttributes(label: "A", comment: "kept"))
        let before = try #require(try store.item(for: "alice"))
        try store.save("2", for: "alice", attributes: ItemAttributes(label: "B"))
        let after = try #require(try store.item(for: "alice"))
        #expect(after.id == before.id && after.created == before.created)
        let (earlier, later) = (try #require(before.modified), try #require(after.modified))
        #expect(earlier < later)
        #expect(after.label == "B" && after.comment == "kept")
        #expect(try store.read(String.self, for: "alice") == "2")
    }

    @Test(arguments: StoreKind.allCases)
    func accessibility_savedOver_isApplied(kind: StoreKind) throws {
        var store = try store(kind)
        try store.save("1", for: "alice")
        store.accessibility = .afterFirstUnlock
        try store.save("2", for: "alice")
        #expect(try store.item(for: "alice")?.accessibility == .afterFirstUnlock)
    }

    @Test(arguments: StoreKind.allCases)
    func accessibility_notGiven_staysAsItIs(kind: StoreKind) throws {
        var store = try store(kind)
        store.accessibility = .afterFirstUnlock
        try store.save("1", for: "alice")
        store.accessibility = nil
        try store.save("2", for: "alice")
        #expect(try store.item(for: "alice")?.accessibility == .afterFirstUnlock)
    }

    @Test(arguments: StoreKind.allCases)
    func accessControl_savedOver_isApplied(kind: StoreKind) throws {
        var store = try store(kind)
        try store.save("1", for: "alice")
        store.accessControl = .userPresence
        try store.save("2", for: "alice")
        store.allowsInteraction = false
        let reason = reason { try store.read(String.self, for: "alice") }
        #expect(reason == .interactionNotAllowed)
    }

    @Test(arguments: StoreKind.allCases)
    func accessControl_notGiven_outlivesAnotherAccessibility(kind: StoreKind) throws {
        var store = try store(kind)
        store.accessControl = .userPresence
        try store.save("1", for: "alice")
        (store.accessControl, store.accessibility) = (nil, .afterFirstUnlock)
        store.context = AuthenticationContext { Person(passphrase: "passphrase") }
        try store.save("2", for: "alice")
        let item = try #require(try store.item(for: "alice"))
        #expect(item.accessibility == .afterFirstUnlock && item.accessControl == .userPresence)
    }

    @Test(arguments: StoreKind.allCases)
    func accessibility_notGiven_outlivesAnotherAccessControl(kind: StoreKind) throws {
        var store = try store(kind)
        store.accessibility = .afterFirstUnlock
        try store.save("1", for: "alice")
        (store.accessControl, store.accessibility) = (.userPresence, nil)
        store.context = AuthenticationContext { Person(passphrase: "passphrase") }
        try store.save("2", for: "alice")
        let item = try #require(try store.item(for: "alice"))
        #expect(item.accessibility == .afterFirstUnlock && item.accessControl == .userPresence)
    }

    @Test(arguments: StoreKind.allCases)
    func accessControl_empty_asksForNothingAnyMore(kind: StoreKind) throws {
        var store = try store(kind)
        store.accessControl = .userPresence
        try store.save("1", for: "alice")
        store.context = AuthenticationContext { Person(passphrase: "passphrase") }
        store.accessControl = []
        try store.save("2", for: "alice")
        (store.context, store.allowsInteraction) = (nil, false)
        #expect(try store.read(String.self, for: "alice") == "2")
    }

    @Test(arguments: StoreKind.allCases)
    func biometry_asked_storesNothing(kind: StoreKind) throws {
        var store = try store(kind)
        try store.save("1", for: "alice")
        store.accessControl = .biometryAny
        let reason = reason { try store.save("2", for: "alice") }
        #expect(reason == .unavailable)
        #expect(try store.read(String.self, for: "alice") == "1")
    }

    @Test(arguments: StoreKind.allCases)
    func account_createdTwice_isADuplicateAndKeepsTheFirst(kind: StoreKind) throws {
        let store = try store(kind)
        try store.create("1", for: "alice")
        let reason = reason { try store.create("2", for: "alice") }
        #expect(reason == .duplicateItem)
        #expect(try store.read(String.self, for: "alice") == "1")
    }

    @Test(arguments: StoreKind.allCases)
    func saveOver_whileLocked_isLockedAndKeepsTheValue(kind: StoreKind) throws {
        guard kind == .memory else { return }
        let memory = MemoryStore()
        let store = SecretStore(service: "app", store: memory)
        try store.save("1", for: "alice")
        memory.lockState = .locked
        let reason = reason { try store.save("2", for: "alice") }
        #expect(reason == .locked)
        memory.lockState = .unlocked
        #expect(try store.read(String.self, for: "alice") == "1")
    }
}
