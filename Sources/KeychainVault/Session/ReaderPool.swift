// SPDX-License-Identifier: Apache-2.0
// The connections for reading.

import Foundation
import KeychainEngine

/// Connections to one database, each used by one thread at a time. A thread that finds none free opens another one, up to a
/// limit; then threads wait. A call within another one gets a connection of its own.
final class ReaderPool: @unchecked Sendable {
    // Guarded by `turn`.
    private var free: [Connection]
    private var made = 1
    private var limit: Int
    private var waiting = 0
    /// Whether a thread was woken and does not run yet. To wake others would cost time: who runs takes what is free.
    private var isWaking = false
    private let turn = Turn()
    /// See ``Connection/findLogIndex()``.
    private let logIndex: UnsafeRawPointer?
    private let another: () throws -> Connection

    /// Two threads of each processor of a small machine can read; more would need memory and descriptors for nothing.
    static let most = 8

    /// - Parameters:
    ///   - limit: 1 if SQLite does not coordinate the connection with others.
    ///   - another: Opens the same database.
    init(_ first: Connection, limit: Int = most, another: @escaping @Sendable () throws -> Connection) {
        (logIndex, self.limit, self.another) = (first.logIndex, limit, another)
        free = [first]
    }

    /// Runs `body` without a transaction.
    func use<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        let connection = take()
        defer { giveBack(connection) }
        return try body(connection)
    }

    /// Runs `body` in a transaction for reading: all its statements see one state of the database.
    func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        try use { try $0.reading(body) }
    }

    /// - Precondition: No connection is in use.
    func close() throws {
        for connection in turn.withLock({ free }) { try connection.close() }
    }

    /// All connections, if none is in use. Does not wait: in the child of a fork nobody gives one back.
    func unusedConnections() -> [Connection]? {
        guard turn.tryLock() else { return nil }
        defer { turn.unlock() }
        return free.count == made && !free.contains { $0.isInTransaction } ? free : nil
    }

    /// For tests: how many threads wait for a connection.
    var waitingCount: Int { turn.withLock { waiting } }

    private func take() -> Connection {
        turn.lock()
        while true {
            if let connection = free.popLast() {
                wakeOne()
                turn.unlock()
                return connection
            }
            if made < limit {
                made += 1
                turn.unlock()
                if let connection = open() { return connection }
                turn.lock()
                continue
            }
            waiting += 1
            turn.wait()
            waiting -= 1
            isWaking = false
        }
    }

    /// Call it with the lock.
    private func wakeOne() {
        guard waiting > 0, !isWaking, !free.isEmpty else { return }
        isWaking = true
        turn.signal()
    }

    /// - Returns: `nil` if no other connection can be opened now: then one of the others has to serve.
    private func open() -> Connection? {
        do {
            let connection = try another()
            _ = try connection.number(Self.anything)
            // Another file may have come to the path. The index lies at one address for all connections to a file.
            if connection.logIndex != nil, connection.logIndex == logIndex { return connection }
        } catch {
            // No descriptor is left, or the files are in change.
        }
        turn.withLock {
            made -= 1
            limit = max(1, made)
        }
        return nil
    }

    /// A connection has no index of the WAL before it has read.
    private static let anything: SQL = "SELECT count(*) FROM head"

    private func giveBack(_ connection: Connection) {
        turn.lock()
        // A transaction that could not be rolled back would show the next reader an old state. The last connection stays:
        // the index is mapped as long as there is one.
        if connection.isInTransaction, made > 1 { made -= 1 } else { free.append(connection) }
        wakeOne()
        turn.unlock()
    }
}

/// A mutex and a condition of the C library. Unlike Foundation's, it can be tried; unlike Swift's, who runs takes it before who
/// waits, so that a thread that the system stops does not hold up all others in a row.
private final class Turn: Sendable {
    private nonisolated(unsafe) let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private nonisolated(unsafe) let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func lock() { pthread_mutex_lock(mutex) }

    func tryLock() -> Bool { pthread_mutex_trylock(mutex) == 0 }

    func unlock() { pthread_mutex_unlock(mutex) }

    func withLock<Result>(_ body: () -> Result) -> Result {
        lock()
        defer { unlock() }
        return body()
    }

    func wait() { pthread_cond_wait(condition, mutex) }

    func signal() { pthread_cond_signal(condition) }
}
