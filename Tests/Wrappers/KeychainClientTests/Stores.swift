// SPDX-License-Identifier: Apache-2.0
// Stores that fail or wait when they are told to.

import Foundation
import KeychainEngine
import Synchronization

/// Fails every change after so many.
final class CountingStore: ItemStore {
    let hasTransactions: Bool
    private let store: any ItemStore
    private let left = Mutex<Int?>(nil)

    init(_ store: any ItemStore, hasTransactions: Bool) {
        (self.store, self.hasTransactions) = (store, hasTransactions)
    }

    func failsAfter(_ count: Int?) { left.withLock { $0 = count } }

    private func checkMayWrite() throws(KeychainError) {
        let isOver = left.withLock { left in
            guard let count = left else { return false }
            left = count - 1
            return count <= 0
        }
        guard !isOver else { throw KeychainError(.diskFull, "A test's disk is full.") }
    }

    func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainError) -> SelectedItems {
        try store.select(selection, limit: limit, includingValues: includingValues, authorization)
    }

    func insert(_ item: Item, _ authorization: Authorization) throws(KeychainError) -> StoredItem {
        try checkMayWrite()
        return try store.insert(item, authorization)
    }

    func update(
        _ selection: Selection, _ authorization: Authorization, _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        try checkMayWrite()
        return try store.update(selection, authorization, change)
    }

    func delete(_ selection: Selection, _ authorization: Authorization) throws(KeychainError) -> Int {
        try checkMayWrite()
        return try store.delete(selection, authorization)
    }

    func transaction<Result>(
        _ authorization: Authorization, _ body: (any ItemOperations) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        guard hasTransactions else { throw KeychainError(.unsupported, "A test's store has no transactions.") }
        return try store.transaction(authorization) { (items) throws(KeychainError) in
            try body(CountedItems(items: items, check: checkMayWrite))
        }
    }
}

/// The calls of one transaction, each of which may fail.
private struct CountedItems: ItemOperations {
    let items: any ItemOperations
    let check: () throws(KeychainError) -> Void

    func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainError) -> SelectedItems {
        try items.select(selection, limit: limit, includingValues: includingValues, authorization)
    }

    func insert(_ item: Item, _ authorization: Authorization) throws(KeychainError) -> StoredItem {
        try check()
        return try items.insert(item, authorization)
    }

    func update(
        _ selection: Selection, _ authorization: Authorization, _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        try check()
        return try items.update(selection, authorization, change)
    }

    func delete(_ selection: Selection, _ authorization: Authorization) throws(KeychainError) -> Int {
        try check()
        return try items.delete(selection, authorization)
    }
}

/// Answers when it is released.
final class WaitingStore: ItemStore {
    private let memory = MemoryStore()
    private let condition = NSCondition()
    private let isReleased = Mutex(false)

    func release() {
        condition.withLock {
            isReleased.withLock { $0 = true }
            condition.broadcast()
        }
    }

    private func wait() {
        condition.withLock {
            while !isReleased.withLock({ $0 }) { condition.wait() }
        }
    }

    func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainError) -> SelectedItems {
        wait()
        return try memory.select(selection, limit: limit, includingValues: includingValues, authorization)
    }

    func insert(_ item: Item, _ authorization: Authorization) throws(KeychainError) -> StoredItem {
        wait()
        return try memory.insert(item, authorization)
    }

    func update(
        _ selection: Selection, _ authorization: Authorization, _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        wait()
        return try memory.update(selection, authorization, change)
    }

    func delete(_ selection: Selection, _ authorization: Authorization) throws(KeychainError) -> Int {
        wait()
        return try memory.delete(selection, authorization)
    }

    var hasTransactions: Bool { true }

    func transaction<Result>(
        _ authorization: Authorization, _ body: (any ItemOperations) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        wait()
        return try memory.transaction(authorization, body)
    }
}
