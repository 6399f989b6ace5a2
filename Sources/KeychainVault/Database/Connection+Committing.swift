// SPDX-License-Identifier: Apache-2.0
// Commits that fail must not take effect later.

import CKeychainSQLite
import KeychainEngine

extension Connection {
    /// Durable when this returns; if it throws, nothing has happened.
    ///
    /// - Parameter path: The path of the database, for messages.
    func commit(_ path: String) throws {
        do {
            try end()
        } catch let failure as SQLiteFailure {
            throw takenBack(failure, path)
        }
    }

    /// Ensures that a failed commit does not take effect for the next process either.
    ///
    /// - Returns: The error to throw: the given one, or that the outcome is unknown.
    func takenBack(_ failure: SQLiteFailure, _ path: String) -> any Error {
        // If a write failed, the WAL has no commit mark, so nothing has happened.
        let isWritten = failure.group == SQLITE_IOERR && failure.code != SQLiteFailure.writeFailed
        guard isWritten, !takeBack() else { return failure }
        return KeychainError.unknownOutcome(path)
    }

    /// Overwrites the frames of a failed commit in the WAL. If only the sync failed, they are complete, and the next
    /// recovery of the WAL would apply them.
    ///
    /// - Returns: `false` if that failed too.
    private func takeBack() -> Bool {
        do {
            try rollBack()
            try begin()
            // Any change works: its page overwrites the first one.
            let version = try number("PRAGMA user_version") ?? 0
            try execute("PRAGMA user_version = \(version)")
            try end()
            return true
        } catch {
            return false  // The caller rolls back, or closes the connection.
        }
    }

    /// Moves all of the WAL into the database and truncates it. Does not wait: a reader may have been stopped.
    ///
    /// - Returns: `false` if a reader needs the WAL, or the disk failed.
    func truncateWALNow() -> Bool { moveWALNow() == .moved }

    /// The same, with the cause of a failure.
    func moveWALNow() -> WALMove {
        PausePoint.beforeTruncation.reached()
        defer { PausePoint.truncated.reached() }
        do {
            try BusyWait.$isOff.withValue(true) { try truncateWAL() }
            return .moved
        } catch {
            return (error as? SQLiteFailure)?.group == SQLITE_BUSY ? .isRead : .failed
        }
    }
}

/// What came of an attempt to move the WAL into the database.
enum WALMove {
    case moved
    /// A reader needs it.
    case isRead
    /// Such as for lack of space.
    case failed
}
