// SPDX-License-Identifier: Apache-2.0
// Errors of SQLite as errors of the store.

import CKeychainSQLite
import Foundation
import KeychainEngine

/// Turns errors of the database into `KeychainError`. Statement arguments never get into a message.
enum DatabaseFailure {
    /// Runs `body`; every error that it throws becomes a failure that names the database file.
    static func translating<Result>(_ path: String, _ body: () throws -> Result) throws(KeychainError) -> Result {
        do { return try body() } catch { throw translated(error, path) }
    }

    /// The failure for an error of work on the database; a `KeychainError` stays as it is.
    static func translated(_ error: any Error, _ path: String) -> KeychainError {
        switch error {
        case let failure as KeychainError: failure
        case let error as SQLiteFailure: failure(error, path)
        default: KeychainError(.inputOutput, "Reading or writing '\(path)' failed with an unknown error.")
        }
    }

    private static func failure(_ error: SQLiteFailure, _ path: String) -> KeychainError {
        let code = "SQLite error \(error.code)"
        return switch error.group {
        case SQLITE_FULL: full(path)
        case SQLITE_IOERR where error.isOfSpace: full(path)
        case SQLITE_NOMEM:
            KeychainError(
                .unavailable, "There is too little memory to use '\(path)'. Free some, or raise the limit (ulimit -v).")
        case SQLITE_READONLY:
            KeychainError(
                .readOnly, "'\(readOnly(path))' cannot be written. Reading works; to write, make it writable.")
        // `SQLITE_PROTOCOL`: another process seems to have been stopped during a short operation.
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL:
            busy(path)
        case SQLITE_CANTOPEN: cannotOpen(path) ?? unusable(path, code)
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            KeychainError(
                .corrupt,
                "'\(path)' is damaged or not a vault (\(code)). It was left untouched. " + KeychainError.restoreAdvice)
        case SQLITE_IOERR:
            KeychainError(
                .inputOutput, "Reading or writing '\(path)' failed (\(code)). The medium may be failing; make a backup."
            )
        case SQLITE_TOOBIG:
            KeychainError(.tooLarge, "The value is too large for the vault (512 MiB).")
        default: unusable(path, code)
        }
    }

    private static func full(_ path: String) -> KeychainError {
        let limit = DiskSpace.limitOfFiles != nil ? ", or raise the limit on the size of files (ulimit -f)," : ""
        return KeychainError(
            .diskFull, "No space is left for '\(path)'; nothing was changed. Free some\(limit) and try again.")
    }

    /// The file that keeps the database from being written: SQLite gives new companions its permissions, and they may have been others.
    private static func readOnly(_ path: String) -> String {
        ["", "-wal", "-shm"].map { path + $0 }.first { !FileSafety.allows(W_OK, $0) && errno != ENOENT } ?? path
    }

    private static func busy(_ path: String) -> KeychainError {
        let holder = LockHolder.find(database: path)
        return KeychainError(
            .busy, "\(holder?.description ?? "Another process") keeps '\(path)' busy. \(holder?.advice ?? "Try again.")"
        )
    }

    /// The system's reason why SQLite could not open a file. The file is not opened here: closing it would release the
    /// locks that other connections of this process hold on it.
    ///
    /// - Returns: `nil` if the system reports no problem.
    private static func cannotOpen(_ path: String) -> KeychainError? {
        if faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) != 0 { return SystemFailure.failure("open", path) }
        do throws(KeychainError) {
            try SpareDescriptors.check(path)
        } catch {
            return error
        }
        // The file that it could not open may be one that it creates beside the database.
        return Reserve.refusesFiles(in: FileSafety.parent(of: path)) ? full(path) : nil
    }

    private static func unusable(_ path: String, _ code: String) -> KeychainError {
        KeychainError(.unavailable, "'\(path)' could not be used (\(code)). Check that its folder can be entered.")
    }
}

extension SQLiteFailure {
    /// Whether the disk has no space, or the system lets this process make no larger file.
    fileprivate var isOfSpace: Bool {
        let limit = DiskSpace.limitOfFiles
        return switch code {
        case Self.writeFailed: limit != nil
        // SQLite first gives the WAL's index 3 bytes.
        case Self.indexDoesNotOpen: limit.map { $0 < 3 } ?? false
        // The index grows by writing to its file, which a failing medium refuses too.
        case Self.indexDoesNotGrow: [ENOSPC, EDQUOT, EFBIG].contains(systemError)
        default: false
        }
    }
}

extension KeychainError {
    /// The medium failed during a commit, and again while undoing it.
    ///
    /// - Parameter path: The path of the database.
    static func unknownOutcome(_ path: String) -> KeychainError {
        KeychainError(
            .inputOutput,
            "Writing '\(path)' failed, and the change could not be undone. It is unknown whether the change was made. "
                + "Check before you try again, and make a backup.")
    }
}
