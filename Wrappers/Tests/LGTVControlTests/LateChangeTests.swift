// SPDX-License-Identifier: Apache-2.0
// Calls that end because another program keeps the lock: their change never happens afterwards.

import LGTVControl
import Testing
import WrapperStores

@Suite("Late changes of the keychain manager")
struct LateChangeTests {
    enum Change: String, CaseIterable, Sendable {
        case save, replace, delete

        func run(_ keychain: KeychainManager) throws {
            switch self {
            case .save: try keychain.save(TVCredentials.kitchen, service: "app", account: "other")
            case .replace: try keychain.save(TVCredentials.kitchen, service: "app", account: "one")
            case .delete: try keychain.delete(service: "app", account: "one")
            }
        }
    }

    /// A keychain manager has no timeout of its own; the vault's ends its calls.
    @Test(arguments: Change.allCases)
    func change_thatDidNotGetTheLockInTime_neverHappens(_ change: Change) throws {
        let held = try HeldVault(writerTimeout: .milliseconds(100))
        let keychain = KeychainManager().using(held)
        try keychain.save(TVCredentials.living, service: "app", account: "one")
        try held.hold()
        #expect(throws: (any Error).self) { try change.run(keychain) }
        #expect(held.letGo())
        #expect(try keychain.load(TVCredentials.self, service: "app", account: "one") == .living)
        #expect(try keychain.load(TVCredentials.self, service: "app", account: "other") == nil)
    }
}
