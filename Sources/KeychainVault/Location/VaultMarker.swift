// SPDX-License-Identifier: Apache-2.0
// The contents of the lock file: whether a vault exists, and whether removed data is still in its WAL.

import Foundation
import KeychainEngine

/// A line in the lock file that records that this folder has contained a vault.
///
/// Without it a vault whose database was lost would look like a new folder, and the next write would create a new vault
/// in its place.
enum VaultMarker {
    private static let line = Data("This folder holds a swift-keychain vault.\n".utf8)

    static func isPresent(_ location: VaultLocation) throws(KeychainError) -> Bool {
        (try FileSafety.checkFile(location.lockFile)?.st_size ?? 0) > 0
    }

    /// The file of the database.
    ///
    /// - Returns: `nil` if there is no vault yet.
    /// - Throws: `corrupt` if there was one.
    static func checkDatabase(_ location: VaultLocation) throws(KeychainError) -> stat? {
        if let status = try FileSafety.checkFile(location.databaseFile) { return status }
        PausePoint.databaseMissed.reached()
        do throws(KeychainError) {
            try checkAbsent(location)
            return nil
        } catch {
            // Another process may have created the vault between the two checks: the database gets its name before
            // there is a marker or a WAL.
            guard let status = try FileSafety.checkFile(location.databaseFile) else { throw error }
            return status
        }
    }

    static func checkAbsent(_ location: VaultLocation) throws(KeychainError) {
        guard try isPresent(location) else { return try checkNoStrayWAL(location) }
        throw KeychainError(
            .corrupt,
            "'\(location.databaseFile)' is missing, but there was a vault in the folder. "
                + "\(KeychainError.restoreAdvice). To start over and lose the old secrets, remove the folder "
                + "'\(location.folder)'.")
    }

    /// SQLite would write the contents of a stray WAL into the new database.
    static func checkNoStrayWAL(_ location: VaultLocation) throws(KeychainError) {
        let path = location.folder + "/" + VaultLocation.companionNames[0]
        guard (try FileSafety.checkFile(path)?.st_size ?? 0) > 0 else { return }
        throw KeychainError(
            .corrupt,
            "'\(path)' holds changes of a vault whose database is missing. No new vault was made: restore the database "
                + "from a backup. To start over and lose the old secrets, remove the folder '\(location.folder)'.")
    }

    /// Written in place by the holder of the lock: the lock belongs to the inode, so the file must not be replaced. If
    /// the file was removed just now, the next writer writes the marker into the new one.
    static func write(_ lock: FileLock, _ location: VaultLocation) throws(KeychainError) {
        let written = line.withUnsafeBytes { Foundation.pwrite(lock.descriptor, $0.baseAddress, $0.count, 0) }
        guard written == line.count, fsync(lock.descriptor) == 0 else {
            throw SystemFailure.failure("write", location.lockFile)
        }
    }

    /// Makes the next writer finish the creation: see ``VaultCreation/finish(_:_:)``.
    static func withdraw(_ lock: FileLock) { ftruncate(lock.descriptor, 0) }

    // MARK: - Removed data

    /// The byte after the line: whether the WAL may still contain removed data, because a reader prevented its
    /// truncation.
    ///
    /// Without the byte it may: the file was removed and made again, so what it said is lost.
    private static let (isInWAL, isNotInWAL) = (UInt8(ascii: "R"), UInt8(ascii: "-"))

    /// Whether removed data may be in the WAL, for a writer that holds the lock.
    static func notesRemovedData(_ lock: FileLock) -> Bool {
        var byte: UInt8 = 0
        return pread(lock.descriptor, &byte, 1, off_t(line.count)) != 1 || byte != isNotInWAL
    }

    /// Records it for all later writers. A record that cannot be written must not prevent a removal.
    ///
    /// - Parameter durably: Whether it must survive a power cut too.
    static func noteRemovedData(_ isThere: Bool, _ lock: FileLock, durably: Bool = false) {
        guard !lock.isEmpty else { return }
        let note = [isThere ? isInWAL : isNotInWAL, UInt8(ascii: "\n")]
        pwrite(lock.descriptor, note, note.count, off_t(line.count))
        if durably { fsync(lock.descriptor) }
    }

    /// Whether removed data may be in the WAL, for callers that only read.
    static func walHoldsRemovedData(_ location: VaultLocation) throws(KeychainError) -> Bool {
        let wal = location.folder + "/" + VaultLocation.companionNames[0]
        guard (try FileSafety.checkFile(wal)?.st_size ?? 0) > 0 else { return false }
        let content = try PrivateFile.read(location.lockFile, limit: 4096) ?? Data()
        return content.dropFirst(line.count).first != isNotInWAL
    }
}
