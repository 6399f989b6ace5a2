// SPDX-License-Identifier: Apache-2.0
// A store that does not answer until it is told to.

import Foundation
import KeychainEngine
import Synchronization

final class SilentStore: ItemStore {
    private let memory = MemoryStore()
    private let condition = NSCondition()
    private let isReleased = Mutex(false)
    private let waiting = Mutex(0)

    /// How many threads wait for an answer.
    var waitingCount: Int { waiting.withLock { $0 } }

    /// Answers everything, from now on.
    func release() {
        condition.withLock {
            isReleased.withLock { $0 = true }
            condition.broadcast()
        }
    }

    private func wait() {
        waiting.withLock { $0 += 1 }
        defer { waiting.withLock { $0 -= 1 } }
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
}
