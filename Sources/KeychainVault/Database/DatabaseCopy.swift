// SPDX-License-Identifier: Apache-2.0
// Copying whole databases through SQLite's backup interface.

import KeychainEngine

enum DatabaseCopy {
    /// Copies one state of the database into an empty private file; other processes can read and write in the meantime.
    /// Nothing is durable when this returns.
    ///
    /// - Parameter look: Reads the state that is copied. It runs first: SQLite fixes the state of a transaction at the
    ///   first read row, and a copy alone would release that state again.
    static func fill<Result>(
        _ path: String, from source: Connection, _ look: (Connection) throws -> Result
    ) throws(KeychainError) -> Result {
        let copy = try Connection.openForCopying(path)
        return try DatabaseFailure.translating(path) {
            let result = try source.reading { source in
                let result = try look(source)
                try source.copy(to: copy)
                return result
            }
            try copy.close()
            return result
        }
    }

    /// Overwrites a database with the contents of another one, in one durable transaction. A process that reads it
    /// meanwhile, or opens it after a crash, sees either the old or the new state.
    ///
    /// It stays the same file. If another file took its name, a process that closes the old file could remove the WAL
    /// of the new one, which has the same name.
    ///
    /// - Parameters:
    ///   - timeout: How long to wait for other connections.
    ///   - check: Called after each step, while no other process can write the database; nothing is changed if it
    ///     throws. Its argument says whether the copy is complete; throwing then has no effect.
    /// - Throws: `corrupt` if it cannot be opened as a database, and `unsupported` if the pages of the two differ in size.
    static func overwrite(
        _ path: String, with source: Connection, _ timeout: Duration, _ check: (_ isDone: Bool) throws -> Void
    ) throws(KeychainError) {
        let target = try Connection.openForWriting(path, timeout)
        try DatabaseFailure.translating(path) {
            guard try source.number("PRAGMA page_size") == target.number("PRAGMA page_size") else {
                throw KeychainError(
                    .unsupported,
                    "The backup and '\(path)' have different page sizes. Nothing was changed. Move the vault's folder away, "
                        + "then restore.")
            }
            PausePoint.beforeOverwrite.reached()
            do {
                // Page by page: the first one locks the target until the last one is written.
                try source.reading { try $0.copy(to: target, pagesPerStep: 1, check) }
            } catch let failure as SQLiteFailure {
                throw target.takenBack(failure, path)
            }
            try target.close()
        }
    }
}
