// SPDX-License-Identifier: Apache-2.0
// A connection that threads use in turn.

import CKeychainSQLite
import SecretMemory

/// Gives a connection to one thread at a time; the others wait. A call within another one on the same connection would wait
/// for itself: the system's mutex ends the program there.
final class SharedConnection: Sendable {
    // The mutex guards it.
    nonisolated(unsafe) private let connection: Connection
    private let turn = Guarded(())

    init(_ connection: Connection) { self.connection = connection }

    /// Runs `body` without a transaction.
    func use<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        var result: Result?
        try turn.withLock { _ in result = try body(connection) }
        // Never: the body has run.
        guard let result else { throw SQLiteFailure(code: SQLITE_INTERNAL) }
        return result
    }

    /// Runs `body` in a transaction for reading: all its statements see one state of the database.
    func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        try use { try $0.reading(body) }
    }

    /// The connection, if it is not in use. Does not wait: in the child of a fork nobody gives it back.
    func unusedConnection() -> Connection? {
        turn.withLockIfAvailable { _ in connection.isInTransaction ? nil : connection } ?? nil
    }

    func close() throws { try use { try $0.close() } }
}
