// SPDX-License-Identifier: Apache-2.0
// The connections for reading.

import CKeychainSQLite
import Foundation
import KeychainEngine

/// Connections to one database, each used by one thread at a time. If all are in use, a thread opens another one, up to
/// a limit; beyond it, threads wait. A nested call needs its own connection.
final class ReaderPool: @unchecked Sendable {
    // Guarded by `turn`.
    private var free: [Connection]
    private var made = 1
    private var opening = 0
    private var waiting = 0
    /// After a failure to open a connection, no other attempt is made before this time.
    private var nextOpening: ContinuousClock.Instant?
    /// Whether a woken thread does not run yet. Waking more threads would take time: a running thread takes the free
    /// connection.
    private var isWaking = false
    private let turn = Turn()
    /// See ``Connection/findWALIndex()``.
    private let walIndex: UnsafeRawPointer?
    private let limit: Int
    private let timeout: Duration
    private let another: () throws -> Connection

    /// Enough for two threads on each processor of a small machine. More would only need memory and descriptors.
    static let most = 8

    /// - Parameters:
    ///   - walIndex: The first connection's; `nil` if SQLite does not coordinate it with others. Then it stays the only one.
    ///   - timeout: How long a thread waits for a connection.
    ///   - another: Opens another connection to the same database.
    init(
        _ first: Connection, _ walIndex: UnsafeRawPointer?, limit: Int = most, timeout: Duration = .seconds(30),
        another: @escaping @Sendable () throws -> Connection
    ) {
        (self.walIndex, self.limit) = (walIndex, walIndex == nil ? 1 : limit)
        (self.timeout, self.another) = (timeout, another)
        free = [first]
    }

    /// Runs `body` without a transaction.
    ///
    /// - Throws: The error of a busy database, if no connection becomes free in time.
    func use<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        let connection = try take()
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

    /// All connections, if none is in use. Does not wait: in the child of a fork no thread returns one.
    func unusedConnections() -> [Connection]? {
        guard turn.tryLock() else { return nil }
        defer { turn.unlock() }
        return free.count == made && !free.contains { $0.isInTransaction } ? free : nil
    }

    /// For tests: how many threads wait for a connection.
    var waitingCount: Int { turn.withLock { waiting } }

    private func take() throws -> Connection {
        var end: ContinuousClock.Instant?
        turn.lock()
        defer { turn.unlock() }
        while true {
            if let connection = free.popLast() {
                wakeOne()
                return connection
            }
            if made + opening < limit, nextOpening ?? .now <= .now {
                if let connection = open() { return connection }
                continue
            }
            let latest = end ?? .now + timeout
            if .now >= latest { throw SQLiteFailure(code: SQLITE_BUSY) }
            end = latest
            waiting += 1
            // Not longer, since the next attempt to open may succeed.
            turn.wait(Self.pause)
            waiting -= 1
            isWaking = false
        }
    }

    /// The caller must hold the lock.
    private func wakeOne() {
        guard waiting > 0, !isWaking, !free.isEmpty else { return }
        isWaking = true
        turn.signal()
    }

    /// How long to wait for an open connection if no other one can be opened.
    private static let pause = Duration.milliseconds(500)

    /// The caller must hold the lock, which is released meanwhile.
    ///
    /// - Returns: `nil` if no other connection can be opened now.
    private func open() -> Connection? {
        opening += 1
        turn.unlock()
        let connection = opened()
        turn.lock()
        opening -= 1
        if connection == nil { nextOpening = .now + Self.pause } else { made += 1 }
        return connection
    }

    private func opened() -> Connection? {
        do {
            let connection = try another()
            _ = try connection.number(Self.anything)
            // Another file may have come to the path. The index lies at one address for all connections to a file.
            return connection.walIndex != nil && connection.walIndex == walIndex ? connection : nil
        } catch {
            return nil  // No descriptor is left, or the files are being replaced.
        }
    }

    /// A connection has no index of the WAL before its first read.
    private static let anything: SQL = "SELECT count(*) FROM head"

    private func giveBack(_ connection: Connection) {
        turn.lock()
        // A connection whose transaction could not be rolled back would show the next reader an old state. The last
        // connection is kept, because the index is only mapped while a connection exists.
        if connection.isInTransaction, made > 1 { made -= 1 } else { free.append(connection) }
        wakeOne()
        turn.unlock()
    }
}
