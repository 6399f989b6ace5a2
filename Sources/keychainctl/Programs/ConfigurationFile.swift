// SPDX-License-Identifier: Apache-2.0
// A configuration file of another program: read whole, and replaced in one step.

import Foundation
import KeychainKit

struct ConfigurationFile {
    private static let limit = 4 << 20

    /// Behind all symbolic links: the link itself stays.
    let path: String

    init(_ path: String) {
        guard let resolved = realpath(path, nil) else {
            self.path = path
            return
        }
        defer { free(resolved) }
        self.path = String(cString: resolved)
    }

    /// - Returns: `nil` if there is no file.
    func read() throws(KeychainError) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT {
                var status = stat()
                guard lstat(path, &status) != 0 else {
                    // The file would take the place of the link.
                    throw KeychainError(
                        .unsafeLocation, "'\(path)' is a link to a file that does not exist; nothing was changed.")
                }
                return nil
            }
            throw failure("cannot be read")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw KeychainError(.unsafeLocation, "'\(path)' is not a file; nothing was changed.")
        }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= Self.limit {
            let count = chunk.withUnsafeMutableBytes { Descriptors.read(descriptor, into: $0) }
            if count == 0 { return bytes }
            guard count > 0 else {
                errno = Int32(-count)
                throw failure("cannot be read")
            }
            bytes += chunk[..<count]
        }
        throw KeychainError(.tooLarge, "'\(path)' is longer than \(Self.limit >> 20) MiB; nothing was changed.")
    }

    /// Writes a new file beside the old one, and then gives it the name.
    ///
    /// - Parameters:
    ///   - old: What was read before. If another program has changed the file since, it stays.
    ///   - mode: The permissions of a file that does not exist yet.
    func replace(_ old: [UInt8]?, by new: [UInt8], mode: mode_t) throws(KeychainError) {
        try makeFolder()
        var status = stat()
        let isThere = stat(path, &status) == 0
        removeUnfinished()
        let temporary = path + Self.suffix + "\(getpid())"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("cannot be written") }
        var isDone = false
        defer { if !isDone { unlink(temporary) } }
        do {
            defer { close(descriptor) }
            try write(new, descriptor)
            // As root, with the home folder of another user, who could not read the file otherwise.
            let isOwn = !isThere || status.st_uid == geteuid()
            guard isOwn || fchown(descriptor, status.st_uid, status.st_gid) == 0 else {
                throw failure("cannot be given to its owner")
            }
            guard fchmod(descriptor, isThere ? status.st_mode & 0o777 : mode) == 0, fsync(descriptor) == 0 else {
                throw failure("cannot be written")
            }
        }
        try checkIsStill(old)
        guard rename(temporary, path) == 0 else { throw failure("cannot be written") }
        isDone = true
    }

    private static let suffix = ".keychainctl-"

    /// What a killed process has left, which may hold passwords as the file itself.
    private func removeUnfinished() {
        let folder = parent
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for other in names where other.hasPrefix(name + Self.suffix) {
            guard let process = pid_t(other.dropFirst(name.count + Self.suffix.count)), process > 0 else { continue }
            // One with the number of this process is of an earlier one.
            if process == getpid() || (kill(process, 0) != 0 && errno == ESRCH) { unlink(folder + "/" + other) }
        }
    }

    private var parent: String {
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        return folder.isEmpty ? "/" : folder
    }

    private func checkIsStill(_ old: [UInt8]?) throws(KeychainError) {
        guard try read() == old else {
            throw KeychainError(.busy, "'\(path)' was changed by another program meanwhile. Try again.")
        }
    }

    private func write(_ bytes: [UInt8], _ descriptor: Int32) throws(KeychainError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure("cannot be written") }
            rest = rest.dropFirst(count)
        }
    }

    private func makeFolder() throws(KeychainError) {
        do {
            try FileManager.default.createPrivateFolder(parent)
        } catch {
            guard (error as? CocoaError)?.code != .fileWriteOutOfSpace else {
                throw KeychainError(.diskFull, "The folder '\(parent)' cannot be created: there is no space left.")
            }
            throw KeychainError(.unavailable, "The folder '\(parent)' cannot be created. Check its permissions.")
        }
    }

    /// - Parameter old: What was read before. If another program has changed the file since, it stays.
    func remove(_ old: [UInt8]?) throws(KeychainError) {
        try checkIsStill(old)
        guard unlink(path) == 0 || errno == ENOENT else { throw failure("cannot be removed") }
    }

    private func failure(_ what: String) -> KeychainError {
        let code = errno
        let reason: KeychainError.Reason = code == ENOSPC || code == EDQUOT ? .diskFull : .unavailable
        return KeychainError(reason, "'\(path)' \(what): \(String(cString: strerror(code))). It was not changed.")
    }
}
