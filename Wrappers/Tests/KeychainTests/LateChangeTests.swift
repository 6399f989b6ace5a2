// SPDX-License-Identifier: Apache-2.0
// Calls that end because another program keeps the lock: their change never happens afterwards.

import Keychain
import Testing
import WrapperStores

@Suite("Late changes of one text")
struct LateChangeTests {
    enum Change: String, CaseIterable, Sendable {
        case create, replace, remove, delete

        func run(_ token: ValueKeychainStore, _ other: ValueKeychainStore) throws {
            switch self {
            case .create: try other.set("late")
            case .replace: try token.set("late")
            case .remove: try token.set(nil as String?)
            case .delete: try token.delete()
            }
        }
    }

    /// A store has no timeout of its own; the vault's ends its calls.
    @Test(arguments: Change.allCases)
    func change_thatDidNotGetTheLockInTime_neverHappens(_ change: Change) throws {
        let held = try HeldVault(writerTimeout: .milliseconds(100))
        let token = ValueKeychainStore(accountName: "token").using(held)
        let other = ValueKeychainStore(accountName: "other").using(held)
        try token.set("before")
        try held.hold()
        #expect(throws: Keychain.KeychainError.self) { try change.run(token, other) }
        #expect(held.letGo())
        #expect(try token.get() == "before")
        #expect(try other.get() == nil)
    }
}
