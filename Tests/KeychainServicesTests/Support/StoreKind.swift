// SPDX-License-Identifier: Apache-2.0
// Fresh services over each of the stores that every rule is held against.

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport

extension StoreKind {
    /// Services over a fresh, empty store; the caller may use the groups `test` and `test2` unless told otherwise.
    func services(
        dialect: Engine.Dialect = .lenient, groups: [String] = ["test", "test2"],
        now: @escaping @Sendable () -> Date = { Date() }
    ) throws -> Services {
        let engine = Engine(store: try empty(), dialect: dialect, now: now)
        return Services(engine: engine, accessGroups: AccessGroups(groups))
    }

    /// A fresh, empty store that knows a passphrase.
    func store(passphrase: String) throws -> any LockableStore {
        guard let store = try empty(passphrase: passphrase) as? any LockableStore else {
            throw CocoaError(.featureUnsupported)
        }
        return store
    }
}

extension Services {
    /// The same store, asked by a program with other access groups.
    func with(groups: [String]) -> Services {
        Services(engine: engine, accessGroups: AccessGroups(groups))
    }

    /// The same store, asked in another dialect.
    func with(dialect: Engine.Dialect) -> Services {
        Services(engine: Engine(store: engine.store, dialect: dialect), accessGroups: accessGroups)
    }
}
