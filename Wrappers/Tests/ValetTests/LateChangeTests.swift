// SPDX-License-Identifier: Apache-2.0
// Calls that end because another program keeps the lock: their change never happens afterwards.

import KeychainEngine
import Testing
import Valet
import WrapperStores

@Suite("Late changes of a valet")
struct LateChangeTests {
    enum Change: String, CaseIterable, Sendable {
        case set, replace, remove, removeAll

        func run(_ valet: Valet) throws {
            switch self {
            case .set: try valet.setString("late", forKey: "other")
            case .replace: try valet.setString("late", forKey: "token")
            case .remove: try valet.removeObject(forKey: "token")
            case .removeAll: try valet.removeAllObjects()
            }
        }
    }

    /// A valet has no timeout of its own; the vault's ends its calls.
    @Test(arguments: Change.allCases)
    func change_thatDidNotGetTheLockInTime_neverHappens(_ change: Change) throws {
        let held = try HeldVault(writerTimeout: .milliseconds(100))
        let valet = try valet(held)
        try valet.setString("before", forKey: "token")
        try held.hold()
        #expect(keychainError { try change.run(valet) } != nil)
        #expect(held.letGo())
        #expect(try content(valet) == ["token": "before"])
    }
}
