// SPDX-License-Identifier: Apache-2.0
// An open vault: its connections and keys, as long as its files stay the same.

import CKeychainSQLite
import Foundation
import KeychainCrypto
import KeychainEngine
import SecretMemory

/// The state of an open vault: one connection for reading, one for writing after the first write, and the open keys.
final class Session: Sendable {
    let location: VaultLocation
    /// How long a call waits for other processes.
    private let timeout: Duration
    let keybag: Keybag
    let keyState: KeyState
    /// The version of the tables; an older one must be upgraded before newer contents are written.
    let formatVersion: Int32
    var isOfFormerFormat: Bool { formatVersion < VaultSchema.version }
    /// Whether changes of items must reach other machines.
    var isInRing: Bool { formatVersion == VaultSchema.versionInRing }
    /// The intact stored keybags; the one in use comes first.
    let keybags: [Keybag]
    /// Whether both stored keybags are this one. If not, the next write with keys to authenticate one repairs the
    /// other.
    let hasTwoKeybags: Bool
    /// The first of the two keybags as it was read.
    let storedKeybag: Data?
    /// Whether the vault could be read but not written when it was opened.
    let isReadOnly: Bool
    /// Why the WAL's index is only in the memory of this process; `nil` if it is on disk. With such an index the vault
    /// cannot be written, and SQLite uses one index for all connections of a process.
    let indexFailure: KeychainError?
    /// The outside state of the files when they were opened, if SQLite does not notice changes of them.
    private let frozenState: FilesState?
    /// Whether SQLite coordinates the reader with other processes.
    private let isCoordinated: Bool
    let reader: ReaderPool
    private let writer = Guarded<SharedConnection?>(nil)
    let knownHead = KnownHead()
    let anchors: AnchorStore
    private let identity: FileIdentity
    /// `nil` if SQLite does not share them with other processes.
    private let companions: CompanionFiles?
    private let closing: ClosingRule
    private let process = getpid()
    let reads = ReadCache()
    private let lastLook: Guarded<Look>
    /// The index of the WAL, valid as long as the reader is open; `nil` if it is not in shared memory.
    nonisolated(unsafe) private let walIndex: UnsafeRawPointer?
    private let hasLookedAtReserve = Guarded(false)

    /// The last check of the files.
    private struct Look {
        var moment: ContinuousClock.Instant
        /// The end of the WAL when the keybag was compared, or before.
        var end: WALHeader?
        /// The database when the WAL was last found without a beginning.
        var database: FileState?
    }

    /// Opens an existing vault.
    init(
        _ location: VaultLocation, _ settings: VaultSettings, identity: FileIdentity
    ) throws(KeychainError) {
        self.location = location
        timeout = settings.writerTimeout
        self.identity = identity
        // Read before the database: the next check then notices every later write.
        let (stateBefore, databaseBefore) = (FilesState(location), FileState(location.databaseFile))
        isReadOnly = FilesState.isReadOnly(location)
        let opened = try Opened(location, settings.writerTimeout, isReadOnly: isReadOnly)
        let closing = ClosingRule()
        self.closing = closing
        opened.reader.closing = closing
        companions = opened.walIndex == nil ? nil : CompanionFiles(location)
        // Other threads of this process hold a connection as long as they search, however short the wait for other processes is.
        let timeout = max(settings.writerTimeout, .seconds(10))
        reader = ReaderPool(opened.reader, opened.walIndex, timeout: timeout) {
            // SQLite would treat the index of a file that was put in its place as this process's own.
            try FileSafety.checkCompanions(location)
            guard identity == FileIdentity(location.databaseFile) else {
                throw SQLiteFailure(code: SQLITE_CANTOPEN)
            }
            let connection = try Connection.openForReading(location.databaseFile, settings.writerTimeout)
            // The first connection caches as much as SQLite does.
            try connection.execute("PRAGMA cache_size = -256")
            connection.closing = closing
            return connection
        }
        walIndex = opened.walIndex
        indexFailure = opened.indexFailure
        frozenState = opened.frozenState ?? (isReadOnly ? stateBefore : nil)
        isCoordinated = opened.frozenState == nil
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
        let isNamed = opened.end?.namesWAL ?? true
        lastLook = Guarded(Look(moment: .now, end: opened.end, database: isNamed ? nil : databaseBefore))
    }

    /// The end of the WAL. While two of them are equal, nothing was committed in between by any process; `nil` if this cannot be
    /// told.
    var walHeader: WALHeader? { walIndex.flatMap { WALHeader($0) } }

    /// When the files were last checked; `nil` if each call has to check them.
    var lookMoment: ContinuousClock.Instant? { frozenState == nil ? lastLook.withLock { $0.moment } : nil }

    /// `false` in the child of a fork, whose connections belong to its parent.
    var isOfThisProcess: Bool { process == getpid() }

    /// Whether this session still matches the files at its location: they may have been replaced or removed, and after
    /// a fork the child must not use the parent's connections.
    ///
    /// - Parameter age: How old the last check of the files may be. A check costs a tenth of a read.
    func isCurrent(age: Duration) throws(KeychainError) -> Bool {
        guard isOfThisProcess, !hasLostCompanions else { return false }
        // SQLite does not detect changes under such a connection, so each call checks. A medium or a folder can become
        // writable without any change of the files.
        if let frozenState {
            return frozenState == FilesState(location) && isReadOnly == FilesState.isReadOnly(location)
        }
        return try lastLook.withLock { (lastLook) throws(KeychainError) in
            let now = ContinuousClock.now
            if now - lastLook.moment < age { return true }
            guard identity == FileIdentity(location.databaseFile), hasItsCompanions else { return false }
            // Read before the keybag, which may change at any time.
            let end = walHeader
            let database = databaseIfUnnamed(end)
            if let database, database != lastLook.database { return false }
            // If the keybag has changed, protectors may have changed too: open keys must not outlast them.
            let isUnchanged = end != nil && (end == lastLook.end || end == knownHead.good?.end)
            if !isUnchanged, try !hasCurrentKeybag() { return false }
            lastLook = Look(moment: now, end: end, database: database)
            return true
        }
    }

    /// A WAL without a beginning is not named by its end, and a process that was killed while it published a commit may bring such
    /// an end back. Commits that went into the database meanwhile have changed its file. SQLite does not notice them, so that the
    /// connections would read, and write, outdated pages from their caches.
    ///
    /// - Returns: `nil` if the end names the WAL.
    private func databaseIfUnnamed(_ end: WALHeader?) -> FileState? {
        guard let end, !end.namesWAL else { return nil }
        return FileState(location.databaseFile)
    }

    /// Whether the WAL and its index are still at their paths. If another program has removed or replaced one, other
    /// processes use the new one: this session would not see their changes, and they would not see its changes.
    private var hasItsCompanions: Bool {
        guard let companions, companions != CompanionFiles(location) else { return true }
        closing.keepWAL()
        return false
    }

    /// Whether ``isCurrent(age:)`` has found that the WAL or its index were replaced. As long as a connection to the former ones
    /// is open in this process, SQLite gives them to new connections too.
    var hasLostCompanions: Bool { closing.keepsWAL }

    /// Whether another process has written since the session was opened, and may have done so during a read that SQLite
    /// does not coordinate with it (``Vault/ifUndisturbed(_:_:)``).
    var isDisturbed: Bool {
        guard let frozenState, !isCoordinated else { return false }
        PausePoint.rowsRead.reached()
        return frozenState != FilesState(location)
    }

    /// Expires the last check, and drops the keys that have been locked.
    func lookAgain() {
        keyState.forgetLocked()
        reads.removeAll()
        lastLook.withLock { $0.moment = .now - .seconds(3600) }
    }

    /// Whether the keybag and the format are still those that were read: a backup may have been restored into the file.
    func hasCurrentKeybag() throws(KeychainError) -> Bool {
        try DatabaseFailure.translating(location.databaseFile) {
            try reader.use { connection in
                try KeybagTable(connection).isStill(storedKeybag)
                    && VaultSchema.storedVersion(connection) == formatVersion
            }
        }
    }

    /// Whether its reader does not notice writes of this process.
    var isFrozen: Bool { frozenState != nil }

    /// Whether this session still matches the written database, checked within the transaction. Its keys must be those
    /// of the keybag, or items sealed under them would be lost, and its file must be the one at the vault's path.
    ///
    /// - Parameter isUnchanged: Whether there was no commit since the session was last found to match.
    func isOf(_ connection: Connection, isUnchanged: Bool) throws -> Bool {
        guard identity == FileIdentity(location.databaseFile) else { return false }
        guard hasItsCompanions else { throw KeychainError.replacedCompanions(location) }
        if isUnchanged { return true }
        return try KeybagTable(connection).isStill(storedKeybag)
            && VaultSchema.storedVersion(connection) == formatVersion
    }

    /// The connection for writing.
    func writingConnection() throws(KeychainError) -> SharedConnection {
        try writer.withLock { (writer) throws(KeychainError) in
            if let writer { return writer }
            try FileSafety.checkCompanions(location)
            let connection = try Connection.openForWriting(location.databaseFile, timeout)
            connection.closing = closing
            let opened = SharedConnection(connection)
            writer = opened
            return opened
        }
    }

    /// Whether the blocks of the reserve were not checked in this session before. Where its holes cannot be filled, every write
    /// would otherwise try it.
    func isFirstLookAtReserve() -> Bool {
        hasLookedAtReserve.withLock { hasLooked in
            defer { hasLooked = true }
            return !hasLooked
        }
    }

    /// The bytes of the largest row; `nil` if they cannot be read.
    func largestRow() -> Int? { try? writingConnection().use { try ItemTable($0).largestLength() } }

    /// After an error of the medium, the cached state of the connection is not reliable.
    func dropWritingConnection() {
        writer.withLock { $0 = nil }
    }

    /// Closes the parent's connections in the child of a fork. As long as one is open here, SQLite considers the
    /// parent's locks as this process's own: after the parent has ended, another process could remove the WAL that this
    /// process writes. The parent keeps its locks, which belong to processes.
    ///
    /// - Returns: `false` if a thread of the parent was using one of them.
    func closeInChild() -> Bool {
        guard var connections = reader.unusedConnections(), let writer = writer.withLockIfAvailable({ $0 }) else {
            return false
        }
        if let writer {
            guard let connection = writer.unusedConnection() else { return false }
            connections.append(connection)
        }
        do {
            for connection in connections { try connection.close() }
            return true
        } catch {
            return false
        }
    }

    /// Ends both connections. The last connection to a vault moves the WAL into the database and removes it.
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

extension KeychainError {
    static func replacedCompanions(_ location: VaultLocation) -> KeychainError {
        KeychainError(
            .busy,
            "The files beside '\(location.databaseFile)' were removed or replaced by another program while this one used them. "
                + "Try again.")
    }
}
