// SPDX-License-Identifier: Apache-2.0
// Putting a backup in the vault's place.

import Foundation
import GRDB
public import KeychainEngine

extension Vault {
    /// Puts what a backup holds in the place of the vault, or makes the vault from it if there is none.
    ///
    /// At every moment, also after a crash, there is the old vault or the new one. What is replaced is kept, whole and with its
    /// last changes, in a file of its own in the vault's folder. Writers of other processes wait, and go on in the new vault.
    ///
    /// The restored state is accepted at once, as by ``accept()``, although it is older than what was there. If its index is not
    /// open here, or that was interrupted, it can be read, and written after it was accepted.
    ///
    /// - Parameter force: Whether to restore a backup that nothing here opens, some of whose items are damaged, or that is not
    ///   as it was made.
    /// - Parameter shown: What ``examineBackup(_:)`` told of the file, if somebody has agreed to that. The file must not have changed
    ///   since.
    /// - Throws: `corrupt`, `newerFormat` or `unsafeLocation` if the file is no whole backup, `authenticationFailed` if
    ///   nothing here opens it, what kept the device key from being read, `busy` while another process restores, or if the
    ///   file is not as `shown`. Then nothing was changed.
    @discardableResult
    public func restore(
        from path: String, force: Bool = false, asShown shown: VaultBackup? = nil
    ) throws(KeychainError) -> VaultRestoration {
        let file = try BackupFile(path, of: location, isRead: true)
        try file.checkPresent()
        try check(file, shown)
        // Before a folder is made for it.
        try check(try VaultContents(at: file.path, location, settings), force)
        try location.checkSeparation()
        try VaultCreation(location: location, timeout: settings.writerTimeout).ensureFolder()
        _ = try FileSafety.checkFolder(location.folder)
        let copy = try UnfinishedFile(location.unfinishedRestoration)
        let state = FileState(file.path)
        try copy.fill(from: file.path)
        try check(file, shown)
        // The file may have changed since; nobody else can change the copy.
        let contents = try VaultContents(at: copy.path, location, settings)
        try check(contents, force)
        let lock = try lockForWriting(nil)
        defer { lock.release() }
        try close()
        let replaced = try putInPlace(copy, lock)
        return VaultRestoration(
            backup: VaultBackup(file.path, state, contents, settings), replaced: replaced,
            obstacle: acceptRestored(lock))
    }

    /// A vault that was restored stays so whether or not this succeeds.
    ///
    /// - Returns: Why it did not.
    private func acceptRestored(_ lock: FileLock) -> KeychainError? {
        do throws(KeychainError) {
            try VaultCreation.finish(lock, location)
            try close()
            let session = try currentSession()
            let findings = try commit(session, lock, nil, { false }) { _, keeper in
                try keeper.accept(isRestored: true)
            }
            return findings == nil ? KeychainError(.busy, "Another process changed the vault just then.") : nil
        } catch {
            return error
        }
    }

    /// - Throws: `busy` if the file is not any more as it was when somebody looked at it.
    private func check(_ file: BackupFile, _ shown: VaultBackup?) throws(KeychainError) {
        guard let shown, shown.file != file.path || shown.state != FileState(file.path) else { return }
        throw KeychainError(
            .busy,
            "'\(file.path)' has changed since it was looked at. Nothing was changed. Look at it again, and restore it then."
        )
    }

    private func check(_ contents: VaultContents, _ force: Bool) throws(KeychainError) {
        guard !force else { return }
        guard contents.opening != .notHere else {
            if let obstacle = contents.obstacle { throw obstacle }
            let names = contents.keybag.slots.compactMap { ProtectorKind(number: $0.kind)?.name }
            throw KeychainError(
                .authenticationFailed,
                "Nothing here opens this backup; it opens with: \(names.joined(separator: ", ")). Nothing was changed. Put the "
                    + "right device key at '\(location.deviceKeyFile)' first, or restore it all the same: --force")
        }
        let damaged = contents.items?.damaged ?? 0
        guard damaged == 0 else {
            throw KeychainError(
                .corrupt,
                "\(damaged) of the items in this backup are damaged. Nothing was changed. To restore it all the same: --force"
            )
        }
        guard contents.differences.isEmpty else {
            throw KeychainError(
                .corrupt,
                "This backup is not as it was made: \(contents.differences.sentence). Nothing was changed. To restore it all the "
                    + "same: --force")
        }
    }

    /// - Returns: The file that what was there before is kept in.
    private func putInPlace(_ copy: UnfinishedFile, _ lock: FileLock) throws(KeychainError) -> String? {
        try FileSafety.checkCompanions(location)
        let residue = VaultLocation.companionNames.map { location.folder + "/" + $0 }
        guard try FileSafety.checkFile(location.databaseFile) != nil else {
            try checkUndisturbed(copy, lock)
            // The log of a database that is gone would be taken for that of the new one.
            try Self.remove(residue)
            try put(copy, lock)
            return nil
        }
        let kept = ReplacedVault(location: location, timeout: settings.writerTimeout)
        let state = try kept.keep()
        PausePoint.vaultKept.reached()
        do throws(KeychainError) {
            let source = try Connection.openImmutable(copy.path)
            try DatabaseCopy.overwrite(location.databaseFile, with: source, settings.writerTimeout) { isDone in
                // Whoever closes the vault as the last one moves the log into it.
                if isDone { return try state.close() }
                try checkUndisturbed(copy, lock)
                // A writer that holds a lock file of before may have been in the midst of its transaction.
                guard try state.isCurrent else { throw Self.disturbed(location) }
            }
        } catch {
            guard error != .unknownOutcome(location.databaseFile) else { throw kept.named(error) }
            guard error.reason == .corrupt else {
                kept.discard()
                throw error
            }
            do throws(KeychainError) {
                try checkUndisturbed(copy, lock)
            } catch {
                kept.discard()
                throw error
            }
            // No database at all: only another file can take its place. All of it is kept, the log included.
            do throws(KeychainError) {
                try Self.remove(residue)
                try put(copy, lock)
            } catch {
                throw kept.named(error)
            }
        }
        return kept.path
    }

    /// Gives the copy the name of the database.
    private func put(_ copy: UnfinishedFile, _ lock: FileLock) throws(KeychainError) {
        do throws(KeychainError) {
            try copy.put(at: location.databaseFile)
        } catch {
            guard copy.isInPlace else { throw error }
            // The next writer makes the name durable before anything else.
            VaultMarker.withdraw(lock)
            throw error.after("The backup was restored.", next: "To be able to write: keychainctl accept")
        }
    }

    /// Somebody may have removed a file: the copy's name would lead to another one, or a writer that takes a new lock file would
    /// lose what it stores now.
    private func checkUndisturbed(_ copy: UnfinishedFile, _ lock: FileLock) throws(KeychainError) {
        guard copy.isAtItsPlace, try lock.isStill(at: location.lockFile) else { throw Self.disturbed(location) }
    }

    private static func disturbed(_ location: VaultLocation) -> KeychainError {
        KeychainError(
            .busy,
            "Files of '\(location.folder)' were removed or written while it was restored. Nothing was changed. Try again."
        )
    }

    private static func remove(_ paths: [String]) throws(KeychainError) {
        for path in paths {
            guard unlink(path) == 0 || errno == ENOENT else { throw SystemFailure.failure("remove", path) }
        }
    }
}

/// The copy of a vault that is about to be replaced.
struct ReplacedVault {
    let location: VaultLocation
    /// How long to wait for other processes.
    let timeout: Duration
    let path: String

    init(location: VaultLocation, timeout: Duration) {
        (self.location, self.timeout) = (location, timeout)
        let moment = Date().formatted(
            Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted, timeZone: .gmt))
        var (path, number) = (location.replacedPrefix + moment, 1)
        while access(path, F_OK) == 0 {
            number += 1
            path = location.replacedPrefix + moment + "-\(number)"
        }
        self.path = path
    }

    /// The vault as it was when it was copied.
    struct State {
        /// `nil` if SQLite cannot read the vault, so that nobody can write it either.
        fileprivate var source: DatabaseQueue?
        fileprivate var version: Int64?

        /// Whether nobody has written the vault since.
        var isCurrent: Bool {
            get throws { try source?.inDatabase(State.version) == version }
        }

        func close() throws { try source?.close() }

        /// Changes for a connection with each commit of another one (SQLite's documentation of `data_version`).
        fileprivate static func version(_ db: Database) throws -> Int64? {
            _ = try Int64.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master")
            return try Int64.fetchOne(db, sql: "PRAGMA data_version")
        }
    }

    /// As a whole vault, or, where SQLite cannot read it, byte by byte with its log. If it fails, nothing is kept.
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
        try copy.put(at: path)
        return State(source: source, version: version)
    }

    private func keepBytes() throws(KeychainError) {
        for suffix in ["-wal", ""] where try FileSafety.checkFile(location.databaseFile + suffix) != nil {
            let copy = try UnfinishedFile(location.unfinishedKeeping)
            try copy.fill(from: location.databaseFile + suffix)
            try copy.put(at: path + suffix)
        }
    }

    /// Where it may have been replaced, and nobody knows.
    func named(_ error: KeychainError) -> KeychainError {
        KeychainError(error.reason, error.message + " The vault of before is kept in '\(path)'.")
    }

    /// When nothing was replaced after all.
    func discard() {
        for suffix in ["", "-wal"] { unlink(path + suffix) }
    }
}
