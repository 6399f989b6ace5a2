// SPDX-License-Identifier: Apache-2.0
// Calls that end before their change: it never happens afterwards.

import Foundation
import KeychainEngine
import KeychainTestSupport
import Testing

@testable import KeychainKit

/// Something that writes to a store in which `alice` has the value "before".
enum LateChange: String, CaseIterable, Sendable {
    case save, create, update, remove, removeAll, transaction, move, catalogRemove, catalogRemoveAll

    func run(_ store: SecretStore) async throws {
        switch self {
        case .save: try await store.save("late", for: "alice")
        case .create: try await store.create("late", for: "bob")
        case .update: try await store.update(String.self, for: "alice") { $0 = "late" }
        case .remove: try await store.remove(for: "alice")
        case .removeAll: try await store.removeAll()
        case .transaction:
            try await store.transaction { transaction in
                guard try await transaction.contains(for: "alice") else { return }
                try transaction.save("late", for: "alice")
                try transaction.save("late", for: "bob")
            }
        case .move: try await store.move(to: SecretStore(service: "elsewhere", store: store.backing.engine.store))
        case .catalogRemove: try await catalog(store).remove(item(store))
        case .catalogRemoveAll: try await catalog(store).removeAll(matching: .all)
        }
    }

    func runOnThisThread(_ store: SecretStore) throws {
        switch self {
        case .save: try store.save("late", for: "alice")
        case .create: try store.create("late", for: "bob")
        case .update: try store.update(String.self, for: "alice") { $0 = "late" }
        case .remove: try store.remove(for: "alice")
        case .removeAll: try store.removeAll()
        case .transaction:
            try store.transaction { transaction in
                try transaction.save("late", for: "alice")
                try transaction.save("late", for: "bob")
            }
        case .move: try store.move(to: SecretStore(service: "elsewhere", store: store.backing.engine.store))
        case .catalogRemove: try catalog(store).remove(item(store))
        case .catalogRemoveAll: try catalog(store).removeAll(matching: .all)
        }
    }

    private func catalog(_ store: SecretStore) -> KeychainCatalog {
        var catalog = KeychainCatalog(store.backing)
        catalog.timeout = store.timeout
        return catalog
    }

    /// Found without a timeout, so that only the change can time out.
    private func item(_ store: SecretStore) throws -> KeychainItem {
        try #require(KeychainCatalog(store.backing).items([.genericPassword]).first)
    }
}

@Suite("Late changes", .timeLimit(.minutes(60)))
struct LateChangeTests {
    private let held: HeldVault
    private let store: SecretStore

    init() throws {
        held = try HeldVault()
        store = SecretStore(service: "late", store: held)
        try store.save("before", for: "alice")
        try held.hold()
    }

    /// After the lock was given up, and everything that waited for it has ended.
    private func expectNothingHappened() throws {
        #expect(held.letGo())
        #expect(try store.items().map(\.account) == ["alice"])
        #expect(try store.read(String.self, for: "alice") == "before")
        try store.save("after", for: "alice")
        #expect(try store.read(String.self, for: "alice") == "after")
    }

    @Test(arguments: LateChange.allCases)
    func change_thatTimedOut_neverHappens(_ change: LateChange) async throws {
        var hurried = store
        hurried.timeout = Timeout(operation: .milliseconds(100))
        let result = await reason { [hurried] in try await change.run(hurried) }
        #expect(result == .timedOut)
        try expectNothingHappened()
    }

    @Test(arguments: LateChange.allCases)
    func synchronousChange_thatTimedOut_neverHappens(_ change: LateChange) throws {
        var hurried = store
        hurried.timeout = Timeout(operation: .milliseconds(100))
        #expect(reason { try change.runOnThisThread(hurried) } == .timedOut)
        try expectNothingHappened()
    }

    @Test(arguments: LateChange.allCases)
    func change_thatWasCancelled_neverHappens(_ change: LateChange) async throws {
        var patient = store
        patient.timeout = Timeout(operation: .seconds(600))
        let task = Task { [patient] in await reason { try await change.run(patient) } }
        #expect(await waitForChange())
        task.cancel()
        #expect(await task.value == .cancelled)
        try expectNothingHappened()
    }

    /// Not on a thread of Swift's pool, where the change may have to begin.
    private func waitForChange() async -> Bool {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [held] in continuation.resume(returning: held.waitForChange()) }
        }
    }
}
