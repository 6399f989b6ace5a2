// SPDX-License-Identifier: Apache-2.0
// Whether a path is what it should be: ours, of the right type, and closed to others.

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
/// They keep out other users; a program of the same user can always change what it likes.
enum FileSafety {
    /// What lies at a path, without following a link there; `nil` if nothing does.
    static func status(_ path: String) throws(KeychainError) -> stat? {
        var status = stat()
        if lstat(path, &status) == 0 { return status }
        if errno == ENOENT { return nil }
        throw SystemFailure.failure("look at", path)
    }

    /// The folder at `path` is a real directory of ours that nobody else can enter; `false` if nothing is there.
    static func checkFolder(_ path: String) throws(KeychainError) -> Bool {
        guard let status = try status(path) else { return false }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw unsafe(path, "is \(kind(status)), not a folder", "Move it away or name another folder.")
        }
        try checkOwner(status, path)
        guard isClosed(status) else {
            let holdsVault = access(path + "/" + VaultLocation.databaseName, F_OK) == 0
            throw open(
                status, path, holdsVault ? "Run: chmod 700 '\(path)'" : "Name a folder of its own; it will be created.")
        }
        try checkNotSharedByAll(parent(of: path))
        return true
    }

    /// The file at `path` is a regular file of ours with one name that nobody else can read; `nil` if nothing is there.
    static func checkFile(_ path: String, allowingRoot: Bool = false) throws(KeychainError) -> stat? {
        // A file without a name was removed just now.
        guard let status = try status(path), status.st_nlink > 0 else { return nil }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw unsafe(path, "is \(kind(status)), not a regular file", "Move it away.")
        }
        if !allowingRoot || status.st_uid != 0 { try checkOwner(status, path) }
        guard status.st_nlink == 1 else {
            throw unsafe(
                path, "has \(status.st_nlink) names (hard links)", "Remove the other names: find them by inode.")
        }
        guard isClosed(status) else { throw open(status, path, "Run: chmod 600 '\(path)'") }
        return status
    }

    /// Every file beside the database that SQLite would open is one that it may open. To be asked before it sees the database:
    /// it would wait for ever at a pipe, and roll a foreign journal back into the vault.
    static func checkCompanions(_ location: VaultLocation) throws(KeychainError) {
        for name in VaultLocation.companionNames { _ = try checkFile(location.folder + "/" + name) }
        let journal = location.folder + "/" + VaultLocation.journalName
        guard try checkFile(journal) != nil else { return }
        throw KeychainError(
            .corrupt,
            "'\(journal)' is a rollback journal, which a vault never has: it would be written into the vault. Nothing was "
                + "opened. Move it away; if another program has changed the vault, restore a backup.")
    }

    private static func checkOwner(_ status: stat, _ path: String) throws(KeychainError) {
        guard status.st_uid == geteuid() else {
            throw unsafe(
                path, "belongs to user \(status.st_uid), and this is user \(geteuid())",
                "Run as its owner, or name another place.")
        }
    }

    private static func isClosed(_ status: stat) -> Bool { status.st_mode & 0o077 == 0 }

    private static func open(_ status: stat, _ path: String, _ remedy: String) -> KeychainError {
        unsafe(path, "is open to other users (mode \(String(status.st_mode & 0o777, radix: 8)))", remedy)
    }

    /// A folder in which anyone may rename lets others put something of theirs in the place of what is ours.
    static func checkNotSharedByAll(_ folder: String) throws(KeychainError) {
        var status = stat()
        guard stat(folder, &status) == 0 else { throw SystemFailure.failure("look at", folder) }
        guard status.st_mode & S_IWOTH == 0 || status.st_mode & S_ISVTX != 0 else {
            throw unsafe(folder, "can be changed by every user", "Run: chmod o-w '\(folder)'")
        }
    }

    /// Nobody else can put another file in the place of this one, further up the path either.
    static func checkNotReplaceable(_ path: String) throws(KeychainError) {
        switch PathSafety.flaw(of: path, checkingOwners: false) {
        case nil: break
        case .changedByAll(let folder)?:
            throw unsafe(folder, "can be changed by every user", "Run: chmod o-w '\(folder)'")
        case .ofAnotherUser(let entry, let owner)?:
            throw unsafe(
                entry, "belongs to user \(owner) and lies in a folder that every user may write", "Name another place.")
        }
    }

    /// The path with every symbolic link followed; `nil` if nothing is there.
    static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    static func parent(of path: String) -> String {
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

/// What the operating system said, as one of our outcomes.
enum SystemFailure {
    /// - Parameter action: What was tried, to stand in "Could not … 'path'".
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
