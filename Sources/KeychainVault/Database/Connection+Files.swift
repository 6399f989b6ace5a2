// SPDX-License-Identifier: Apache-2.0
// Operations on the files of a database instead of its statements.

import CKeychainSQLite

extension Connection {
    /// For tests: makes SQLite ask before it prepares a statement.
    package func setAuthorizer(
        _ authorizer:
            @convention(c) (
                UnsafeMutableRawPointer?, Int32, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
                UnsafePointer<CChar>?
            ) -> Int32
    ) throws {
        try SQLiteFailure.check(sqlite3_set_authorizer(database, authorizer, nil))
    }

    /// SQLite's object for the file.
    var databaseFile: UnsafeMutablePointer<sqlite3_file>? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        return sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK ? file : nil
    }

    /// Moves all of the WAL into the database and truncates it.
    ///
    /// - Throws: `SQLITE_BUSY` if another connection needs the WAL.
    package func truncateWAL() throws {
        try SQLiteFailure.check(sqlite3_wal_checkpoint_v2(try opened, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil))
    }

    /// Overwrites another database with this one. The first step locks the target until the last page is written.
    ///
    /// - Parameter check: Called after each step. If it throws, the target keeps its contents, unless the copy is complete;
    ///   then the error is ignored.
    package func copy(
        to target: Connection, pagesPerStep: Int32 = -1, _ check: (_ isDone: Bool) throws -> Void = { _ in }
    ) throws {
        guard let backup = sqlite3_backup_init(try target.opened, "main", try opened, "main") else {
            throw SQLiteFailure(code: sqlite3_extended_errcode(target.database))
        }
        do {
            while true {
                let code = sqlite3_backup_step(backup, pagesPerStep)
                if code == SQLITE_DONE { break }
                try SQLiteFailure.check(code)
                try check(false)
            }
            try? check(true)
        } catch {
            sqlite3_backup_finish(backup)
            throw error
        }
        try SQLiteFailure.check(sqlite3_backup_finish(backup))
    }
}
