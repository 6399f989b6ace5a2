// SPDX-License-Identifier: Apache-2.0
// Restoring a backup.

import Foundation
public import KeychainEngine

extension Vault {
    /// Replaces the contents of the vault with those of a backup, or creates the vault from it if there is none.
    ///
    /// At every moment, also after a crash, there is the old vault or the new one. The replaced vault is kept, complete
    /// with its last changes, in a separate file in the vault's folder; so is the WAL of a missing database. Writers of
    /// other processes wait, and continue in the new vault.
    ///
    /// The restored state is accepted at once, as by ``accept()``, although it is older than the replaced one. If its
    /// index is not open here, or the acceptance was interrupted, it can be read, but written only after it was
    /// accepted.
    ///
    /// - Parameter force: Whether to restore a backup that nothing on this machine opens, that has damaged items, or
    ///   whose rows differ from its head.
    /// - Parameter shown: The result of ``examineBackup(_:progress:)`` that the user has confirmed, if any. The file must not
    ///   have changed since.
    /// - Parameter progress: Called with the number of items that were checked so far, in each of two checks.
    /// - Throws: `corrupt`, `newerFormat` or `unsafeLocation` if the file is not a complete backup,
    ///   `authenticationFailed` if nothing on this machine opens it, the error of reading the device key, `busy` while
    ///   another process restores, or if the file differs from `shown`, and `readOnly`. After these errors nothing was
    ///   changed. If a later step fails, the message says what was done and where the replaced vault is kept.
    @discardableResult
    public func restore(
        from path: String, force: Bool = false, asShown shown: VaultBackup? = nil,
        progress: (Int) -> Void = { _ in }
    ) throws(KeychainError) -> VaultRestoration {
        let file = try BackupFile(path, of: location, isRead: true)
        try file.checkPresent()
        try check(file, shown)
        // Checked before a folder is created for it.
        try check(try VaultContents(at: file.path, location, settings, progress: progress), force)
        try location.checkSeparation()
        try checkMayWrite()
        try VaultCreation(location: location, timeout: settings.writerTimeout).ensureFolder()
        _ = try FileSafety.checkFolder(location.folder)
        VaultCreation.removeSecondName(location)
        let copy = try UnfinishedFile(location.unfinishedRestoration)
        let state = FileState(file.path)
        try copy.fill(from: file.path)
        try check(file, shown)
        // The file may have changed since; other users cannot change the copy.
        let contents = try VaultContents(at: copy.path, location, settings, progress: progress)
        try check(contents, force)
        let lock = try lockForWriting(FileLock.Wait(settings.writerTimeout))
        defer { lock.release() }
        // Of a vault that does not open, nothing tells which keys are its own.
        let former = try? openSession()?.keybag.vaultID
        try close()
        let kept = try putInPlace(copy, lock)
        let failure = acceptRestored(lock, replacing: kept.vault)
        return VaultRestoration(
            backup: VaultBackup(file.path, state, contents, settings), replaced: kept.vault, replacedWAL: kept.wal,
            acceptanceFailure: failure, isClosedHere: failure.map { contents.isRefused(with: $0) } ?? false,
            lockFailure: former == contents.keybag.vaultID ? nil : former.flatMap(lockReplaced))
    }

    /// The same reason as for other changes of the vault, which cannot be written then.
    private func checkMayWrite() throws(KeychainError) {
        guard try FileSafety.checkFolder(location.folder) else { return }
        // SQLite would give the permissions of the database to its WAL and its index, which then cannot be written either.
        for (what, path) in [("folder", location.folder), ("database", location.databaseFile)] {
            guard !FileSafety.allows(W_OK, path), errno == EACCES else { continue }
            throw KeychainError(
                .readOnly,
                "The vault's \(what) '\(path)' cannot be written. Nothing was changed. Run: chmod u+w '\(path)'")
        }
    }

    /// The restoration stays even if this fails.
    ///
    /// - Returns: The reason if it failed.
    private func acceptRestored(_ lock: FileLock, replacing replaced: String?) -> KeychainError? {
        do throws(KeychainError) {
            try VaultCreation.finish(lock, location)
            try close()
            let session = try currentSession()
            var transaction: VaultTransaction?
            let head = replaced.flatMap(Self.sealedHead)
            let findings = try commit(.ofHead, session, lock, nil, &transaction) { restored in
                try restored.keeper.accept(isRestored: true, replacing: head)
            }
            // Without the space the vault works too, but cannot remove its largest row once the disk is full.
            let reserve = Reserve(location)
            if let largest = session.largestRow() { _ = try? reserve.cover(rowOf: largest) }
            reserve.confirm()
            return findings == nil ? KeychainError(.busy, "Another process changed the vault at the same time.") : nil
        } catch {
            return error
        }
    }

    /// From now on `lock` locks the restored vault. The replaced one, which is kept, must not stay unlocked.
    ///
    /// - Returns: The reason if it failed.
    private func lockReplaced(_ vaultID: UUID) -> KeychainError? {
        do throws(KeychainError) {
            for state in [LockState.locked, .unlocked] { try settings.cache.remove(state, vaultID: vaultID) }
            return nil
        } catch {
            return error
        }
    }

    /// The stored head of a vault that is kept; `nil` if it has none, or cannot be read.
    private static func sealedHead(of path: String) -> Data? {
        do {
            return try Connection.openImmutable(path).reading { try HeadTable($0).read() }
        } catch {
            return nil
        }
    }

    /// - Throws: `busy` if the file has changed since the user saw it.
    private func check(_ file: BackupFile, _ shown: VaultBackup?) throws(KeychainError) {
        guard let shown, shown.file != file.path || shown.state != FileState(file.path) else { return }
        throw KeychainError(
            .busy,
            "'\(file.path)' has changed since it was checked. Nothing was changed. Check it again, then restore it."
        )
    }

    private func check(_ contents: VaultContents, _ force: Bool) throws(KeychainError) {
        guard !force else { return }
        guard contents.opening != .notHere else {
            if let failure = contents.deviceKeyFailure { throw failure }
            let names = contents.keybag.slots.compactMap { ProtectorKind(number: $0.kind)?.name }
            throw KeychainError(
                .authenticationFailed,
                "This backup cannot be opened here. It opens with: \(names.joined(separator: ", ")). Nothing was changed. Put "
                    + "the right device key at '\(location.deviceKeyFile)' first. To restore it anyway, add: --force")
        }
        let damaged = contents.items?.damaged ?? 0
        guard damaged == 0 else {
            throw KeychainError(
                .corrupt,
                "\(damaged) of the items in this backup are damaged. Nothing was changed. To restore it anyway, add: --force"
            )
        }
        guard contents.differences.isEmpty else {
            throw KeychainError(
                .corrupt,
                "The contents of this backup differ from their last known state: \(contents.differences.sentence). Nothing "
                    + "was changed. To restore it anyway, add: --force")
        }
    }

    /// - Returns: The files in which the replaced vault is kept.
    private func putInPlace(
        _ copy: UnfinishedFile, _ lock: FileLock
    ) throws(KeychainError) -> (vault: String?, wal: String?) {
        try FileSafety.checkCompanions(location)
        let kept = ReplacedVault(location: location, timeout: settings.writerTimeout)
        guard try FileSafety.checkFile(location.databaseFile) != nil else {
            try checkUndisturbed(copy, lock)
            return (nil, try putWhereNoneIs(copy, lock, kept))
        }
        let state = try kept.keep()
        PausePoint.vaultKept.reached()
        do throws(KeychainError) {
            let source = try Connection.openImmutable(copy.path)
            try DatabaseCopy.overwrite(location.databaseFile, with: source, settings.writerTimeout) { isDone in
                // The last process that closes the vault moves the WAL into it.
                if isDone { return try state.close() }
                try checkUndisturbed(copy, lock)
                // A writer that holds the lock on a previous lock file may have been in the middle of a transaction.
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
            // Not a database at all: only another file can replace it. All of it is kept, including the WAL.
            do throws(KeychainError) {
                try removeCompanions()
                try put(copy, replacing: true, lock)
            } catch {
                throw kept.named(error)
            }
        }
        return (kept.path, nil)
    }

    /// - Returns: The file in which the WAL of a missing database is kept.
    private func putWhereNoneIs(
        _ copy: UnfinishedFile, _ lock: FileLock, _ kept: ReplacedVault
    ) throws(KeychainError) -> String? {
        let hasWAL = try kept.keepWAL(lock)
        do throws(KeychainError) {
            try removeCompanions()
            PausePoint.beforeOverwrite.reached()
            try put(copy, replacing: false, lock)
        } catch {
            throw hasWAL ? kept.namingWAL(error) : error
        }
        // Not all names that lead to it are durable yet; the next writer makes them so if this process is killed.
        if hasWAL { VaultMarker.withdraw(lock) }
        return hasWAL ? kept.wal : nil
    }

    /// Gives the copy the name of the database.
    ///
    /// - Parameter replacing: Whether what is there was kept. Where nothing was, a database that has come is another program's.
    private func put(_ copy: UnfinishedFile, replacing: Bool, _ lock: FileLock) throws(KeychainError) {
        do throws(KeychainError) {
            guard try copy.put(at: location.databaseFile, replacing: replacing) else {
                throw Self.disturbed(location)
            }
        } catch {
            guard copy.isInPlace else { throw error }
            // The next writer makes the name durable before anything else.
            VaultMarker.withdraw(lock)
            throw error.after("The backup was restored.", next: "To allow changes again, run: keychainctl accept")
        }
    }

    /// A file may have been removed: then the copy's name may lead to another file, or a writer that takes a new lock
    /// file would lose its changes.
    private func checkUndisturbed(_ copy: UnfinishedFile, _ lock: FileLock) throws(KeychainError) {
        guard copy.isAtItsPlace, try lock.isStill(at: location.lockFile) else { throw Self.disturbed(location) }
    }

    private static func disturbed(_ location: VaultLocation) -> KeychainError {
        KeychainError(
            .busy,
            "Files of '\(location.folder)' were removed or written during the restoration. Nothing was changed. Try again."
        )
    }

    /// SQLite would use the files of the previous database for the new one.
    private func removeCompanions() throws(KeychainError) {
        for path in VaultLocation.companionNames.map({ location.folder + "/" + $0 }) {
            guard unlink(path) == 0 || errno == ENOENT else { throw SystemFailure.failure("remove", path) }
        }
    }
}
