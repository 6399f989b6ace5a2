// SPDX-License-Identifier: Apache-2.0
// Opening a database that is examined, without creating files if possible.

import Foundation
import KeychainEngine

extension ContentExamination {
    /// Opens it without creating files, unless ``opensLikeReaders``: SQLite would create those for coordinating readers and
    /// writers.
    mutating func open() throws(KeychainError) -> Connection {
        if opensLikeReaders { return try openLikeReaders() }
        guard try Session.Opened.hasWAL(location) else {
            isFrozen = true
            return try Connection.openImmutable(location.databaseFile)
        }
        // The WAL's index may be too small, and a full disk may have no space for it.
        if FileSafety.allows(R_OK, location.folder + "/" + VaultLocation.companionNames[1]) {
            return try openLikeReaders()
        }
        noteMissingIndex()
        isFrozen = true
        return try Connection.openForReading(
            location.databaseFile, settings.writerTimeout, index: .inMemoryWithoutFile)
    }

    private mutating func openLikeReaders() throws(KeychainError) -> Connection {
        let opened = try Session.Opened(
            location, settings.writerTimeout, isReadOnly: FilesState.isReadOnly(location))
        isFrozen = opened.frozenState != nil
        return opened.reader
    }

    private mutating func noteMissingIndex() {
        let isStuck = !FileSafety.allows(W_OK, location.folder)
        let isFull = !isStuck && Reserve.refusesFiles(in: location.folder)
        let wal = location.folder + "/" + VaultLocation.companionNames[0]
        let text = "The last changes are in the WAL '\(wal)', but the index of the WAL is missing. "
        if isStuck {
            note(
                "wal", .problem,
                text + "The vault cannot be read while '\(location.folder)' cannot be written. Make it writable, or "
                    + "copy the folder to a writable place and set KEYCHAIN_VAULT to that place.")
        } else if isFull {
            note(
                "wal", .warning,
                text + "There is no space for a new index. The vault can be read, but nothing can be saved. "
                    + "Free some space.")
        } else {
            note("wal", .ok, text + "The next call creates a new index.")
        }
    }
}
