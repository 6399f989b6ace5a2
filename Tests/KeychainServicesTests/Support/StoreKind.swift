// SPDX-License-Identifier: Apache-2.0
// The stores that every rule is held against, and fresh services over each.

import Foundation
import KeychainEngine
import KeychainServices

/// A store to run the same tests on.
enum StoreKind: String, CaseIterable, Sendable {
    case memory

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
