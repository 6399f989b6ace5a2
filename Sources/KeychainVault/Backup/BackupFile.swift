// SPDX-License-Identifier: Apache-2.0
// The location of a backup, and whether it is allowed.

import Foundation
import KeychainEngine

/// The path of a backup, with the links in the folders above it followed.
struct BackupFile {
    let path: String
    /// Its name while it is written. No user file should have such a name, since an existing file is replaced.
    let unfinished: String

    /// - Parameter isRead: Whether the file is read: files that a restoration kept in the vault's folder may be read,
    ///   but no backup may be written there.
    /// - Throws: `unsafeLocation` for a folder in which every user may rename, or the vault's folder.
    init(_ path: String, of location: VaultLocation, isRead: Bool) throws(KeychainError) {
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let name = parts.last.map { String(Substring($0)) } ?? ""
        guard !["", ".", ".."].contains(name), !path.utf8.contains(0), !path.unicodeScalars.contains("\u{FFFD}") else {
            throw KeychainError(.unsafeLocation, "'\(path)' is not the name of a file. Give the path of a file.")
        }
        let above = parts.count == 1 ? "." : String(path.utf8.dropLast(name.utf8.count)) ?? "."
        guard let folder = FileSafety.resolved(above) else { throw SystemFailure.failure("look at", above) }
        self.path = (folder == "/" ? "" : folder) + "/" + name
        unfinished = (folder == "/" ? "" : folder) + "/." + name + ".unfinished-backup"
        guard unfinished.utf8.count <= 480 else {
            throw KeychainError(.unsafeLocation, "The path '\(path)' is too long. Give one of at most 460 bytes.")
        }
        try FileSafety.checkNotSharedByAll(folder)
        guard let vault = FileSafety.resolved(location.folder) else { return }
        let isKept = isRead && folder == vault && (location.folder + "/" + name).hasPrefix(location.replacedPrefix)
        guard isKept || !(folder + "/").utf8.starts(with: (vault + "/").utf8) else {
            throw KeychainError(
                .unsafeLocation,
                "'\(path)' is inside the vault's folder, and would be lost with it. Name a place outside.")
        }
    }

    /// Checks that a backup may be written there.
    ///
    /// - Throws: `duplicateItem` if a file is there and must not be replaced, `unsafeLocation` if it is no file, or in
    ///   the folder of a vault.
    func checkFree(replacing: Bool) throws(KeychainError) {
        // The database of a vault has the form of a backup, and must not be replaced by one.
        guard !VaultLocation.isVaultsFolder(FileSafety.parent(of: path)) else {
            throw KeychainError(
                .unsafeLocation,
                "'\(path)' is inside the folder of another vault. Nothing was changed. Name a place outside.")
        }
        if let changes = try filledCompanion {
            throw KeychainError(
                .duplicateItem,
                "'\(changes)' holds changes of another database, which a backup in '\(path)' would get. Nothing was "
                    + "changed. Name another file.")
        }
        guard try isFile("Name another file.") else { return }
        guard replacing else { throw isThere }
        try UnfinishedFile.removeFirstName(unfinished, of: path)
        _ = try FileSafety.checkFile(path)
        guard try isVault else {
            throw KeychainError(
                .duplicateItem, "'\(path)' is not a backup of a vault and was not changed. Name another file.")
        }
    }

    var isThere: KeychainError {
        KeychainError(
            .duplicateItem,
            "The file '\(path)' exists already and was not changed. Name another file, or add: --replace")
    }

    /// A file with changes that SQLite would count to the file at this path.
    private var filledCompanion: String? {
        get throws(KeychainError) {
            for suffix in ["-wal", "-journal"] where try FileSafety.status(path + suffix)?.st_size ?? 0 > 0 {
                return path + suffix
            }
            return nil
        }
    }

    /// Checks that a complete backup can be there.
    func checkPresent() throws(KeychainError) {
        _ = try isFile("Name a file that `backup` wrote.")
        try UnfinishedFile.removeFirstName(unfinished, of: path)
        guard try FileSafety.checkFile(path) != nil else {
            throw KeychainError(.unavailable, "There is no file '\(path)'. Name a file that `backup` wrote.")
        }
        guard try isVault else {
            throw KeychainError(.corrupt, "'\(path)' is not a backup of a vault. Name a file that `backup` wrote.")
        }
        if let changes = try filledCompanion {
            throw KeychainError(
                .unavailable,
                "'\(path)' is not the whole vault: the last changes are in '\(changes)'. Make a backup of the folder "
                    + "that it was copied from (KEYCHAIN_VAULT): keychainctl backup FILE")
        }
    }

    /// Whether something is there. The user has named it, so the advice is not to move it away, unlike for a vault's files.
    ///
    /// - Throws: `unsafeLocation` for what is not a regular file, such as a folder or a device.
    private func isFile(_ advice: String) throws(KeychainError) -> Bool {
        guard let status = try FileSafety.status(path) else { return false }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw KeychainError(
                .unsafeLocation,
                "'\(path)' is \(FileSafety.kind(status)), not a regular file. Nothing was changed. \(advice)")
        }
        return true
    }

    /// Checks SQLite's header of the file: its magic string, and the application ID at byte 68.
    private var isVault: Bool {
        get throws(KeychainError) {
            let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
            guard descriptor >= 0 else { throw SystemFailure.failure("open", path) }
            defer { close(descriptor) }
            var header = [UInt8](repeating: 0, count: 100)
            let count = read(descriptor, &header, header.count)
            guard count >= 0 else { throw SystemFailure.failure("read", path) }
            guard count == header.count else { return false }
            let number = header[68..<72].reduce(Int32(0)) { $0 << 8 | Int32($1) }
            return header.starts(with: "SQLite format 3\0".utf8) && number == VaultSchema.applicationID
        }
    }
}
