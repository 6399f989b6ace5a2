// SPDX-License-Identifier: Apache-2.0
// The ways to open a vault for reading, and what its files look like from outside.

import Foundation
import GRDB
import KeychainEngine

extension Session {
    /// A reader, and what is read first.
    struct Opened {
        let reader: DatabaseQueue
        let isImmutable: Bool
        let version: Int32
        let copies: [Data?]

        init(_ location: VaultLocation, _ timeout: Duration, isReadOnly: Bool) throws(KeychainError) {
            if isReadOnly {
                self = try Self.readOnly(location, timeout)
                return
            }
            do throws(KeychainError) {
                self = try Self(Connection.openForReading(location.databaseFile, timeout), location, isImmutable: false)
            } catch {
                let reserve = Reserve(location)
                let error = reserve.named(error)
                guard reserve.isWanted(after: error) else { throw error }
                self = try Self.onFullDisk(location, timeout, error)
            }
        }

        /// On a full disk there is no space for the files by which readers and writers agree. Reading needs none of them while
        /// nobody else has them open.
        ///
        /// - Parameter error: What reading with them has failed with.
        private static func onFullDisk(
            _ location: VaultLocation, _ timeout: Duration, _ error: KeychainError
        ) throws(KeychainError) -> Opened {
            let path = location.databaseFile
            guard try hasLog(location) else {
                return try Self(Connection.openImmutable(path), location, isImmutable: true)
            }
            guard try hasIndex(location) else { throw error }
            return try Self(
                Connection.openForReading(path, timeout, indexInMemory: true), location, isImmutable: false)
        }

        private init(_ reader: DatabaseQueue, _ location: VaultLocation, isImmutable: Bool) throws(KeychainError) {
            (version, copies) = try DatabaseFailure.translating(location.databaseFile) {
                try reader.read { db in
                    (try VaultSchema.check(db, path: location.databaseFile), try KeybagTable(db).copies())
                }
            }
            (self.reader, self.isImmutable) = (reader, isImmutable)
        }

        private static func readOnly(_ location: VaultLocation, _ timeout: Duration) throws(KeychainError) -> Opened {
            // With an empty log the file alone is the whole truth; others may change it, which `isCurrent` notices.
            guard try hasLog(location) else {
                return try Self(Connection.openImmutable(location.databaseFile), location, isImmutable: true)
            }
            guard try hasIndex(location) else {
                throw KeychainError(
                    .unavailable,
                    "The last changes of '\(location.folder)' are still in its log, which cannot be read on a "
                        + "medium that cannot be written. Copy the folder to a writable place and name that "
                        + "(KEYCHAIN_VAULT).")
            }
            return try Self(Connection.openForReading(location.databaseFile, timeout), location, isImmutable: false)
        }

        private static func hasIndex(_ location: VaultLocation) throws(KeychainError) -> Bool {
            try FileSafety.checkFile(location.folder + "/" + VaultLocation.companionNames[1]) != nil
        }

        /// Whether the log may hold changes. One that was begun, and into which nothing was committed, has its header alone.
        private static func hasLog(_ location: VaultLocation) throws(KeychainError) -> Bool {
            (try FileSafety.checkFile(location.folder + "/" + VaultLocation.companionNames[0])?.st_size ?? 0)
                > logHeaderSize
        }

        /// In bytes ("WAL File Format" in SQLite's documentation).
        private static let logHeaderSize = 32
    }
}

/// Which file a path leads to.
struct FileIdentity: Equatable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    /// `nil` if nothing is there.
    init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
    }
}

/// What SQLite's log looks like from outside: every change of the vault changes it.
struct LogState: Equatable, Sendable {
    private let size: Int64
    private let seconds: Int
    private let nanoseconds: Int

    init(_ location: VaultLocation) {
        var status = stat()
        guard lstat(location.folder + "/" + VaultLocation.companionNames[0], &status) == 0 else {
            (size, seconds, nanoseconds) = (-1, 0, 0)
            return
        }
        size = Int64(status.st_size)
        (seconds, nanoseconds) = (Int(status.st_mtim.tv_sec), Int(status.st_mtim.tv_nsec))
    }

    /// Whether the log was written so short a time ago that another change may have left the same date.
    var isRecent: Bool {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return abs(Int(now.tv_sec) - seconds) <= 1
    }
}

/// What the files of a vault look like from outside whose reader notices no changes. Others may still write it: on a medium
/// that is read-only for us alone, once it is writable again, or once a full disk has space.
struct FilesState: Equatable, Sendable {
    private let database: FileState?
    private let log: FileState?

    /// Whether this user cannot write the vault.
    static func isReadOnly(_ location: VaultLocation) -> Bool {
        access(location.databaseFile, W_OK) != 0 || access(location.folder, W_OK) != 0
    }

    init(_ location: VaultLocation) {
        database = FileState(location.databaseFile)
        log = FileState(location.folder + "/" + VaultLocation.companionNames[0])
    }
}

/// Which file a path leads to, and what it looks like from outside: nobody can write it without changing that.
struct FileState: Equatable, Sendable {
    let identity: FileIdentity
    let size: Int64
    let changes: [Int]

    init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        identity = FileIdentity(status)
        size = Int64(status.st_size)
        changes = [
            status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
        ]
    }
}
