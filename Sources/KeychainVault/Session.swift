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
    /// How long a call waits for other processes.
    private let timeout: Duration
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
    let isReadOnly: Bool
    /// What the files looked like when they were opened in a way in which SQLite notices no change of them.
    private let frozenState: FilesState?
    let reader: DatabaseQueue
    private let writer = Mutex<DatabaseQueue?>(nil)
    let knownHead = KnownHead()
    let anchors: AnchorStore
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
        timeout = settings.writerTimeout
        self.identity = identity
        // Before anything is read: what is written from now on shows in the next look.
        let (logBefore, stateBefore) = (LogState(location), FilesState(location))
        isReadOnly = FilesState.isReadOnly(location)
        let opened = try Opened(location, settings.writerTimeout, isReadOnly: isReadOnly)
        reader = opened.reader
        frozenState = isReadOnly || opened.isImmutable ? stateBefore : nil
        try location.checkSeparation()
        formatVersion = opened.version
        let copies = opened.copies
        let stored = try StoredKeybag(copies, location, settings)
        keybag = stored.keybag
        keybags = stored.keybags
        keyState = stored.keyState
        anchors = AnchorStore(location, settings, vaultID: stored.keybag.vaultID)
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
        if let frozenState { return frozenState == FilesState(location) }
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

    /// Whether the keybag and the format are still those that were read: a backup may have been restored into the file.
    func hasCurrentKeybag(_ connection: DatabaseQueue) throws(KeychainError) -> Bool {
        try DatabaseFailure.translating(location.databaseFile) {
            try connection.inDatabase { db in
                try KeybagTable(db).isStill(storedKeybag) && VaultSchema.storedVersion(db) == formatVersion
            }
        }
    }

    /// Whether its reader would not notice what this process writes.
    var isFrozen: Bool { frozenState != nil }

    /// Whether this session still stands for the database that is written, asked within the transaction: its keys must be
    /// those of the keybag, or what they seal would be lost, and its file the one at the vault's place.
    func isOf(_ db: Database) throws -> Bool {
        guard identity == FileIdentity(location.databaseFile) else { return false }
        return try KeybagTable(db).isStill(storedKeybag) && VaultSchema.storedVersion(db) == formatVersion
    }

    /// The connection for writing.
    func writingConnection() throws(KeychainError) -> DatabaseQueue {
        try writer.withLock { (writer) throws(KeychainError) in
            if let writer { return writer }
            try FileSafety.checkCompanions(location)
            let opened = try Connection.openForWriting(location.databaseFile, timeout)
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
}
