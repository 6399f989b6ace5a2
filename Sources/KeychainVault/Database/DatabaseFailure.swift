// SPDX-License-Identifier: Apache-2.0
// What SQLite reported, as one of our outcomes.

import Foundation
import GRDB
import KeychainEngine

/// Turns errors of the database into ours. Statement arguments never get into a message.
enum DatabaseFailure {
    /// Runs `body`; whatever it throws comes out as a failure that names the database file.
    static func translating<Result>(_ path: String, _ body: () throws -> Result) throws(KeychainError) -> Result {
        do {
            return try body()
        } catch let failure as KeychainError {
            throw failure
        } catch let error as DatabaseError {
            throw failure(error, path)
        } catch {
            throw KeychainError(.inputOutput, "Reading or writing '\(path)' failed in a way that has no name.")
        }
    }

    private static func failure(_ error: DatabaseError, _ path: String) -> KeychainError {
        let code = "SQLite error \(error.extendedResultCode.rawValue)"
        return switch error.resultCode {
        case .SQLITE_FULL: full(path)
        case .SQLITE_IOERR where error.extendedResultCode == .SQLITE_IOERR_WRITE && hasLimitOfSize: full(path)
        case .SQLITE_NOMEM:
            KeychainError(
                .unavailable, "There is too little memory to use '\(path)'. Free some, or raise the limit (ulimit -v).")
        // The index of the log is a file of fixed size, so growing it fails for one reason.
        case .SQLITE_IOERR where error.extendedResultCode == .SQLITE_IOERR_SHMSIZE:
            KeychainError(.diskFull, "No space is left for '\(path)'; nothing was changed. Free some and try again.")
        case .SQLITE_READONLY:
            KeychainError(.readOnly, "'\(path)' cannot be written. Reading works; to write, make it writable.")
        // The last: another process seems to have been stopped in the middle of something short.
        case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL:
            busy(path)
        case .SQLITE_CANTOPEN: cannotOpen(path) ?? unusable(path, code)
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            KeychainError(
                .corrupt,
                "'\(path)' is damaged or not a vault (\(code)). It was left untouched. " + KeychainError.restoreAdvice)
        case .SQLITE_IOERR:
            KeychainError(
                .inputOutput, "Reading or writing '\(path)' failed (\(code)). The medium may be failing; make a backup."
            )
        case .SQLITE_TOOBIG:
            KeychainError(.tooLarge, "The value is too large for the vault (512 MiB).")
        default: unusable(path, code)
        }
    }

    private static func full(_ path: String) -> KeychainError {
        let limit = hasLimitOfSize ? ", or raise the limit on the size of files (ulimit -f)," : ""
        return KeychainError(
            .diskFull, "No space is left for '\(path)'; nothing was changed. Free some\(limit) and try again.")
    }

    /// Whether this process may only make files up to some size.
    private static var hasLimitOfSize: Bool {
        var limit = rlimit()
        #if canImport(Glibc)
            guard getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { return false }
        #else
            guard getrlimit(RLIMIT_FSIZE, &limit) == 0 else { return false }
        #endif
        return limit.rlim_cur < rlim_t(Int64.max)
    }

    private static func busy(_ path: String) -> KeychainError {
        let holder = LockHolder.find(database: path)
        return KeychainError(
            .busy, "\(holder?.description ?? "Another process") keeps '\(path)' busy. \(holder?.advice ?? "Try again.")"
        )
    }

    /// What the system says of a file that SQLite could not open. It is not opened here: closing it would end the locks that other
    /// connections of this process have on it.
    ///
    /// - Returns: `nil` if it sees nothing wrong.
    private static func cannotOpen(_ path: String) -> KeychainError? {
        if faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) != 0 { return SystemFailure.failure("open", path) }
        do throws(KeychainError) {
            try SpareDescriptors.check(path)
            return nil
        } catch {
            return error
        }
    }

    private static func unusable(_ path: String, _ code: String) -> KeychainError {
        KeychainError(.unavailable, "'\(path)' could not be used (\(code)). Check that its folder can be entered.")
    }
}

extension KeychainError {
    /// The medium failed at a commit, and at taking it back.
    ///
    /// - Parameter path: Of the database.
    static func unknownOutcome(_ path: String) -> KeychainError {
        KeychainError(
            .inputOutput,
            "Writing '\(path)' failed, and so did taking the change back: nobody knows whether it has happened. Look before you try "
                + "again, and make a backup.")
    }
}
