// SPDX-License-Identifier: Apache-2.0
// Checks that a path belongs to us, has the right type, and is closed to other users.

import KeychainEngine
import SecretMemory

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Checks of folders and files before they are trusted. Every message names the path and says what to do.
///
/// They protect against other users, not against programs of the same user.
package enum FileSafety {
    /// The status of a path, without following a link at its end; `nil` if nothing is there.
    static func status(_ path: String) throws(KeychainError) -> stat? {
        var status = stat()
        if lstat(path, &status) == 0 { return status }
        if errno == ENOENT { return nil }
        throw SystemFailure.failure("look at", path)
    }

    /// `access`, with the rights that opening the path has: in a setuid program not those of its caller. Sets `errno`.
    static func allows(_ mode: Int32, _ path: String) -> Bool {
        let isCaller = getuid() == geteuid() && getgid() == getegid()
        // Sandboxes for older kernels refuse the system call of the second form.
        return (isCaller ? access(path, mode) : faccessat(AT_FDCWD, path, mode, AT_EACCESS)) == 0
    }

    /// The folder at `path` is a real directory of ours that no other user can enter; `false` if nothing is there.
    ///
    /// - Parameter mayBeRead: Whether others may enter it, but not change it: what is in it is not secret.
    static func checkFolder(_ path: String, mayBeRead: Bool = false) throws(KeychainError) -> Bool {
        guard let status = try status(path) else { return false }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw unsafe(path, "is \(kind(status)), not a folder", "Move it away or name another folder.")
        }
        try checkOwner(status, path)
        guard isClosed(status, mayBeRead) else {
            let isOurs = mayBeRead || allows(F_OK, path + "/" + VaultLocation.databaseName)
            throw open(
                status, path,
                isOurs ? "Run: chmod 700 '\(path)'" : "Name a folder for the vault only; it will be created.")
        }
        try checkNotSharedByAll(parent(of: path))
        return true
    }

    /// The file at `path` is a regular file of ours with one link that no other user can read; `nil` if nothing is
    /// there.
    static func checkFile(
        _ path: String, allowingRoot: Bool = false, mayBeRead: Bool = false
    ) throws(KeychainError) -> stat? {
        // A file without links was removed just now.
        guard let status = try status(path), status.st_nlink > 0 else { return nil }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw unsafe(path, "is \(kind(status)), not a regular file", "Move it away.")
        }
        if !allowingRoot || status.st_uid != 0 { try checkOwner(status, path) }
        guard try hasOneName(path, status) else {
            throw unsafe(
                path, "has \(status.st_nlink) names (hard links)", "Remove the other names; find them by the inode.")
        }
        guard isClosed(status, mayBeRead) else { throw open(status, path, "Run: chmod 600 '\(path)'") }
        return status
    }

    /// Checks every file beside the database that SQLite would open. Call it before SQLite opens the database: SQLite
    /// would wait for ever at a pipe, and roll back any journal into the vault.
    static func checkCompanions(_ location: VaultLocation) throws(KeychainError) {
        for name in VaultLocation.companionNames { _ = try checkFile(location.folder + "/" + name) }
        let journal = location.folder + "/" + VaultLocation.journalName
        guard try checkFile(journal) != nil else { return }
        throw KeychainError(
            .corrupt,
            "'\(journal)' is a rollback journal. A vault never has one, and SQLite would write it into the vault. Nothing "
                + "was opened. Move it away. If another program has changed the vault, restore a backup.")
    }

    private static func checkOwner(_ status: stat, _ path: String) throws(KeychainError) {
        guard status.st_uid == geteuid() else {
            throw unsafe(
                path, "belongs to user \(status.st_uid), and this is user \(geteuid())",
                "Run as its owner, or name another place.")
        }
    }

    /// Whether the file has no other name. While a database is created or restored, it may have both its first and its second
    /// name (``UnusedName``).
    private static func hasOneName(_ path: String, _ status: stat) throws(KeychainError) -> Bool {
        if status.st_nlink == 1 { return true }
        guard path.hasSuffix("/" + VaultLocation.databaseName) else { return false }
        let isFirst = VaultLocation.firstSuffixes.contains { FileIdentity(path + $0) == FileIdentity(status) }
        if status.st_nlink == 2, isFirst { return true }
        // It may have been removed since the status was read.
        return try self.status(path)?.st_nlink == 1
    }

    private static func isClosed(_ status: stat, _ mayBeRead: Bool) -> Bool {
        status.st_mode & (mayBeRead ? 0o022 : 0o077) == 0
    }

    private static func open(_ status: stat, _ path: String, _ remedy: String) -> KeychainError {
        unsafe(path, "is open to other users (mode \(String(status.st_mode & 0o777, radix: 8)))", remedy)
    }

    /// In a folder in which anyone may rename, other users can replace our files with theirs.
    static func checkNotSharedByAll(_ folder: String) throws(KeychainError) {
        var status = stat()
        guard stat(folder, &status) == 0 else { throw SystemFailure.failure("look at", folder) }
        guard status.st_mode & S_IWOTH == 0 || status.st_mode & S_ISVTX != 0 else {
            throw unsafe(folder, "can be changed by every user", "Run: chmod o-w '\(folder)'")
        }
    }

    /// Checks that no other user can replace this file, or a folder on its path.
    static func checkNotReplaceable(_ path: String) throws(KeychainError) {
        switch PathSafety.flaw(of: path, checkingOwners: false) {
        case nil: break
        case .changedByAll(let folder)?:
            throw unsafe(folder, "can be changed by every user", "Run: chmod o-w '\(folder)'")
        case .ofAnotherUser(let entry, let owner)?:
            throw unsafe(
                entry, "belongs to user \(owner) and lies in a folder that every user may write", "Name another place.")
        case .unknownFolder?:
            throw unsafe(path, "is relative to the current folder, which has no path", "Give the full path.")
        }
    }

    /// The path with every symbolic link followed; `nil` if nothing is there.
    static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// The same of a path that may not exist yet: where it would be created.
    ///
    /// - Parameter path: As of ``parent(of:)``.
    static func resolvedOrFuture(_ path: String) -> String {
        var (existing, rest) = (path, "")
        while existing != "/" {
            if let resolved = resolved(existing) { return resolved + rest }
            let above = parent(of: existing)
            rest = String(decoding: existing.utf8.dropFirst(above == "/" ? 0 : above.utf8.count), as: UTF8.self) + rest
            existing = above
        }
        return rest
    }

    /// - Parameter path: Absolute, without a slash at its end.
    package static func parent(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    static func kind(_ status: stat) -> String {
        switch status.st_mode & S_IFMT {
        case S_IFLNK: "a symbolic link"
        case S_IFDIR: "a folder"
        case S_IFIFO: "a pipe"
        case S_IFSOCK: "a socket"
        case S_IFREG: "a regular file"
        default: "a device"
        }
    }

    private static func unsafe(_ path: String, _ what: String, _ remedy: String) -> KeychainError {
        KeychainError(.unsafeLocation, "'\(path)' \(what), so it was not used. \(remedy)")
    }
}

/// Errors of the operating system as errors of the store.
enum SystemFailure {
    /// - Parameter action: The attempted action, for the message "Could not … 'path'".
    static func failure(_ action: String, _ path: String, code: Int32 = errno) -> KeychainError {
        let text = "Could not \(action) '\(path)': \(String(cString: strerror(code)))."
        return switch code {
        case ENOSPC, EDQUOT: KeychainError(.diskFull, text + " Free some space and try again.")
        case EROFS: KeychainError(.readOnly, text + " Reading works; to write, make the medium writable.")
        case EACCES, EPERM:
            KeychainError(.unavailable, text + " Check its permissions, and those of the folders above it.")
        case EFBIG: KeychainError(.diskFull, text + " Raise the limit on the size of files (ulimit -f).")
        case EMFILE, ENFILE: KeychainError(.unavailable, text + " Close some files, or raise the limit (ulimit -n).")
        case EIO: KeychainError(.inputOutput, text + " The medium may be failing; make a backup.")
        default: KeychainError(.unavailable, text)
        }
    }
}
