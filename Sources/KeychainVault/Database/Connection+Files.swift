// SPDX-License-Identifier: Apache-2.0
// Operations on the files of a database instead of its statements.

import CKeychainSQLite
import Foundation

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

    /// Gives the database file the length that it needs once the WAL is moved into it. Otherwise the WAL could fill the disk, so that it
    /// can neither be moved nor truncated, and each deletion would make it longer.
    ///
    /// SQLite ignores what a file has beyond its last page, and cuts it off when it moves the WAL.
    ///
    /// - Throws: `SQLITE_FULL` if there is no space.
    func reserveLength() throws {
        let needed = (try number(Length.pages) ?? 0) * (try pageSize.get())
        // Less may be missing: the reserve has room for it.
        guard needed - reservedLength > Length.piece, let file = databaseFile,
            let methods = file.pointee.pMethods?.pointee,
            let size = methods.xFileSize, let control = methods.xFileControl
        else { return }
        var present: sqlite3_int64 = 0
        guard size(file, &present) == SQLITE_OK else { return }
        if needed - present > Length.piece, try mayHave(needed) {
            // Without a size of the pieces SQLite does not reserve anything.
            var (length, piece, none) = (needed, Int32(Length.piece), Int32(0))
            _ = control(file, SQLITE_FCNTL_CHUNK_SIZE, &piece)
            defer { _ = control(file, SQLITE_FCNTL_CHUNK_SIZE, &none) }
            guard control(file, SQLITE_FCNTL_SIZE_HINT, &length) == SQLITE_OK else {
                throw SQLiteFailure(code: hasSpace(for: needed - present) ? SQLITE_IOERR : SQLITE_FULL)
            }
        }
        reservedLength = max(needed, present)
    }

    /// - Returns: `false` if the limit of the size of files is nearer than the pieces in which SQLite reserves.
    /// - Throws: `SQLITE_FULL` beyond the limit.
    private func mayHave(_ length: Int64) throws -> Bool {
        guard let limit = DiskSpace.limitOfFiles else { return true }
        if length > limit { throw SQLiteFailure(code: SQLITE_FULL) }
        return length + Length.piece <= limit
    }

    /// SQLite reports each failure to reserve space as one of the medium.
    private func hasSpace(for bytes: Int64) -> Bool {
        guard let name = sqlite3_db_filename(database, "main"), let free = DiskSpace.free(at: String(cString: name))
        else {
            return true
        }
        return Int64(free) > bytes + Length.piece
    }

    private enum Length {
        static let pages = SQL.kept("PRAGMA page_count")
        static let piece: Int64 = 128 << 10
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
