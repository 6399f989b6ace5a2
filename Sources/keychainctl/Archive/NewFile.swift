// SPDX-License-Identifier: Apache-2.0
// A file that gets its name when it is complete.

import Foundation
import KeychainKit
import SecretMemory

/// The file while it is written. Until it is complete it has no name, so that nothing remains of it if the program is
/// killed; on file systems that cannot do that it has a name that ends with `.unfinished-export`.
final class NewFile {
    private let place: NewFilePlace
    let descriptor: Int32
    /// The name that it has in the meantime.
    private var unfinished: String?

    init(_ place: NewFilePlace) throws(KeychainError) {
        self.place = place
        Self.removeUnfinished(in: place.folder)
        if let nameless = Self.nameless(in: place.folder) {
            descriptor = nameless
        } else {
            let path = Self.unfinishedPath(place)
            descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw .archiveFile("create", place.path) }
            unfinished = path
        }
        // The lock tells other exports that this file is in use, however long it takes to write it.
        flock(descriptor, LOCK_EX | LOCK_NB)
        guard fchmod(descriptor, 0o600) == 0 else { throw .archiveFile("protect", place.path) }
    }

    deinit {
        if let unfinished { unlink(unfinished) }
        close(descriptor)
    }

    /// `O_TMPFILE`, whose definition Swift does not import.
    private static let withoutName: Int32 = 0o20_000_000 | O_DIRECTORY

    /// - Returns: `nil` where there is no such file, or, without `/proc`, no way to give it a name.
    private static func nameless(in folder: String) -> Int32? {
        let descriptor = open(folder, withoutName | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        if access(link(to: descriptor), F_OK) == 0 { return descriptor }
        close(descriptor)
        return nil
    }

    private static func link(to descriptor: Int32) -> String { "/proc/self/fd/\(descriptor)" }

    private static let unfinishedEnding = ".unfinished-export"
    /// Seconds after which a file that no program writes is one that was left behind: longer than between its creation
    /// and its lock.
    private static let unfinishedAge = 60

    private static func unfinishedPath(_ place: NewFilePlace) -> String {
        let random = String(UInt64.random(in: .min ... .max), radix: 36)
        return (place.folder == "/" ? "" : place.folder) + "/." + random + unfinishedEnding
    }

    /// What a program that was killed has left, with a part of the items or all of them.
    private static func removeUnfinished(in folder: String) {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return }
        for name in names where name.hasPrefix(".") && name.hasSuffix(unfinishedEnding) {
            let path = folder + "/" + name
            let file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            guard file >= 0 else { continue }
            defer { close(file) }
            var status = stat()
            guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
                time(nil) - status.st_mtim.tv_sec > unfinishedAge, flock(file, LOCK_EX | LOCK_NB) == 0
            else { continue }
            unlink(path)
        }
    }

    /// Writes a whole file.
    static func write(_ bytes: UnsafeRawBufferPointer, to place: NewFilePlace) throws(KeychainError) {
        let file = try NewFile(place)
        try file.write(bytes)
        try file.sync()
        try file.putInPlace()
    }

    static func write(_ content: Data, to place: NewFilePlace) throws(KeychainError) {
        let file = try NewFile(place)
        try file.write(content)
        try file.sync()
        try file.putInPlace()
    }

    static func write(_ content: SecretBytes, to place: NewFilePlace) throws(KeychainError) {
        try content.withUnsafeBytes { (bytes) throws(KeychainError) in try write(bytes, to: place) }
    }

    /// Adds bytes at the end, without copying them.
    func write(_ bytes: Data) throws(KeychainError) {
        var failure: KeychainError?
        bytes.withUnsafeBytes { bytes in
            do throws(KeychainError) { try write(bytes) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// Adds bytes at the end.
    func write(_ bytes: UnsafeRawBufferPointer) throws(KeychainError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Foundation.write(
                descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            guard count > 0 || count < 0 && errno == EINTR else {
                throw .archiveFile("write", place.path, code: count == 0 ? ENOSPC : errno)
            }
            rest = rest.dropFirst(max(0, count))
        }
    }

    /// Begins from the start, without what was written so far.
    func clear() throws(KeychainError) {
        guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
            throw .archiveFile("write", place.path)
        }
    }

    /// Makes the content durable, and the next reads come from the medium where the system allows that.
    func sync() throws(KeychainError) {
        guard fsync(descriptor) == 0 else { throw .archiveFile("write", place.path) }
        posix_fadvise(descriptor, 0, 0, Int32(POSIX_FADV_DONTNEED))
    }

    /// Gives the file its name: durable when this returns.
    func putInPlace() throws(KeychainError) {
        if place.isOutput { return try copyToOutput() }
        try place.checkFree()
        if place.isReplacing { try replace() } else { try name(place.path) }
        if let unfinished { unlink(unfinished) }
        unfinished = nil
        warnIfOthersMayRead()
        try syncFolder()
    }

    /// Only what takes the place of another file needs a second name.
    private func replace() throws(KeychainError) {
        if unfinished == nil {
            if linked(place.path) { return }
            guard errno == EEXIST else { throw .archiveFile("name", place.path) }
            let path = Self.unfinishedPath(place)
            try name(path)
            unfinished = path
        }
        guard rename(unfinished ?? "", place.path) == 0 else { throw .archiveFile("rename", place.path) }
        unfinished = nil
    }

    /// Some file systems keep no permissions, and do not say so.
    private func warnIfOthersMayRead() {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & 0o077 != 0 else { return }
        Output.note("The file system of '\(place.path)' keeps no permissions, so other users may read the file.")
    }

    private func copyToOutput() throws(KeychainError) {
        var bytes = FileBytes(descriptor, place.path)
        while true {
            var chunk = try bytes.next(1 << 16)
            defer { chunk.wipe() }
            guard !chunk.isEmpty else { return }
            try Output.write(chunk)
        }
    }

    /// Adds a name, which nothing may have.
    private func name(_ path: String) throws(KeychainError) {
        if linked(path) { return }
        if errno == EEXIST { throw place.taken }
        // File systems without hard links. The gap after the check is short.
        guard let unfinished, [EPERM, EOPNOTSUPP, ENOSYS].contains(errno) else {
            throw .archiveFile("name", place.path)
        }
        guard rename(unfinished, path) == 0 else { throw .archiveFile("rename", place.path) }
    }

    private func linked(_ path: String) -> Bool {
        let from = unfinished ?? Self.link(to: descriptor)
        return linkat(AT_FDCWD, from, AT_FDCWD, path, unfinished == nil ? AT_SYMLINK_FOLLOW : 0) == 0
    }

    private func syncFolder() throws(KeychainError) {
        let folder = open(place.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if folder >= 0 { close(folder) } }
        if folder < 0, errno == EACCES {
            // It may be written and not read, so it cannot be synced by itself.
            return Foundation.sync()
        }
        // Some file systems cannot sync a folder.
        guard folder >= 0, fsync(folder) == 0 || errno == EINVAL else {
            throw KeychainError(
                .inputOutput,
                "'\(place.path)' is complete, but it may be lost in a power cut: \(String(cString: strerror(errno))).")
        }
    }
}
