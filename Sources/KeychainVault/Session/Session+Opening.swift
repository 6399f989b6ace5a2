// SPDX-License-Identifier: Apache-2.0
// The ways to open a vault for reading.

import CKeychainSQLite
import Foundation
import KeychainEngine

extension Session {
    /// A reader, and the state that is read first.
    struct Opened {
        let reader: Connection
        /// The files directly before the reader was opened, if SQLite does not coordinate it with other processes, so
        /// that each call must compare them; `nil` if it does. Trying another way to open the vault changes the files.
        let frozenState: FilesState?
        /// Why the WAL's index could not be written, so that the reader has its own index in memory; `nil` if it is on
        /// disk.
        let indexFailure: KeychainError?
        /// The first page of the WAL's index, if it is in shared memory.
        let walIndex: UnsafeRawPointer?
        /// The end of the WAL before the rest was read.
        let end: WALHeader?
        let version: Int32
        let copies: [Data?]

        init(_ location: VaultLocation, _ timeout: Duration, isReadOnly: Bool) throws(KeychainError) {
            if isReadOnly {
                self = try Self.readOnly(location, timeout)
                return
            }
            do throws(KeychainError) {
                self = try Self(Connection.openForReading(location.databaseFile, timeout), location)
            } catch {
                let reserve = Reserve(location)
                let error = reserve.named(error)
                guard reserve.isWanted(after: error) else { throw error }
                self = try Self.onFullDisk(location, timeout, error)
            }
        }

        /// On a full disk there is no space for the files that coordinate readers and writers. Reading does not need
        /// them while no other process has them open.
        ///
        /// - Parameter error: The error of reading with them.
        private static func onFullDisk(
            _ location: VaultLocation, _ timeout: Duration, _ error: KeychainError
        ) throws(KeychainError) -> Opened {
            let (path, state) = (location.databaseFile, FilesState(location))
            guard try hasWAL(location) else {
                return try Self(Connection.openImmutable(path), location, frozenState: state)
            }
            let index: Connection.WALIndex = try hasIndex(location) ? .inMemory : .inMemoryWithoutFile
            // Without the file others do not see this reader, so each call checks the files.
            return try Self(
                Connection.openForReading(path, timeout, index: index), location,
                frozenState: index == .inMemoryWithoutFile ? state : nil, indexFailure: error)
        }

        private init(
            _ reader: Connection, _ location: VaultLocation, frozenState: FilesState? = nil,
            indexFailure: KeychainError? = nil
        ) throws(KeychainError) {
            let isShared = frozenState == nil && indexFailure == nil
            (walIndex, end, version, copies) = try DatabaseFailure.translating(location.databaseFile) {
                do {
                    let isInWALMode = try reader.text("PRAGMA journal_mode") == "wal"
                    let index = isShared && isInWALMode ? reader.walIndex : nil
                    let end = index.flatMap { WALHeader($0) }
                    return try reader.reading { connection in
                        (
                            index, end, try VaultSchema.check(connection, path: location.databaseFile),
                            try KeybagTable(connection).copies()
                        )
                    }
                } catch let failure as SQLiteFailure where failure.group == SQLITE_ERROR {
                    // The statements are correct, so the file has no format that SQLite knows.
                    throw SQLiteFailure(code: SQLITE_CORRUPT)
                }
            }
            (self.reader, self.frozenState, self.indexFailure) = (reader, frozenState, indexFailure)
        }

        private static func readOnly(_ location: VaultLocation, _ timeout: Duration) throws(KeychainError) -> Opened {
            let state = FilesState(location)
            // With an empty WAL the file alone is the complete vault; `isCurrent` notices changes by other processes.
            guard try hasWAL(location) else {
                return try Self(Connection.openImmutable(location.databaseFile), location, frozenState: state)
            }
            guard try hasIndex(location) else {
                throw KeychainError(
                    .unavailable,
                    "The last changes of '\(location.folder)' are still in its WAL, which cannot be read while the "
                        + "folder or the database cannot be written. Make them writable, or copy the folder to a "
                        + "writable place and set KEYCHAIN_VAULT to that place.")
            }
            return try Self(Connection.openForReading(location.databaseFile, timeout), location)
        }

        private static func hasIndex(_ location: VaultLocation) throws(KeychainError) -> Bool {
            try FileSafety.checkFile(location.folder + "/" + VaultLocation.companionNames[1]) != nil
        }

        /// Whether the WAL may contain changes. A WAL without commits contains only its header.
        static func hasWAL(_ location: VaultLocation) throws(KeychainError) -> Bool {
            (try FileSafety.checkFile(location.folder + "/" + VaultLocation.companionNames[0])?.st_size ?? 0)
                > walHeaderSize
        }

        /// In bytes ("WAL File Format" in SQLite's documentation).
        private static let walHeaderSize = 32
    }
}
