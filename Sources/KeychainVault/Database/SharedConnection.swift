// SPDX-License-Identifier: Apache-2.0
// A connection for one thread at a time.

import SecretMemory

/// Lends a connection to one thread at a time; the others wait. A nested call on the same connection would wait for
/// itself, so the system's mutex ends the program.
final class SharedConnection: Sendable {
    private let connection: Guarded<Connection>

    init(_ connection: Connection) { self.connection = Guarded(connection) }

    /// Runs `body` without a transaction.
    func use<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        try connection.withLock { connection in try body(connection) }
    }

    /// Runs `body` in a transaction for reading: all its statements see one state of the database.
    func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        try use { try $0.reading(body) }
    }

    /// The connection, if it is not in use. Does not wait: in the child of a fork no thread returns it.
    func unusedConnection() -> Connection? {
        connection.withLockIfAvailable { $0.isInTransaction ? nil : $0 } ?? nil
    }

    func close() throws { try use { try $0.close() } }
}
