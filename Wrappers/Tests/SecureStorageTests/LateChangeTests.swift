// SPDX-License-Identifier: Apache-2.0
// Calls that are cancelled before their change: it never happens afterwards.

import SecureStorage
import Testing
import WrapperStores

@Suite("Late changes of secure storage")
struct LateChangeTests {
    enum Change: String, CaseIterable, Sendable {
        case save, replace, delete

        func run(_ storage: KeychainSecureStorage) async throws {
            switch self {
            case .save: try await storage.save("late", for: "other")
            case .replace: try await storage.save("late", for: "token")
            case .delete: try await storage.delete(for: "token")
            }
        }
    }

    @Test(arguments: Change.allCases)
    func change_thatWasCancelled_neverHappens(_ change: Change) async throws {
        let held = try HeldVault()
        let storage = KeychainSecureStorage(service: "app").using(held)
        try await storage.save("before", for: "token")
        try held.hold()
        let task = Task { try await change.run(storage) }
        #expect(await held.waitForChange())
        task.cancel()
        await #expect(throws: SecureStorageError.self) { try await task.value }
        #expect(held.letGo())
        #expect(try await storage.load(for: "token") == "before")
        #expect(try await storage.load(for: "other") == String?.none)
    }
}
