// SPDX-License-Identifier: Apache-2.0
// Where a backup lies, and whether it may lie there.

import Foundation
import KeychainEngine

/// The path of a backup, with the links in the folders above it followed.
struct BackupFile {
    let path: String
    /// What it is called while it is written: no name that anybody gives a file of theirs, since what is there is replaced.
    let unfinished: String

    /// - Parameter isRead: What a restoration has kept in the vault's folder may be read, and nothing written there.
    /// - Throws: `unsafeLocation` for a place where every user may rename, or in the vault's folder.
    init(_ path: String, of location: VaultLocation, isRead: Bool) throws(KeychainError) {
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let name = parts.last.map { String(Substring($0)) } ?? ""
        guard !["", ".", ".."].contains(name), !path.utf8.contains(0), !path.unicodeScalars.contains("\u{FFFD}") else {
            throw KeychainError(.unsafeLocation, "'\(path)' is no name of a file. Give the path of one.")
        }
        let above = parts.count == 1 ? "." : String(path.utf8.dropLast(name.utf8.count)) ?? "."
        guard let folder = FileSafety.resolved(above) else { throw SystemFailure.failure("look at", above) }
        self.path = (folder == "/" ? "" : folder) + "/" + name
        unfinished = (folder == "/" ? "" : folder) + "/." + name + ".unfinished-backup"
        guard unfinished.utf8.count <= 480 else {
            throw KeychainError(.unsafeLocation, "'\(path)' is too long a path: at most 460 bytes are possible.")
        }
        try FileSafety.checkNotSharedByAll(folder)
        guard let vault = FileSafety.resolved(location.folder) else { return }
        let isKept = isRead && folder == vault && (location.folder + "/" + name).hasPrefix(location.replacedPrefix)
        guard isKept || !(folder + "/").utf8.starts(with: (vault + "/").utf8) else {
            throw KeychainError(
                .unsafeLocation,
                "'\(path)' lies in the vault's folder, and would be lost with it. Name a place elsewhere.")
        }
    }

    /// Whether a backup may be put there.
    ///
    /// - Throws: `duplicateItem` if something is there and may not be replaced.
    func checkFree(replacing: Bool) throws(KeychainError) {
        guard try FileSafety.status(path) != nil else { return }
        guard replacing else {
            throw KeychainError(
                .duplicateItem,
                "There is a file '\(path)' already, and it was left as it is. Name another one, or add: --replace")
        }
        _ = try FileSafety.checkFile(path)
        guard try isVault else {
            throw KeychainError(
                .duplicateItem, "'\(path)' is not a backup of a vault, and was left as it is. Name another file.")
        }
    }

    /// Whether a backup that is whole can be there.
    func checkPresent() throws(KeychainError) {
        guard try FileSafety.checkFile(path) != nil else {
            throw KeychainError(.unavailable, "There is no file '\(path)'. Name a file that `backup` wrote.")
        }
        guard try isVault else {
            throw KeychainError(.corrupt, "'\(path)' is not a backup of a vault. Name a file that `backup` wrote.")
        }
        for suffix in ["-wal", "-journal"] where try FileSafety.status(path + suffix)?.st_size ?? 0 > 0 {
            throw KeychainError(
                .unavailable,
                "'\(path)' is not all of a vault: the last changes are in '\(path + suffix)'. Make a backup of the folder "
                    + "that it was copied from (KEYCHAIN_VAULT): keychainctl backup FILE")
        }
    }

    /// By the header that SQLite gives the file: its first words, and the number of the program at byte 68.
    private var isVault: Bool {
        get throws(KeychainError) {
            let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
            guard descriptor >= 0 else { throw SystemFailure.failure("open", path) }
            defer { close(descriptor) }
            var header = [UInt8](repeating: 0, count: 100)
            guard read(descriptor, &header, header.count) == header.count else { return false }
            let number = header[68..<72].reduce(Int32(0)) { $0 << 8 | Int32($1) }
            return header.starts(with: "SQLite format 3\0".utf8) && number == VaultSchema.applicationID
        }
    }
}
