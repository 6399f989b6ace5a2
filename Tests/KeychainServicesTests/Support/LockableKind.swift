// SPDX-License-Identifier: Apache-2.0
// Stores that can be locked, and services over each.

import KeychainEngine
import KeychainServices
import KeychainTestSupport
import KeychainVault

/// A keychain with a passphrase, and the way to put it into each state.
struct LockableKeychain: Sendable {
    let services: Services
    private let setState: @Sendable (LockState) throws -> Void

    fileprivate init(
        _ store: any ItemStore, _ groups: [String], setState: @escaping @Sendable (LockState) throws -> Void
    ) {
        services = Services(engine: Engine(store: store), accessGroups: AccessGroups(groups))
        self.setState = setState
    }

    func enter(_ state: LockState) throws { try setState(state) }
}

/// A store to run the same tests on.
enum LockableKind: String, CaseIterable, Sendable {
    case memory, vault

    private static let passphrase = "correct horse battery"

    /// A keychain that is unlocked.
    func keychain(groups: [String] = ["test", "test2"]) throws -> LockableKeychain {
        switch self {
        case .memory:
            let store = MemoryStore(passphrase: Self.passphrase)
            return LockableKeychain(store, groups) { store.lockState = $0 }
        case .vault:
            // The closure keeps the vault's folder for as long as the keychain.
            let lockable = try LockableVault(passphrase: Self.passphrase, unlockCache: .kernel)
            return LockableKeychain(lockable.vault, groups) { try lockable.setLockState($0) }
        }
    }
}
