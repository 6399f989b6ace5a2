// SPDX-License-Identifier: Apache-2.0
// Calls through the four functions that end before their change: it never happens afterwards.

import KeychainEngine
import KeychainKit
import KeychainSecItem
import KeychainTestSupport
import Testing

@Suite("Late changes through SecItem", .timeLimit(.minutes(60)))
struct LateChangeTests {
    enum Change: String, CaseIterable, Sendable {
        case save, create, update, remove, removeAll

        func run(_ store: SecretStore) async throws {
            switch self {
            case .save: try await store.save("late", for: "alice")
            case .create: try await store.create("late", for: "bob")
            case .update: try await store.update(String.self, for: "alice") { $0 = "late" }
            case .remove: try await store.remove(for: "alice")
            case .removeAll: try await store.removeAll()
            }
        }
    }

    @Test(arguments: Change.allCases)
    func change_thatTimedOut_neverHappens(_ change: Change) async throws {
        let held = try HeldVault()
        var store = SecretStore(service: "late", store: SecItemStore(over: held))
        try await store.save("before", for: "alice")
        try held.hold()
        store.timeout = Timeout(operation: .milliseconds(200))
        let hurried = store
        let error = await #expect(throws: KeychainError.self) { try await change.run(hurried) }
        #expect(error?.reason == .timedOut)
        #expect(held.letGo())
        store.timeout = nil
        let found = try await store.items().map(\.account)
        #expect(found == ["alice"])
        let value = try await store.read(String.self, for: "alice")
        #expect(value == "before")
    }
}
