// SPDX-License-Identifier: Apache-2.0
// Where a new file goes, and whether it may go there.

import Foundation
import KeychainAuthenticators
import KeychainKit
import KeychainVault
import SecretMemory

/// The place of a new file.
struct NewFilePlace {
    let folder: String
    let name: String
    let isReplacing: Bool
    /// Whether it is collected in memory, and goes to standard output when it is complete.
    let isOutput: Bool

    /// For messages, if it is standard output.
    var path: String { isOutput ? name : (folder == "/" ? "" : folder) + "/" + name }

    private init(folder: String, name: String, isReplacing: Bool, isOutput: Bool) {
        (self.folder, self.name, self.isReplacing, self.isOutput) = (folder, name, isReplacing, isOutput)
    }

    /// - Parameter keyFile: That opens the vault, so it is not replaced.
    /// - Throws: `duplicateItem` if the file exists and must not be replaced; `unsafeLocation` for what is not a
    ///   regular file, a folder in which every user may rename, or the vault's folder.
    init(_ path: String, replacing: Bool, outside vault: VaultLocation, keyFile: String? = nil) throws(KeychainError) {
        guard path != "-" else {
            self.init(
                folder: try Self.memory(replacing), name: "standard output", isReplacing: false, isOutput: true)
            return
        }
        try self.init(file: path, replacing: replacing)
        try checkFolder()
        try checkOutside(vault, keyFile)
        try checkFree()
    }

    /// A file that another program reads, in the folder where that program expects it. `-` is a name like others.
    ///
    /// - Throws: `duplicateItem` if the file exists and must not be replaced; `unsafeLocation` for what is not a
    ///   regular file, and for the vault's files.
    init(
        forPrograms path: String, replacing: Bool, outside vault: VaultLocation, keyFile: String? = nil
    ) throws(KeychainError) {
        try self.init(file: path, replacing: replacing)
        try checkOutside(vault, keyFile)
        try checkFree()
    }

    private init(file path: String, replacing: Bool) throws(KeychainError) {
        let bytes = path.utf8
        let start = bytes.lastIndex(of: UInt8(ascii: "/")).map { bytes.index(after: $0) } ?? bytes.startIndex
        let name = String(path[start...])
        guard !["", ".", ".."].contains(name), !bytes.contains(0) else {
            throw KeychainError(.unsafeLocation, "'\(path)' is not the name of a file. Give the path of a file.")
        }
        let above = start == bytes.startIndex ? "." : String(path[..<start])
        guard let resolved = Self.resolved(above) else { throw .archiveFile("open", above) }
        self.init(folder: resolved, name: name, isReplacing: replacing, isOutput: false)
    }

    /// Standard output gets only what is complete and verified, so that it is collected first, and never on a disk.
    private static func memory(_ isReplacing: Bool) throws(KeychainError) -> String {
        guard !isReplacing else { throw KeychainError(.invalidParameter, "--replace needs the name of a file.") }
        guard !Terminal.isTerminal(STDOUT_FILENO) else {
            throw KeychainError(
                .invalidParameter, "Standard output is a terminal, which would show the content. Name a file.")
        }
        guard let folder = MemoryFolder.parent else {
            throw KeychainError(
                .unsupported,
                "There is no private folder in memory (XDG_RUNTIME_DIR, /dev/shm) to collect it. Name a file.")
        }
        return folder
    }

    /// Checks again that the name is free, or may be replaced.
    func checkFree() throws(KeychainError) {
        guard !isOutput else { return }
        var status = stat()
        guard lstat(path, &status) == 0 else {
            guard errno == ENOENT else { throw .archiveFile("look at", path) }
            return
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw KeychainError(
                .unsafeLocation, "'\(path)' is not a regular file. Nothing was written. Name another file.")
        }
        guard isReplacing else { throw taken }
    }

    var taken: KeychainError {
        KeychainError(
            .duplicateItem,
            "The file '\(path)' exists already and was not changed. Name another file, or add: --replace")
    }

    private func checkFolder() throws(KeychainError) {
        var status = stat()
        guard stat(folder, &status) == 0 else { throw .archiveFile("open", folder) }
        guard status.st_mode & S_IWOTH == 0 || status.st_mode & S_ISVTX != 0 else {
            throw KeychainError(
                .unsafeLocation, "The folder '\(folder)' can be changed by every user. Run: chmod o-w '\(folder)'")
        }
    }

    /// The file must not take the place of what the vault consists of, nor be lost with it.
    private func checkOutside(_ vault: VaultLocation, _ keyFile: String?) throws(KeychainError) {
        // A folder may be mounted at a second place.
        if let own = Self.resolved(vault.folder),
            (folder + "/").utf8.starts(with: (own + "/").utf8) || Self.areSame(folder, own)
        {
            throw KeychainError(
                .unsafeLocation,
                "'\(path)' is inside the vault's folder, and would be lost with it. Name a place outside.")
        }
        guard !VaultLocation.isVaultsFolder(folder) else {
            throw KeychainError(
                .unsafeLocation, "'\(folder)' is the folder of another vault. Nothing was written. Name another folder."
            )
        }
        guard !isSame(vault.deviceKeyFile) else {
            throw KeychainError(
                .unsafeLocation, "'\(path)' is the vault's device key. Nothing was written. Name another file.")
        }
        guard keyFile.map(isSame) != true else {
            throw KeychainError(
                .unsafeLocation,
                "'\(path)' is the key file that opens the vault. Nothing was written. Name another file.")
        }
    }

    /// Whether a path leads to this file, also by links, and also if there is no file yet.
    private func isSame(_ other: String) -> Bool {
        if Self.areSame(path, other) { return true }
        let parts = other.utf8.split(separator: UInt8(ascii: "/"))
        let above = "/" + parts.dropLast().map { String($0) ?? "" }.joined(separator: "/")
        return Self.resolved(above)?.utf8.elementsEqual(folder.utf8) == true
            && parts.last.map { name.utf8.elementsEqual($0) } == true
    }

    /// Whether both are there, and are one file or folder.
    private static func areSame(_ one: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        return stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_dev == second.st_dev
            && first.st_ino == second.st_ino
    }

    /// The path without links; `nil` if there is no such folder.
    private static func resolved(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(validatingCString: found)
    }
}
