// SPDX-License-Identifier: Apache-2.0
// A vault whose writer lock another holder has.

import Foundation
public import KeychainEngine

/// A vault in which a test can hold the writer lock, and then wait until nothing that had begun is still running.
public final class HeldVault: TransactionalStore {
    private let base: TemporaryVault
    private let changes = Changes()

    /// - Parameter writerTimeout: How long a change waits for the lock. On a loaded machine a call's own deadline may be
    ///   noticed late, and still before the usual one.
    public init(writerTimeout: Duration = .seconds(600)) throws {
        base = try TemporaryVault(writerTimeout: writerTimeout)
    }

    // MARK: - The lock

    /// Takes the writer lock as another process would. The vault has to have been made.
    public func hold() throws { try changes.hold(base.lockFile) }

    /// Blocks until a change is under way, and so waits for the lock.
    public func waitForChange() -> Bool { changes.wait { $0 > 0 } }

    /// The same without blocking the thread of a task.
    public func waitForChange() async -> Bool {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: self.waitForChange()) }
        }
    }

    /// Gives the lock up, and blocks until no change is under way any more.
    ///
    /// - Returns: `false` if one has not ended in ten minutes.
    public func letGo() -> Bool {
        changes.letGo()
        return changes.wait { $0 == 0 }
    }

    // MARK: - The store

    public func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainError) -> SelectedItems {
        try base.select(selection, limit: limit, includingValues: includingValues, authorization)
    }

    public func insert(_ item: Item, _ authorization: Authorization) throws(KeychainError) -> StoredItem {
        changes.begin()
        defer { changes.end() }
        return try base.insert(item, authorization)
    }

    public func update(
        _ selection: Selection, _ authorization: Authorization,
        _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        changes.begin()
        defer { changes.end() }
        return try base.update(selection, authorization, change)
    }

    public func delete(_ selection: Selection, _ authorization: Authorization) throws(KeychainError) -> Int {
        changes.begin()
        defer { changes.end() }
        return try base.delete(selection, authorization)
    }

    public func transaction<Result>(
        _ authorization: Authorization, _ body: (any ItemOperations) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        changes.begin()
        defer { changes.end() }
        return try base.transaction(authorization, body)
    }
}

/// How many changes are under way, and the lock that keeps them there.
private final class Changes: @unchecked Sendable {
    private let condition = NSCondition()
    private var count = 0
    private var descriptor: Int32 = -1

    func begin() { step(1) }

    func end() { step(-1) }

    private func step(_ difference: Int) {
        condition.withLock {
            count += difference
            condition.broadcast()
        }
    }

    func wait(until isWanted: (Int) -> Bool) -> Bool {
        let end = Date(timeIntervalSinceNow: 600)
        return condition.withLock {
            while !isWanted(count) {
                guard condition.wait(until: end) else { return false }
            }
            return true
        }
    }

    func hold(_ path: String) throws {
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw CocoaError(.fileLocking) }
        condition.withLock { self.descriptor = descriptor }
    }

    func letGo() {
        condition.withLock {
            close(descriptor)
            descriptor = -1
        }
    }
}
