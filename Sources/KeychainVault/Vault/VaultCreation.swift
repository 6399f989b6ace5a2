// SPDX-License-Identifier: Apache-2.0
// Creating a vault, so that at every moment there is either none or a complete one.

import Foundation
import KeychainCrypto
import KeychainEngine

/// The steps that create a vault. All but the first run under the writer lock.
struct VaultCreation {
    let location: VaultLocation
    let timeout: Duration

    /// The folder and the lock file, which a writer needs before it can check whether there is a vault.
    func ensureFolder() throws(KeychainError) {
        guard try FileSafety.checkFile(location.lockFile) == nil else { return }
        // A vault without a lock file on a read-only medium is still read-only.
        if try FileSafety.checkFolder(location.folder), !FileSafety.allows(W_OK, location.folder), errno == EROFS {
            throw SystemFailure.failure("write in", location.folder, code: EROFS)
        }
        try PrivateFile.createFolder(location.folder)
        try PrivateFile.createEmpty(location.lockFile)
    }

    /// First the device key, durable; then a complete database under another name, which then gets its name; last
    /// the marker.
    func create(_ lock: FileLock) throws(KeychainError) {
        try PrivateFile.createParents(of: location.deviceKeyFile)
        try location.checkSeparation()
        let deviceKey = try DeviceKey.loadOrCreate(location.deviceKeyFile, timeout: timeout)
        let keybag = try Keybag.make(DeviceKeyProtector(deviceKey: deviceKey), deviceKey: deviceKey, at: Date())
        try VaultMarker.checkNoStrayWAL(location)
        try removeResidue()
        // Created with private permissions before SQLite opens it: SQLite would use the current umask.
        try PrivateFile.createEmpty(unfinishedFile)
        try fill(unfinishedFile, keybag, try Self.headKeys(keybag, deviceKey))
        // If the lock file was removed in the meantime, another process may have created a vault, which must stay.
        guard try lock.isStill(at: location.lockFile), !FileSafety.allows(F_OK, location.databaseFile) else {
            throw isMadeByAnother
        }
        PausePoint.vaultFilled.reached()
        guard try UnusedName.give(location.databaseFile, to: unfinishedFile) else {
            unlink(unfinishedFile)
            throw isMadeByAnother
        }
        do throws(KeychainError) {
            try Self.finish(lock, location)
        } catch {
            throw error.after("The vault in '\(location.folder)' was created and is empty.")
        }
        VaultMarker.noteRemovedData(false, lock)
        Reserve(location).restore()
    }

    /// Makes all names durable that lead to the vault, and then marks it as created. A process that was killed or
    /// failed before that may have left names that a power cut removes, with all changes acknowledged since.
    static func finish(_ lock: FileLock, _ location: VaultLocation) throws(KeychainError) {
        removeSecondName(location)
        try PrivateFile.syncFolder(location.folder)
        for path in [location.folder, location.deviceKeyFile] { try PrivateFile.syncParents(of: path) }
        try VaultMarker.write(lock, location)
    }

    /// The database has its first name as well if it got the other one by a link (``UnusedName``). The file is not opened:
    /// closing it would end SQLite's locks of this process.
    static func removeSecondName(_ location: VaultLocation) {
        guard let identity = FileIdentity(location.databaseFile) else { return }
        for path in VaultLocation.firstSuffixes.map({ location.databaseFile + $0 }) where FileIdentity(path) == identity
        {
            unlink(path)
        }
    }

    private var isMadeByAnother: KeychainError {
        KeychainError(.busy, "Another process is creating the vault '\(location.folder)'. Try again.")
    }

    private static func headKeys(_ keybag: Keybag, _ deviceKey: DeviceKey) throws(KeychainError) -> HeadKeys {
        guard let authority = try keybag.authority(DeviceKeyProtector(deviceKey: deviceKey), deviceKey) else {
            throw KeychainError(.unavailable, "The new keybag does not open with the device key.")
        }
        return try ClassKeys(keybag, authority).head
    }

    private var unfinishedFile: String { location.databaseFile + VaultLocation.newSuffix }

    /// Removes the residue of an interrupted creation.
    private func removeResidue() throws(KeychainError) {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            guard unlink(unfinishedFile + suffix) == 0 || errno == ENOENT else {
                throw SystemFailure.failure("remove", unfinishedFile + suffix)
            }
        }
    }

    /// Closing the connection moves all of the WAL into the file, so that the file alone is the vault.
    private func fill(_ path: String, _ keybag: Keybag, _ keys: HeadKeys) throws(KeychainError) {
        let connection = try Connection.openForWriting(path, timeout)
        try DatabaseFailure.translating(path) {
            try connection.writing { connection in
                try VaultSchema.create(connection)
                try KeybagTable(connection).write(keybag.bytes)
                try HeadTable(connection).write(keys.seal(Head(keybag: keybag.bytes).bytes))
            }
            try connection.truncateWAL()
            try connection.close()
        }
    }
}
