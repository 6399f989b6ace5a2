// SPDX-License-Identifier: Apache-2.0
// Making private folders and files, and reading and replacing small ones whole.

import Foundation
import KeychainEngine
import SecretMemory

/// Folders and files of one user: created closed to others, before anything is written to them.
enum PrivateFile {
    /// Creates the folder and what is missing above it. The folder gets mode 0700; the XDG rules ask 0700 for parents too.
    static func createFolder(_ path: String) throws(KeychainError) {
        if try FileSafety.status(path) != nil {
            _ = try FileSafety.checkFolder(path)
            return
        }
        try createParents(of: path)
        try makeFolder(path)
        _ = try FileSafety.checkFolder(path)
    }

    /// The folders above a file or folder, those missing made with mode 0700.
    static func createParents(of path: String) throws(KeychainError) {
        let parent = FileSafety.parent(of: path)
        var status = stat()
        if stat(parent, &status) == 0 { return }
        guard errno == ENOENT else { throw SystemFailure.failure("look at", parent) }
        try createParents(of: parent)
        try makeFolder(parent)
    }

    /// The mode is set once more after creating: a strict umask would leave a folder that its owner cannot enter.
    private static func makeFolder(_ path: String) throws(KeychainError) {
        if mkdir(path, 0o700) == 0 {
            guard chmod(path, 0o700) == 0 else { throw SystemFailure.failure("set the mode of", path) }
        } else if errno != EEXIST {
            throw SystemFailure.failure("create", path)
        }
        // Also if another process has just made it and not come to this yet.
        try syncFolder(FileSafety.parent(of: path))
    }

    /// Makes the names of the folders above durable, as far up as they belong to us: others we have not made.
    static func syncParents(of path: String) throws(KeychainError) {
        var folder = FileSafety.parent(of: path)
        while folder != "/" {
            folder = FileSafety.parent(of: folder)
            var status = stat()
            guard stat(folder, &status) == 0, status.st_uid == geteuid(), access(folder, R_OK) == 0 else { return }
            try syncFolder(folder)
        }
    }

    /// Creates an empty file of mode 0600 unless a checked one is there already.
    static func createEmpty(_ path: String) throws(KeychainError) {
        if try FileSafety.checkFile(path) != nil { return }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 || errno == EEXIST else { throw SystemFailure.failure("create", path) }
        if descriptor >= 0 {
            fchmod(descriptor, 0o600)
            close(descriptor)
        }
        _ = try FileSafety.checkFile(path)
    }

    /// The bytes of a checked file; `nil` if there is none.
    ///
    /// - Throws: `corrupt` if it holds more than `limit` bytes.
    static func read(_ path: String, limit: Int) throws(KeychainError) -> Data? {
        guard try FileSafety.checkFile(path) != nil else { return nil }
        // O_NONBLOCK: should a pipe have taken the file's place just now, opening it must not hang.
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw SystemFailure.failure("open", path) }
        defer { close(descriptor) }
        var bytes = Data(count: limit + 1)
        let count = bytes.withUnsafeMutableBytes { Foundation.read(descriptor, $0.baseAddress, $0.count) }
        guard count >= 0 else { throw SystemFailure.failure("read", path) }
        guard count <= limit else { throw KeychainError(.corrupt, "'\(path)' is longer than it can be.") }
        return bytes.prefix(count)
    }

    /// The bytes of a secret file, which pass through no other memory; `nil` if there is none.
    ///
    /// It may belong to root, who hands it to a service, and to nobody else but us.
    static func readSecret(_ path: String, limit: Int) throws(KeychainError) -> SecretBytes? {
        guard try FileSafety.checkFile(path, allowingRoot: true) != nil else { return nil }
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw SystemFailure.failure("open", path) }
        defer { close(descriptor) }
        var count = 0
        let secret = SecretBytes(count: limit + 1) { count = Foundation.read(descriptor, $0.baseAddress, $0.count) }
        guard count >= 0 else { throw SystemFailure.failure("read", path) }
        guard count > 0 else { throw KeychainError(.corrupt, "'\(path)' is empty.") }
        guard count <= limit else { throw KeychainError(.corrupt, "'\(path)' is longer than it can be.") }
        return secret.withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    /// Puts a whole new file in place, durably: at every moment there is either no file or all of it.
    static func write(_ bytes: Data, to path: String) throws(KeychainError) {
        let temporary = path + ".new"
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemFailure.failure("create", temporary) }
        fchmod(descriptor, 0o600)
        let written = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
        let failed = written != bytes.count ? (written < 0 ? errno : ENOSPC) : (fsync(descriptor) == 0 ? 0 : errno)
        close(descriptor)
        guard failed == 0 else {
            unlink(temporary)
            throw SystemFailure.failure("write", temporary, code: failed)
        }
        guard rename(temporary, path) == 0 else {
            let code = errno
            unlink(temporary)
            throw SystemFailure.failure("rename", temporary, code: code)
        }
        try syncName(of: path)
    }

    /// Makes the name durable that a file has just been given.
    static func syncName(of path: String) throws(KeychainError) {
        do throws(KeychainError) {
            try syncFolder(FileSafety.parent(of: path))
        } catch {
            throw error.after("'\(path)' was written and has its name, but may be gone after a power cut.")
        }
    }

    /// Makes names in a folder durable; a file may be on disk and its name not.
    static func syncFolder(_ path: String) throws(KeychainError) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemFailure.failure("open", path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw SystemFailure.failure("sync", path) }
    }
}
