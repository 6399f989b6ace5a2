// SPDX-License-Identifier: Apache-2.0
// Making a vault, so that at every moment there is either none or a whole one.

import Foundation
import GRDB
import KeychainCrypto
import KeychainEngine

/// The steps that make a vault. All but the first run under the writer lock.
struct VaultCreation {
    let location: VaultLocation
    let timeout: Duration

    /// The folder and the lock file, which a writer needs before it can ask whether there is a vault.
    func ensureFolder() throws(KeychainError) {
        guard try FileSafety.checkFile(location.lockFile) == nil else { return }
        // A vault that was restored without its lock file on a medium that cannot be written is still read-only.
        if try FileSafety.checkFolder(location.folder), access(location.folder, W_OK) != 0, errno == EROFS {
            throw SystemFailure.failure("write in", location.folder, code: EROFS)
        }
        try PrivateFile.createFolder(location.folder)
        try PrivateFile.createEmpty(location.lockFile)
    }

    /// Device key first, durable; then a whole database under another name, which a rename puts in place; the marker last.
    func create(_ lock: FileLock) throws(KeychainError) {
        try PrivateFile.createParents(of: location.deviceKeyFile)
        try location.checkSeparation()
        let deviceKey = try DeviceKey.loadOrCreate(location.deviceKeyFile, timeout: timeout)
        let keybag = try Keybag.make(DeviceKeyProtector(deviceKey: deviceKey), deviceKey: deviceKey, at: Date())
        try checkNoStrayLog()
        try removeRemains()
        // Created by us, closed to others, before SQLite sees it: SQLite would use the umask of the moment.
        try PrivateFile.createEmpty(unfinishedFile)
        try fill(unfinishedFile, keybag, try Self.headKeys(keybag, deviceKey))
        // Where somebody removed the lock file meanwhile, another process may have made a vault, which must stay.
        guard try lock.isStill(at: location.lockFile), access(location.databaseFile, F_OK) != 0 else {
            throw KeychainError(.busy, "Another process is making the vault '\(location.folder)'. Try again.")
        }
        guard rename(unfinishedFile, location.databaseFile) == 0 else {
            throw SystemFailure.failure("rename", unfinishedFile)
        }
        do throws(KeychainError) {
            try Self.finish(lock, location)
        } catch {
            throw error.after("The vault in '\(location.folder)' was made, and is empty.")
        }
        Reserve(location).restore()
    }

    /// Makes all names durable that lead to the vault, and then marks it as made: whoever was killed before that, or failed, may have
    /// left names that a power cut takes back, with all that was acknowledged since.
    static func finish(_ lock: FileLock, _ location: VaultLocation) throws(KeychainError) {
        try PrivateFile.syncFolder(location.folder)
        for path in [location.folder, location.deviceKeyFile] { try PrivateFile.syncParents(of: path) }
        try VaultMarker.write(lock, location)
    }

    /// SQLite would write what it holds into the new database.
    private func checkNoStrayLog() throws(KeychainError) {
        let path = location.folder + "/" + VaultLocation.companionNames[0]
        guard (try FileSafety.checkFile(path)?.st_size ?? 0) > 0 else { return }
        throw KeychainError(
            .corrupt,
            "'\(path)' holds changes of a vault whose database is missing. No new vault was made: restore the database "
                + "from a backup. To start over and lose the old secrets, remove the folder '\(location.folder)'.")
    }

    private static func headKeys(_ keybag: Keybag, _ deviceKey: DeviceKey) throws(KeychainError) -> HeadKeys {
        guard let authority = try keybag.authority(DeviceKeyProtector(deviceKey: deviceKey), deviceKey) else {
            throw KeychainError(.unavailable, "The new keybag does not open with the device key.")
        }
        return try ClassKeys(keybag, authority).head
    }

    private var unfinishedFile: String { location.databaseFile + ".new" }

    /// What a creation that was cut short has left.
    private func removeRemains() throws(KeychainError) {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            guard unlink(unfinishedFile + suffix) == 0 || errno == ENOENT else {
                throw SystemFailure.failure("remove", unfinishedFile + suffix)
            }
        }
    }

    /// Closing the connection moves all of the log into the file, so that the file alone is the vault.
    private func fill(_ path: String, _ keybag: Keybag, _ keys: HeadKeys) throws(KeychainError) {
        let connection = try Connection.openForWriting(path, timeout)
        try DatabaseFailure.translating(path) {
            try connection.writeWithoutTransaction { db in
                try db.inTransaction(.immediate) {
                    try VaultSchema.create(db)
                    try KeybagTable(db).write(keybag.bytes)
                    try HeadTable(db).write(keys.seal(Head(keybag: keybag.bytes).bytes))
                    return .commit
                }
                _ = try db.checkpoint(.truncate)
            }
            try connection.close()
        }
    }
}
