// SPDX-License-Identifier: Apache-2.0
// Copies of the vault in one file.

public import Foundation
public import KeychainEngine

extension Vault {
    /// Writes a consistent copy of the vault into one file. Other processes can read and write in the meantime, and no
    /// key is needed. The copy is checked completely before it gets its name.
    ///
    /// ```swift
    /// let backup = try vault.backup(to: "/media/stick/vault.backup")
    /// ```
    ///
    /// Does not contain the device key: a vault that only the device key opens needs a copy of that file too.
    ///
    /// - Parameters:
    ///   - replacing: Whether an older backup of that name may be replaced. At every moment the name leads to the old one
    ///     or the new one.
    ///   - progress: Called with the number of items of the copy that were checked so far.
    /// - Throws: `unavailable` if there is no vault, `duplicateItem` if the file exists and `replacing` is `false`, or
    ///   if it is not a backup, `unsafeLocation` for a path in a vault's folder, `busy` while another process writes
    ///   the same file, or keeps writing a vault that this process reads without coordination, `corrupt` if the vault
    ///   is too damaged to be copied, `diskFull`.
    @discardableResult
    public func backup(
        to path: String, replacing: Bool = false, progress: (Int) -> Void = { _ in }
    ) throws(KeychainError) -> VaultBackup {
        let file = try BackupFile(path, of: location, isRead: false)
        for _ in 1...Self.readingAttempts {
            try file.checkFree(replacing: replacing)
            if let backup = try backUp(to: file, replacing, progress) { return backup }
        }
        throw .readingDisturbed(location)
    }

    /// - Returns: `nil` if the copy was disturbed and removed (``ifUndisturbed(_:_:)``).
    private func backUp(
        to file: BackupFile, _ replacing: Bool, _ progress: (Int) -> Void
    ) throws(KeychainError) -> VaultBackup? {
        let source = try openSource()
        let unfinished = try UnfinishedFile(file.unfinished)
        let contents = try Self.ifUndisturbed(source.frozenState.map { $0 != FilesState(location) } ?? false) {
            () throws(KeychainError) in
            try checkedCopy(of: source.reader, at: unfinished.path, progress)
        }
        guard let contents else { return nil }
        try file.checkFree(replacing: replacing)
        PausePoint.backupChecked.reached()
        guard try unfinished.put(at: file.path, replacing: replacing) else { throw file.isThere }
        return VaultBackup(file.path, FileState(file.path), contents, settings)
    }

    private func checkedCopy(
        of source: Connection, at path: String, _ progress: (Int) -> Void
    ) throws(KeychainError) -> VaultContents {
        let count = try DatabaseCopy.fill(path, from: source) { try ItemTable($0).count() }
        PausePoint.backupCopied.reached()
        let contents = try VaultContents(at: path, location, settings, progress: progress)
        try check(contents, count, against: source)
        return contents
    }

    /// The contents of a backup, checked completely without changing it. If the process that wrote it was interrupted, a second name of
    /// the file may be removed.
    ///
    /// - Parameter progress: Called with the number of items that were checked so far.
    /// - Throws: `unavailable` if there is no such file or it is not complete, `unsafeLocation`, `corrupt`,
    ///   `newerFormat`.
    public func examineBackup(
        _ path: String, progress: (Int) -> Void = { _ in }
    ) throws(KeychainError) -> VaultBackup {
        let file = try BackupFile(path, of: location, isRead: true)
        try file.checkPresent()
        let state = FileState(file.path)
        let contents = try VaultContents(at: file.path, location, settings, progress: progress)
        return VaultBackup(file.path, state, contents, settings)
    }

    /// Checks whether a secret opens a backup, without changing anything.
    ///
    /// - Throws: `authenticationFailed` if it does not; what ``examineBackup(_:progress:)`` throws.
    public func checkBackup(_ path: String, opensWith secret: ProtectorSecret) throws(KeychainError) {
        let file = try BackupFile(path, of: location, isRead: true)
        try file.checkPresent()
        let keybag = try VaultContents(at: file.path, location, settings).keybag
        let environment = try ProtectorEnvironment(location, settings, canDoWithoutDeviceKey: true)
        guard keybag.slots.contains(where: { $0.kind == secret.kind.number }) else {
            throw KeychainError(
                .authenticationFailed, "No \(secret.kind.name) opens '\(file.path)'. Nothing was changed.")
        }
        guard try keybag.opening(protector(secret, environment), environment.deviceKey) != nil else {
            throw KeychainError(
                .authenticationFailed,
                "The \(secret.kind.name) does not open '\(file.path)'. Nothing was changed.")
        }
    }

    /// The vault's identity, which its backups share; `nil` if there is no vault.
    public var id: UUID? {
        get throws(KeychainError) { try openSession()?.keybag.vaultID }
    }

    /// A connection to the vault that needs none of its keys.
    private func openSource() throws(KeychainError) -> Session.Opened {
        guard try FileSafety.checkFolder(location.folder) else { throw noVault }
        try FileSafety.checkCompanions(location)
        _ = try FileSafety.checkFile(location.lockFile)
        guard try VaultMarker.checkDatabase(location) != nil else { throw noVault }
        return try Session.Opened(location, settings.writerTimeout, isReadOnly: FilesState.isReadOnly(location))
    }

    private var noVault: KeychainError {
        KeychainError(
            .unavailable, "There is no vault in '\(location.folder)', so there is nothing to make a backup of.")
    }

    /// An item that is damaged in the copy must be damaged in the vault too.
    private func check(
        _ contents: VaultContents, _ count: Int, against source: Connection
    ) throws(KeychainError) {
        let damaged = contents.items?.damaged ?? 0
        let damagedBefore = damaged == 0 ? 0 : try damagedCount(source)
        guard contents.itemCount == count, damaged <= damagedBefore else {
            throw KeychainError(
                .inputOutput,
                "The copy differs from the vault and was removed. The medium may be failing; try another one."
            )
        }
    }

    private func damagedCount(_ source: Connection) throws(KeychainError) -> Int {
        try DatabaseFailure.translating(location.databaseFile) {
            try source.reading { connection in
                let stored = try StoredKeybag(try KeybagTable(connection).copies(), location, settings)
                return try ItemExamination(stored.keyState, ItemTable(connection), .values).damaged
            }
        }
    }
}
