// SPDX-License-Identifier: Apache-2.0
// The stores that every rule is held against, and fresh services over each.

import Foundation
import KeychainEngine
import KeychainServices
import KeychainVault

/// A store to run the same tests on.
enum StoreKind: String, CaseIterable, Sendable {
    case memory, vault

    /// Services over a fresh, empty store; the caller may use the groups `test` and `test2` unless told otherwise.
    func services(
        dialect: Engine.Dialect = .lenient, groups: [String] = ["test", "test2"],
        now: @escaping @Sendable () -> Date = { Date() }
    ) throws -> Services {
        let engine = Engine(store: try emptyStore(), dialect: dialect, now: now)
        return Services(engine: engine, caller: Caller(groups: groups))
    }

    private func emptyStore() throws -> any ItemStore {
        switch self {
        case .memory: MemoryStore()
        case .vault: try TemporaryVault()
        }
    }

    /// A fresh, empty store that knows a passphrase.
    func store(passphrase: String) throws -> any LockableStore {
        switch self {
        case .memory:
            return MemoryStore(passphrase: passphrase)
        case .vault:
            let vault = try TemporaryVault()
            try vault.setPassphrase(passphrase)
            return vault
        }
    }
}

extension Services {
    /// The same store, asked by a program with other access groups.
    func with(groups: [String]) -> Services {
        Services(engine: engine, caller: Caller(groups: groups))
    }

    /// The same store, asked in another dialect.
    func with(dialect: Engine.Dialect) -> Services {
        Services(engine: Engine(store: engine.store, dialect: dialect), caller: caller)
    }
}
