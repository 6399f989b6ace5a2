// SPDX-License-Identifier: Apache-2.0
// Stores that lack something: room on the disk, transactions, leave to remove.

import Foundation
import KeychainEngine
import Synchronization

/// A store that refuses what it is told to refuse.
final class FailingStore: ItemStore {
    struct Refusals {
        var writes = false
        /// How many removals still succeed.
        var removals = Int.max
        /// What somebody else does before the next transaction, or before the next item is added.
        var interference: (@Sendable () -> Void)?
        /// How many items can still be added.
        var room = Int.max
    }

    let hasTransactions: Bool
    private let store: any ItemStore
    private let refusals = Mutex(Refusals())

    init(_ store: any ItemStore, hasTransactions: Bool = true) {
        (self.store, self.hasTransactions) = (store, hasTransactions)
    }

    var failsWrites: Bool {
        get { refusals.withLock { $0.writes } }
        set { refusals.withLock { $0.writes = newValue } }
    }

    /// How many removals still succeed.
    var removals: Int {
        get { refusals.withLock { $0.removals } }
        set { refusals.withLock { $0.removals = newValue } }
    }

    var room: Int {
        get { refusals.withLock { $0.room } }
        set { refusals.withLock { $0.room = newValue } }
    }

    func interfereOnce(_ body: @escaping @Sendable () -> Void) { refusals.withLock { $0.interference = body } }

    private func interfere() {
        let interference = refusals.withLock { refusals in
            defer { refusals.interference = nil }
            return refusals.interference
        }
        interference?()
    }

    private static let full = KeychainError(.diskFull, "A test's disk is full.")
    private static let readOnly = KeychainError(.readOnly, "A test's store removes nothing.")

    private func checkMayWrite(adding: Bool = false) throws(KeychainError) {
        let isRefused = refusals.withLock { refusals in
            if adding { refusals.room -= 1 }
            return refusals.writes || refusals.room < 0
        }
        guard !isRefused else { throw Self.full }
    }

    func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainError) -> SelectedItems {
        try store.select(selection, limit: limit, includingValues: includingValues, authorization)
    }

    func insert(_ item: Item, _ authorization: Authorization) throws(KeychainError) -> StoredItem {
        interfere()
        try checkMayWrite(adding: true)
        return try store.insert(item, authorization)
    }

    func update(
        _ selection: Selection, _ authorization: Authorization, _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        try checkMayWrite()
        return try store.update(selection, authorization, change)
    }

    func delete(_ selection: Selection, _ authorization: Authorization) throws(KeychainError) -> Int {
        let isRefused = refusals.withLock { refusals in
            refusals.removals -= 1
            return refusals.removals < 0
        }
        guard !isRefused else { throw Self.readOnly }
        return try store.delete(selection, authorization)
    }

    func transaction<Result>(
        _ authorization: Authorization, _ body: (any ItemOperations) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        guard hasTransactions else { throw KeychainError(.unsupported, "A test's store has no transactions.") }
        interfere()
        try checkMayWrite()
        return try store.transaction(authorization, body)
    }

    var lockState: LockState {
        get throws(KeychainError) { try store.lockState }
    }

    var userVerifier: (any UserVerifier)? { store.userVerifier }
}
