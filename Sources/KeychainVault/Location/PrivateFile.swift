// SPDX-License-Identifier: Apache-2.0
// Creating private folders and files, and reading and replacing small files as a whole.

import Foundation
import KeychainEngine
import SecretMemory

/// Folders and files of one user: created closed to others, before anything is written to them.
enum PrivateFile {
    /// Creates the folder and its missing parents. The folder gets mode 0700; the XDG rules require 0700 for parents
    /// too.
    ///
    /// - Parameter mayBeRead: Whether one that is there may have been opened for others to read.
    static func createFolder(_ path: String, mayBeRead: Bool = false) throws(KeychainError) {
        if try FileSafety.status(path) != nil {
            _ = try FileSafety.checkFolder(path, mayBeRead: mayBeRead)
            return
        }
        try createParents(of: path)
        try makeFolder(path)
        _ = try FileSafety.checkFolder(path)
    }

    /// Creates the missing parents of a file or folder with mode 0700.
    static func createParents(of path: String) throws(KeychainError) {
        let parent = FileSafety.parent(of: path)
        var status = stat()
        if stat(parent, &status) == 0 { return }
        guard errno == ENOENT else { throw SystemFailure.failure("look at", parent) }
        try createParents(of: parent)
        try makeFolder(parent)
    }

    /// The mode is set again after creation: a strict umask would leave a folder that its owner cannot enter.
    private static func makeFolder(_ path: String) throws(KeychainError) {
        if mkdir(path, 0o700) == 0 {
            guard chmod(path, 0o700) == 0 else { throw SystemFailure.failure("set the mode of", path) }
        } else if errno != EEXIST {
            throw SystemFailure.failure("create", path)
        }
        // Also if another process has just created the folder and has not synced it yet.
        try syncFolder(FileSafety.parent(of: path))
    }

    /// Makes the names of the folders above durable, as far up as they belong to us: we created no others.
    static func syncParents(of path: String) throws(KeychainError) {
        var folder = FileSafety.parent(of: path)
        while folder != "/" {
            folder = FileSafety.parent(of: folder)
            var status = stat()
            guard stat(folder, &status) == 0, status.st_uid == geteuid(), FileSafety.allows(R_OK, folder) else {
                return
            }
            try syncFolder(folder)
        }
    }

    /// Creates an empty file of mode 0600 unless a checked one is there already.
    static func createEmpty(_ path: String, mayBeRead: Bool = false) throws(KeychainError) {
        if try FileSafety.checkFile(path, mayBeRead: mayBeRead) != nil { return }
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
    /// - Throws: `corrupt` if it contains more than `limit` bytes.
    static func read(_ path: String, limit: Int) throws(KeychainError) -> Data? {
        guard try FileSafety.checkFile(path) != nil else { return nil }
        // O_NONBLOCK: opening must not block if a pipe has just replaced the file.
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw SystemFailure.failure("open", path) }
        defer { close(descriptor) }
        var bytes = Data(count: limit + 1)
        let count = bytes.withUnsafeMutableBytes { Foundation.read(descriptor, $0.baseAddress, $0.count) }
        guard count >= 0 else { throw SystemFailure.failure("read", path) }
        guard count <= limit else { throw KeychainError(.corrupt, "'\(path)' is too large to be valid.") }
        return bytes.prefix(count)
    }

    /// The bytes of a secret file, read directly into secret memory; `nil` if there is none.
    ///
    /// It must belong to us or to root, which provides it to a service.
    static func readSecret(_ path: String, limit: Int) throws(KeychainError) -> SecretBytes? {
        guard try FileSafety.checkFile(path, allowingRoot: true) != nil else { return nil }
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw SystemFailure.failure("open", path) }
        defer { close(descriptor) }
        var count = 0
        let secret = SecretBytes(count: limit + 1) { count = Foundation.read(descriptor, $0.baseAddress, $0.count) }
        guard count >= 0 else { throw SystemFailure.failure("read", path) }
        guard count > 0 else { throw KeychainError(.corrupt, "'\(path)' is empty.") }
        guard count <= limit else { throw KeychainError(.corrupt, "'\(path)' is too large to be valid.") }
        return secret.withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    /// Puts a whole new file in place, durably: at every moment the path has either no file or a complete one.
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

    /// Makes the new name of a file durable.
    static func syncName(of path: String) throws(KeychainError) {
        do throws(KeychainError) {
            try syncFolder(FileSafety.parent(of: path))
        } catch {
            throw error.after("'\(path)' was written, but may be lost if the power fails now.")
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
