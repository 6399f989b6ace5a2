// SPDX-License-Identifier: Apache-2.0
// An open vault: its connections and keys, for as long as the files under it are the same.

import Foundation
import GRDB
import KeychainCrypto
import KeychainEngine
import Synchronization

/// What an open vault needs: one connection for reading, one for writing once something is written, and the keys as far as
/// they are open.
final class Session: Sendable {
    let location: VaultLocation
    let keybag: Keybag
    let keyState: KeyState
    /// Of the tables; 1 has to be raised before anything is written that it does not know.
    let formatVersion: Int32
    /// The stored keybags that are whole, the one that is used first.
    let keybags: [Keybag]
    /// Whether both stored keybags are this one; else the next write that has keys to authenticate one mends the other.
    let hasTwoKeybags: Bool
    /// The first of the two keybags as it was read.
    let storedKeybag: Data?
    /// Whether the vault could be read but not written when it was opened.
    var isReadOnly: Bool { readOnlyState != nil }
    private let readOnlyState: ReadOnlyState?
    let reader: DatabaseQueue
    private let writer = Mutex<DatabaseQueue?>(nil)
    private let identity: FileIdentity
    private let process = getpid()
    private let lastLook: Mutex<Look>

    /// The last time that the files were looked at.
    private struct Look {
        var moment: ContinuousClock.Instant
        var log: LogState
    }

    /// Opens an existing vault.
    init(
        _ location: VaultLocation, _ settings: VaultSettings, identity: FileIdentity
    ) throws(KeychainError) {
        self.location = location
        self.identity = identity
        // Before anything is read: what is written from now on shows in the next look.
        let logBefore = LogState(location)
        readOnlyState = ReadOnlyState(location)
        reader = try Self.openReader(location, isReadOnly: readOnlyState != nil)
        let (version, copies) = try DatabaseFailure.translating(location.databaseFile) { [reader] in
            try reader.read { db in
                (try VaultSchema.check(db, path: location.databaseFile), try KeybagTable(db).copies())
            }
        }
        try location.checkSeparation()
        formatVersion = version
        let stored = try StoredKeybag(copies, location, settings)
        keybag = stored.keybag
        keybags = stored.keybags
        keyState = stored.keyState
        storedKeybag = copies.first ?? nil
        hasTwoKeybags = !copies.contains { $0 != stored.keybag.bytes }
        lastLook = Mutex(Look(moment: .now, log: logBefore))
    }

    /// `false` in the child of a fork, which has copies of connections that are its parent's.
    var isOfThisProcess: Bool { process == getpid() }

    /// Whether this session still stands for the files at its location: they may have been replaced or removed, and after
    /// a fork the child must not use the parent's connections.
    ///
    /// - Parameter age: How old the last look at the files may be. A look costs as much as a tenth of a read.
    func isCurrent(age: Duration) throws(KeychainError) -> Bool {
        guard isOfThisProcess else { return false }
        // SQLite does not notice changes under such a connection, so we do, each time.
        if let readOnlyState { return readOnlyState == ReadOnlyState(location) }
        return try lastLook.withLock { (lastLook) throws(KeychainError) in
            let now = ContinuousClock.now
            if now - lastLook.moment < age { return true }
            guard identity == FileIdentity(location.databaseFile) else { return false }
            let log = LogState(location)
            // With the keybag the ways to open the vault may have changed: what has been opened must not outlast them.
            if log != lastLook.log || log.isRecent, try !hasCurrentKeybag(reader) { return false }
            lastLook = Look(moment: now, log: log)
            return true
        }
    }

    /// Makes the last look too old for anybody, and drops the keys of what has been locked.
    func lookAgain() {
        keyState.forgetLocked()
        lastLook.withLock { $0.moment = .now - .seconds(3600) }
    }

    /// Whether the keybag is still the one that was read.
    func hasCurrentKeybag(_ connection: DatabaseQueue) throws(KeychainError) -> Bool {
        try DatabaseFailure.translating(location.databaseFile) {
            try connection.inDatabase { try KeybagTable($0).isStill(storedKeybag) }
        }
    }

    /// Whether this session still stands for the database that is written, asked within the transaction: its keys must be
    /// those of the keybag, or what they seal would be lost, and its file the one at the vault's place.
    func isOf(_ db: Database) throws -> Bool {
        guard identity == FileIdentity(location.databaseFile) else { return false }
        return try KeybagTable(db).isStill(storedKeybag)
    }

    /// The connection for writing.
    func writingConnection() throws(KeychainError) -> DatabaseQueue {
        try writer.withLock { (writer) throws(KeychainError) in
            if let writer { return writer }
            let opened = try Connection.openForWriting(location.databaseFile)
            writer = opened
            return opened
        }
    }

    /// After an error of the medium nothing that the connection remembers can be relied on.
    func dropWritingConnection() {
        writer.withLock { $0 = nil }
    }

    /// Ends both connections. The last connection to a vault moves the log into the database and removes it.
    func close() throws(KeychainError) {
        try DatabaseFailure.translating(location.databaseFile) {
            try reader.close()
            try writer.withLock { writer in
                try writer?.close()
                writer = nil
            }
        }
    }

    // MARK: - Opening

    private static func openReader(
        _ location: VaultLocation, isReadOnly: Bool
    ) throws(KeychainError) -> DatabaseQueue {
        guard isReadOnly else { return try Connection.openForReading(location.databaseFile) }
        let companions = VaultLocation.companionNames.map { location.folder + "/" + $0 }
        // With an empty log the file alone is the whole truth; others may change it, which `isCurrent` notices.
        if (try FileSafety.checkFile(companions[0])?.st_size ?? 0) == 0 {
            return try Connection.openImmutable(location.databaseFile)
        }
        guard try FileSafety.checkFile(companions[1]) != nil else {
            throw KeychainError(
                .unavailable,
                "The last changes of '\(location.folder)' are still in its log, which cannot be read on a "
                    + "medium that cannot be written. Copy the folder to a writable place and name that (KEYCHAIN_VAULT)."
            )
        }
        return try Connection.openForReading(location.databaseFile)
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

/// What a vault that cannot be written looks like from outside. Others may still write it: on a medium that is read-only
/// for us alone, or once it is writable again.
struct ReadOnlyState: Equatable, Sendable {
    private let database: FileState?
    private let log: FileState?

    /// `nil` if the vault can be written.
    init?(_ location: VaultLocation) {
        guard access(location.databaseFile, W_OK) != 0 || access(location.folder, W_OK) != 0 else { return nil }
        database = FileState(location.databaseFile)
        log = FileState(location.folder + "/" + VaultLocation.companionNames[0])
    }

    private struct FileState: Equatable, Sendable {
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
}
