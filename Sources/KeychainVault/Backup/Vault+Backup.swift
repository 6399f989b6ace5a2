// SPDX-License-Identifier: Apache-2.0
// Copies of the vault in one file.

public import Foundation
import GRDB
public import KeychainEngine

extension Vault {
    /// Writes a copy of the vault, as it is at one moment, into one file. Others go on reading and writing meanwhile, and no
    /// key is needed. The copy is checked from end to end before it gets its name.
    ///
    /// ```swift
    /// let backup = try vault.backup(to: "/media/stick/vault.backup")
    /// ```
    ///
    /// Does not contain the device key: a vault that opens with that alone needs a copy of its file as well.
    ///
    /// - Parameter replacing: Whether an older backup of that name may be replaced; there is the old one or the new one at
    ///   every moment.
    /// - Throws: `unavailable` if there is no vault, `duplicateItem` if the file is there, `unsafeLocation` for a place in the
    ///   vault's folder, `busy` while another process writes the same file, `corrupt` if the vault is damaged so that a copy
    ///   would not be one, `diskFull`.
    @discardableResult
    public func backup(to path: String, replacing: Bool = false) throws(KeychainError) -> VaultBackup {
        let file = try BackupFile(path, of: location, isRead: false)
        try file.checkFree(replacing: replacing)
        let source = try openSource()
        let unfinished = try UnfinishedFile(file.unfinished)
        let count = try DatabaseCopy.fill(unfinished.path, from: source) { try ItemTable($0).count() }
        PausePoint.backupCopied.reached()
        let contents = try VaultContents(at: unfinished.path, location, settings)
        try check(contents, count, against: source)
        try file.checkFree(replacing: replacing)
        try unfinished.put(at: file.path)
        return VaultBackup(file.path, FileState(file.path), contents, settings)
    }

    /// What is in a backup, checked from end to end without changing anything.
    ///
    /// - Throws: `unavailable` if there is no such file or it is not a whole one, `unsafeLocation`, `corrupt`, `newerFormat`.
    public func examineBackup(_ path: String) throws(KeychainError) -> VaultBackup {
        let file = try BackupFile(path, of: location, isRead: true)
        try file.checkPresent()
        let state = FileState(file.path)
        return VaultBackup(file.path, state, try VaultContents(at: file.path, location, settings), settings)
    }

    /// Sees whether a secret opens a backup, without changing anything.
    ///
    /// - Throws: `authenticationFailed` if it does not, `itemNotFound` if the backup opens with no secret of that kind; what
    ///   ``examineBackup(_:)`` throws.
    public func checkBackup(_ path: String, opensWith secret: ProtectorSecret) throws(KeychainError) {
        let file = try BackupFile(path, of: location, isRead: true)
        try file.checkPresent()
        let keybag = try VaultContents(at: file.path, location, settings).keybag
        let surroundings = try Surroundings(location, settings, canDoWithoutDeviceKey: true)
        guard keybag.slots.contains(where: { $0.kind == secret.kind.number }) else {
            throw KeychainError(.itemNotFound, "No \(secret.kind.name) opens '\(file.path)'. Nothing was changed.")
        }
        guard try keybag.opening(protector(secret, surroundings), surroundings.deviceKey) != nil else {
            throw KeychainError(
                .authenticationFailed,
                "The \(secret.kind.name) is not one that opens '\(file.path)'. Nothing was changed.")
        }
    }

    /// The vault's identity, which its backups share; `nil` if there is no vault.
    public var id: UUID? {
        get throws(KeychainError) { try openSession()?.keybag.vaultID }
    }

    /// A connection to the vault that needs none of its keys.
    private func openSource() throws(KeychainError) -> DatabaseQueue {
        guard try FileSafety.checkFolder(location.folder) else { throw noVault }
        try FileSafety.checkCompanions(location)
        _ = try FileSafety.checkFile(location.lockFile)
        guard try FileSafety.checkFile(location.databaseFile) != nil else {
            try VaultMarker.checkAbsent(location)
            throw noVault
        }
        return try Session.Opened(
            location, settings.writerTimeout, isReadOnly: FilesState.isReadOnly(location)
        ).reader
    }

    private var noVault: KeychainError {
        KeychainError(
            .unavailable, "There is no vault in '\(location.folder)', so there is nothing to make a backup of.")
    }

    /// An item that is damaged in the copy has to be damaged in the vault as well.
    private func check(
        _ contents: VaultContents, _ count: Int, against source: DatabaseQueue
    ) throws(KeychainError) {
        let damaged = contents.items?.damaged ?? 0
        let damagedBefore = damaged == 0 ? 0 : try damagedCount(source)
        guard contents.itemCount == count, damaged <= damagedBefore else {
            throw KeychainError(
                .inputOutput,
                "The copy differs from the vault, and was removed. The medium may be failing; try another one."
            )
        }
    }

    private func damagedCount(_ source: DatabaseQueue) throws(KeychainError) -> Int {
        try DatabaseFailure.translating(location.databaseFile) {
            try source.read { db in
                let stored = try StoredKeybag(try KeybagTable(db).copies(), location, settings)
                return try ItemExamination(stored.keyState, ItemTable(db), .values).damaged
            }
        }
    }
}
