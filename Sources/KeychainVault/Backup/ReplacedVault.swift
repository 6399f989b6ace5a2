// SPDX-License-Identifier: Apache-2.0
// The vault that a restoration replaces, and where it is kept.

import Foundation
import KeychainEngine

/// The copy of a vault that is about to be replaced.
struct ReplacedVault {
    let location: VaultLocation
    /// How long to wait for other processes.
    let timeout: Duration
    let path: String
    /// The WAL of a file that could not be read as a vault, or the only remaining file of one.
    var wal: String { path + "-wal" }

    init(location: VaultLocation, timeout: Duration) {
        (self.location, self.timeout) = (location, timeout)
        let moment = Date().formatted(
            Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted, timeZone: .gmt))
        var (path, number) = (location.replacedPrefix + moment, 1)
        // The WAL may be the only file that is kept under a name.
        while ["", "-wal"].contains(where: { FileIdentity(path + $0) != nil }) {
            number += 1
            path = location.replacedPrefix + moment + "-\(number)"
        }
        self.path = path
    }

    /// The vault as it was when it was copied.
    struct State {
        /// `nil` if SQLite cannot read the vault, so that no process can write it either.
        fileprivate var source: Connection?
        fileprivate var version: Int64?

        /// Whether the vault is unchanged since.
        var isCurrent: Bool {
            get throws { try source.flatMap(State.version) == version }
        }

        func close() throws { try source?.close() }

        /// Changes for a connection with each commit of another one (SQLite's documentation of `data_version`).
        fileprivate static func version(_ connection: Connection) throws -> Int64? {
            _ = try connection.number("SELECT count(*) FROM sqlite_master")
            return try connection.number("PRAGMA data_version")
        }
    }

    /// Keeps it as a complete vault, or, if SQLite cannot read it, byte by byte with its WAL. If this fails, nothing is
    /// kept.
    func keep() throws(KeychainError) -> State {
        do throws(KeychainError) {
            return try keepVault()
        } catch {
            discard()
            guard error.reason == .corrupt else { throw error }
        }
        do throws(KeychainError) {
            try keepBytes()
            return State()
        } catch {
            discard()
            throw error
        }
    }

    private func keepVault() throws(KeychainError) -> State {
        let copy = try UnfinishedFile(location.unfinishedKeeping)
        let source = try Session.Opened(location, timeout, isReadOnly: false).reader
        let version = try DatabaseCopy.fill(copy.path, from: source, State.version)
        try put(copy, at: path)
        return State(source: source, version: version)
    }

    private func keepBytes() throws(KeychainError) {
        for suffix in ["-wal", ""] where try FileSafety.checkFile(location.databaseFile + suffix) != nil {
            let copy = try UnfinishedFile(location.unfinishedKeeping)
            try copy.fill(from: location.databaseFile + suffix)
            try put(copy, at: path + suffix)
        }
    }

    /// The file is removed if this fails (``keep()``), so the error does not name it.
    private func put(_ copy: UnfinishedFile, at final: String) throws(KeychainError) {
        _ = try copy.name(final, replacing: true)
        do throws(KeychainError) {
            try PrivateFile.syncFolder(location.folder)
        } catch {
            throw KeychainError(error.reason, error.message + " Nothing was changed.", status: error.status)
        }
    }

    /// Moves the WAL of a missing database to another name, durably: after a power cut no other database may lie beside
    /// it under the old name.
    ///
    /// - Parameter lock: Gets the marker first. Without the WAL a folder that has lost its lock file too would look new.
    /// - Returns: `false` if there is none, or an empty one.
    func keepWAL(_ lock: FileLock) throws(KeychainError) -> Bool {
        let present = location.folder + "/" + VaultLocation.companionNames[0]
        guard (try FileSafety.checkFile(present)?.st_size ?? 0) > 0 else { return false }
        try VaultMarker.write(lock, location)
        guard rename(present, wal) == 0 else { throw SystemFailure.failure("rename", present) }
        do throws(KeychainError) {
            try PrivateFile.syncFolder(location.folder)
        } catch {
            throw namingWAL(error)
        }
        return true
    }

    /// The error after the WAL was moved.
    func namingWAL(_ error: KeychainError) -> KeychainError {
        error.after("The WAL of a missing database is kept in '\(wal)'.")
    }

    /// The error if it is unknown whether the vault was replaced.
    func named(_ error: KeychainError) -> KeychainError {
        KeychainError(error.reason, error.message + " The previous vault is kept in '\(path)'.")
    }

    /// Call it if nothing was replaced after all.
    func discard() {
        for suffix in ["", "-wal"] { unlink(path + suffix) }
    }
}
