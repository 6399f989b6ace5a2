// SPDX-License-Identifier: Apache-2.0
// The one way in which a vault is changed: lock, open, begin, check, run, ask the gate, commit.

import Foundation
import GRDB
import KeychainEngine

extension Vault {
    /// Runs `body` in one durable transaction, alone among all writers of all processes; makes the vault if there is none.
    ///
    /// - Parameters:
    ///   - emptyingLog: Whether the WAL must be truncated after the commit because the transaction removed something; asked
    ///     when `body` is done. Where a reader of another process prevents it, a later writer does it.
    ///   - usingReserve: Whether the transaction has to work on a full disk, since it only removes something; asked when the
    ///     disk was full. By default as `emptyingLog`.
    ///   - gate: What decides, directly before the commit, whether the call has ended.
    func write<Result>(
        emptyingLog: @autoclosure () -> Bool = false, usingReserve: (() -> Bool)? = nil, gate: CommitGate? = nil,
        _ body: (RowSealer, WriteTransaction) throws -> Result
    ) throws(KeychainError) -> Result {
        try writeAnything(emptyingLog: emptyingLog(), usingReserve: usingReserve, gate: gate) { session, transaction in
            try body(session.keyState.sealer(), transaction)
        }
    }

    /// The same without needing any keys.
    func writeAnything<Result>(
        emptyingLog: @autoclosure () -> Bool = false, usingReserve: (() -> Bool)? = nil, gate: CommitGate? = nil,
        _ body: (Session, WriteTransaction) throws -> Result
    ) throws(KeychainError) -> Result {
        try change(emptyingLog: emptyingLog(), usingReserve: usingReserve, gate: gate) { session, keeper in
            try Self.complete(session, keeper.transaction)
            return try body(session, keeper.transaction)
        }
    }

    /// The same for what decides by itself how the head goes on.
    func change<Result>(
        emptyingLog: @autoclosure () -> Bool = false, usingReserve: (() -> Bool)? = nil, gate: CommitGate? = nil,
        _ body: (Session, HeadKeeper) throws -> Result
    ) throws(KeychainError) -> Result {
        // Before the lock, which on such a medium could not even be opened.
        if let session = try openSession(), session.isReadOnly { throw .vaultIsReadOnly(location) }
        let lock = try lockForWriting(gate)
        defer {
            gate?.leave()
            lock.release()
        }
        let reserve = Reserve(location)
        for _ in 1...Self.writingAttempts {
            try gate?.check()
            do throws(KeychainError) {
                let session = try openOrCreateSession(lock)
                if let result = try commit(session, lock, gate, emptyingLog, body) {
                    reserve.restore()
                    return result
                }
                try close()
            } catch {
                // What may have happened is neither called undone nor tried again.
                guard error != .unknownOutcome(location.databaseFile) else { throw error }
                let error = reserve.named(error)
                guard reserve.isWanted(after: error), usingReserve?() ?? emptyingLog(), reserve.giveUp() else {
                    throw error
                }
            }
        }
        throw KeychainError(.busy, "The keybag of '\(location.folder)' keeps changing. Try again.")
    }

    /// Others would have to change the keybag without the lock each time.
    private static let writingAttempts = 3

    /// The writer lock; its file is made again if somebody removed it.
    func lockForWriting(_ gate: CommitGate?) throws(KeychainError) -> FileLock {
        let wait = FileLock.Wait(settings.writerTimeout, gate)
        while true {
            if access(location.lockFile, F_OK) != 0 {
                try VaultCreation(location: location, timeout: settings.writerTimeout).ensureFolder()
            }
            if let lock = try FileLock.take(location.lockFile, flags: O_RDWR, wait) { return lock }
        }
    }

    private func openOrCreateSession(_ lock: FileLock) throws(KeychainError) -> Session {
        if let open = try openSession(age: Self.lookInterval) { return open }
        try VaultCreation(location: location, timeout: settings.writerTimeout).create(lock)
        guard let created = try openSession() else {
            throw KeychainError(.inputOutput, "The vault '\(location.folder)' was made and then not found.")
        }
        return created
    }

    /// One transaction.
    ///
    /// - Returns: `nil`, and nothing has changed, if the session does not stand for what is in the file any more.
    func commit<Result>(
        _ session: Session, _ lock: FileLock, _ gate: CommitGate?, _ emptyingLog: () -> Bool,
        _ body: (Session, HeadKeeper) throws -> Result
    ) throws(KeychainError) -> Result? {
        // A vault that was copied without its lock file, or lost it, has lost the marker with it; one whose making failed has none yet.
        if lock.isEmpty { try VaultCreation.finish(lock, location) }
        let connection = try session.writingConnection()
        do throws(KeychainError) {
            return try DatabaseFailure.translating(location.databaseFile) {
                try connection.writeWithoutTransaction { db in
                    let keeper = HeadKeeper(session, db)
                    var truncation: LogTruncation?
                    PausePoint.beforeBegin.reached()
                    try Connection.begin(db)
                    PausePoint.begun.reached()
                    do {
                        // Inside the transaction: without the lock file's help others could come in between.
                        guard try session.isOf(db) else {
                            try db.rollback()
                            return nil
                        }
                        PausePoint.keybagLooked.reached()
                        let result = try body(session, keeper)
                        truncation = LogTruncation(lock, isNeeded: emptyingLog())
                        // What belongs to every change and covers all of it is written here.
                        try keeper.finish()
                        PausePoint.beforeCommit.reached()
                        try gate?.enter()
                        try Connection.commit(db, location.databaseFile)
                        PausePoint.committed.reached()
                        keeper.committed()
                        truncation?.run(db)
                        // The session's view of the format, or of the files, is a thing of the past.
                        if session.formatVersion < VaultSchema.version || session.isFrozen { dropSession() }
                        return result
                    } catch {
                        // After some errors SQLite has rolled back by itself.
                        if db.isInsideTransaction { try db.rollback() }
                        if error as? KeychainError != .unknownOutcome(location.databaseFile) { truncation?.withdraw() }
                        throw error
                    }
                }
            }
        } catch {
            if error.reason == .inputOutput || error.reason == .corrupt { session.dropWritingConnection() }
            throw error
        }
    }

    /// What the first write to a damaged vault adds. The head raises the format of an older one.
    private static func complete(_ session: Session, _ transaction: WriteTransaction) throws {
        guard !session.hasTwoKeybags, let keybag = session.keyState.authentic else { return }
        try transaction.write(keybag: keybag.bytes)
    }
}

/// Takes removed data out of the WAL after a commit, as soon as no reader needs it there.
private struct LogTruncation {
    private let lock: FileLock
    private let isNeeded: Bool
    /// Whether an earlier one is still due.
    private let isOverdue: Bool

    /// Before the commit: a process that is killed after it leaves the note.
    init(_ lock: FileLock, isNeeded: Bool) {
        self.lock = lock
        self.isNeeded = isNeeded
        isOverdue = VaultMarker.notesRemovedData(lock)
        if isNeeded, !isOverdue { VaultMarker.noteRemovedData(true, lock) }
    }

    /// If nothing was removed after all.
    func withdraw() {
        if isNeeded, !isOverdue { VaultMarker.noteRemovedData(false, lock) }
    }

    /// After the commit, which nothing here can take back. Waits for no reader: one may have been stopped.
    func run(_ db: Database) {
        guard isNeeded || isOverdue else { return }
        if Connection.truncateLog(db) {
            VaultMarker.noteRemovedData(false, lock)
        } else if !isOverdue {
            VaultMarker.noteRemovedData(true, lock, durably: true)
        }
    }
}

extension KeychainError {
    fileprivate static func vaultIsReadOnly(_ location: VaultLocation) -> KeychainError {
        KeychainError(
            .readOnly, "The vault '\(location.folder)' cannot be written. Reading works; to write, make it writable.")
    }
}
