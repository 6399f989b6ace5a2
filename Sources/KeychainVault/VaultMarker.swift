// SPDX-License-Identifier: Apache-2.0
// What the lock file says: that there is a vault, and whether removed data is still in its WAL.

import Foundation
import KeychainEngine

/// A line in the lock file that says: this folder has held a vault.
///
/// Without it a vault whose database was lost would look like a fresh start, and the next write would make
/// a new one in its place.
enum VaultMarker {
    private static let line = Data("This folder holds a swift-keychain vault.\n".utf8)

    static func isPresent(_ location: VaultLocation) throws(KeychainError) -> Bool {
        (try FileSafety.checkFile(location.lockFile)?.st_size ?? 0) > 0
    }

    static func checkAbsent(_ location: VaultLocation) throws(KeychainError) {
        guard try isPresent(location) else { return }
        throw KeychainError(
            .corrupt,
            "'\(location.databaseFile)' is missing, and the folder has held a vault. "
                + "\(KeychainError.restoreAdvice). To start over and lose the old secrets, remove the folder "
                + "'\(location.folder)'.")
    }

    /// Written in place, by who holds the lock: the file is locked by its inode, so it must not be replaced. If somebody has
    /// removed it just now, the next writer writes the marker into the new one.
    static func write(_ lock: FileLock, _ location: VaultLocation) throws(KeychainError) {
        let written = line.withUnsafeBytes { Foundation.pwrite(lock.descriptor, $0.baseAddress, $0.count, 0) }
        guard written == line.count, fsync(lock.descriptor) == 0 else {
            throw SystemFailure.failure("write", location.lockFile)
        }
    }

    /// Has the next writer finish what was not: see ``VaultCreation/finish(_:_:)``.
    static func withdraw(_ lock: FileLock) { ftruncate(lock.descriptor, 0) }

    // MARK: - Removed data

    /// Behind the line: whether the WAL may still hold what was removed from the vault, because a reader kept it from being
    /// truncated.
    private static let (isInLog, isNotInLog) = (UInt8(ascii: "R"), UInt8(ascii: "-"))

    /// Whether removed data may be in the WAL, as a writer that holds the lock asks it.
    static func notesRemovedData(_ lock: FileLock) -> Bool {
        var byte: UInt8 = 0
        return pread(lock.descriptor, &byte, 1, off_t(line.count)) == 1 && byte == isInLog
    }

    /// Notes it for all writers that come later. A note that cannot be written must not keep anything from being removed.
    ///
    /// - Parameter durably: Whether it has to outlast a power cut as well.
    static func noteRemovedData(_ isThere: Bool, _ lock: FileLock, durably: Bool = false) {
        guard !lock.isEmpty else { return }
        let note = [isThere ? isInLog : isNotInLog, UInt8(ascii: "\n")]
        pwrite(lock.descriptor, note, note.count, off_t(line.count))
        if durably { fsync(lock.descriptor) }
    }

    /// Whether removed data is in the WAL, for those who only look.
    static func logHoldsRemovedData(_ location: VaultLocation) throws(KeychainError) -> Bool {
        let log = location.folder + "/" + VaultLocation.companionNames[0]
        guard (try FileSafety.checkFile(log)?.st_size ?? 0) > 0 else { return false }
        let content = try PrivateFile.read(location.lockFile, limit: 4096) ?? Data()
        return content.dropFirst(line.count).first == isInLog
    }
}
