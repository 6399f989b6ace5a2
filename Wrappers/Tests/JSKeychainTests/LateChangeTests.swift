// SPDX-License-Identifier: Apache-2.0
// Calls that are cancelled before their change: it never happens afterwards.

import JSKeychain
import Testing
import WrapperStores

@Suite("Late changes")
struct LateChangeTests {
    enum Change: String, CaseIterable, Sendable {
        case save, add, delete, deleteAll

        func run(_ keychain: JSKeychain) async throws {
            switch self {
            case .save: try await keychain.save("late", service: "app", account: "alice")
            case .add: try await keychain.save("late", service: "app", account: "bob")
            case .delete: try await keychain.delete(service: "app", account: "alice")
            case .deleteAll: try await keychain.deleteAllWithoutBlocking(service: "app")
            }
        }
    }

    @Test(arguments: Change.allCases)
    func change_thatWasCancelled_neverHappens(_ change: Change) async throws {
        let held = try HeldVault()
        let keychain = JSKeychain().using(held)
        try await keychain.save("before", service: "app", account: "alice")
        try held.hold()
        let task = Task { try await change.run(keychain) }
        #expect(await held.waitForChange())
        task.cancel()
        await #expect(throws: JSKeychainError.self) { try await task.value }
        #expect(held.letGo())
        let value: String = try await keychain.read(service: "app", account: "alice")
        #expect(value == "before")
        await #expect(throws: JSKeychainError.self) {
            let late: String = try await keychain.read(service: "app", account: "bob")
            Issue.record("found \(late)")
        }
    }
}
