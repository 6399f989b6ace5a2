// SPDX-License-Identifier: Apache-2.0
// An open folder, and system calls on its entries. Links below it are not followed.

import Foundation
import KeychainSyncCore

/// A folder that is open as long as the object exists.
final class OpenFolder {
    private let descriptor: Int32
    /// For messages.
    let path: String
    /// The folder that it lies in, and how far below the shared folder that is.
    private let parent: OpenFolder?
    private let depth: Int
    /// In its parent; the shared folder itself needs none.
    private let name: String

    private init(_ descriptor: Int32, _ path: String, in parent: OpenFolder? = nil, name: String = "") {
        (self.descriptor, self.path, self.parent, self.name) = (descriptor, path, parent, name)
        depth = parent.map { $0.depth + 1 } ?? 0
    }

    deinit { close(descriptor) }

    /// The shared folder itself. Its path may contain links. It is never created, because an empty folder would look
    /// like one that has lost everything.
    static func shared(_ path: String) throws(CarrierFailure) -> OpenFolder {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system("open", path) }
        return OpenFolder(descriptor, path)
    }

    /// - Returns: `nil` if the folder does not exist.
    func folder(_ name: String) throws(CarrierFailure) -> OpenFolder? {
        let opened = openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        if opened >= 0 { return OpenFolder(opened, path + "/" + name, in: self, name: name) }
        // A file or a link in its place is none of ours.
        if [ENOENT, ENOTDIR, ELOOP].contains(errno) { return nil }
        throw .system("open", path + "/" + name)
    }

    /// Opens the folder, or creates it. The user's umask decides who may write to it; it contains no secrets in clear.
    func folderForWriting(_ name: String) throws(CarrierFailure) -> OpenFolder {
        if let present = try folder(name) { return present }
        if mkdirat(descriptor, name, 0o777) != 0 {
            guard errno == EEXIST else { throw .system("make", path + "/" + name) }
            if let made = try folder(name) { return made }
            guard status(of: name) == nil else {
                throw CarrierFailure(.denied, "'\(path)/\(name)' is no folder. Remove what lies there.")
            }
        }
        try sync()
        // Another machine may have found it empty and removed it: then it is tried again.
        guard let made = try folder(name) else { throw CarrierFailure(.unavailable, "'\(path)/\(name)' is gone.") }
        return made
    }

    /// All names in the folder except hidden ones, in any order.
    ///
    /// - Parameter budget: How many more names may be read; it is lowered.
    func names(_ budget: inout Int) throws(CarrierFailure) -> [String] {
        try allNames(&budget).filter { $0.utf8.first != UInt8(ascii: ".") }
    }

    private func allNames(_ budget: inout Int) throws(CarrierFailure) -> [String] {
        // The stream owns its descriptor.
        let own = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // It was removed meanwhile, because it was empty.
        if own < 0, errno == ENOENT { return [] }
        guard own >= 0, let stream = fdopendir(own) else { throw .system("list", path) }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 || errno == ENOENT else { throw .system("list", path) }
                return names
            }
            budget -= 1
            guard budget >= 0 else {
                throw CarrierFailure(
                    .overcrowded, "'\(path)' has more files than a ring needs. Remove files that do not belong to it.")
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(validatingCString: $0) }
            }
            if let name { names.append(name) }
        }
    }

    /// In bytes.
    ///
    /// - Returns: `nil` for what is no object: no file, an empty one, one that is too large.
    func size(of name: String) -> Int? {
        guard let status = status(of: name), status.st_mode & S_IFMT == S_IFREG else { return nil }
        return (1...Bounds.object).contains(Int(status.st_size)) ? Int(status.st_size) : nil
    }

    /// Whether it has something in it that was not changed for so many seconds.
    func isUnchanged(_ name: String, for seconds: Int) -> Bool {
        guard let status = status(of: name), status.st_size > 0 else { return false }
        return time(nil) - status.st_mtim.tv_sec > seconds
    }

    /// Whether something else than a file has the name: a folder, a link, a pipe, a socket, a device.
    func hasForeign(_ name: String) -> Bool { status(of: name).map { $0.st_mode & S_IFMT != S_IFREG } ?? false }

    private func status(of name: String) -> stat? {
        var status = stat()
        return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
    }

    /// - Returns: `nil` for what is no file, has too many bytes, or is not there any more. Does not wait for a pipe.
    func bytes(of name: String) throws(CarrierFailure) -> Data? {
        let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            if [ENOENT, ELOOP, ENXIO].contains(errno) { return nil }
            throw .system("read", path + "/" + name)
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= Bounds.object else {
            return nil
        }
        return try contents(of: file, name)
    }

    private func contents(of file: Int32, _ name: String) throws(CarrierFailure) -> Data? {
        var bytes = Data()
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        // The file may grow meanwhile.
        while bytes.count <= Bounds.object {
            let count = Foundation.read(file, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system("read", path + "/" + name) }
            if count == 0 { return bytes }
            bytes += piece[..<count]
        }
        return nil
    }

    /// Creates a file with this name, completely and durably, if there is none.
    ///
    /// - Parameter replacing: Whether one that is there is replaced: it has not been copied wholly.
    /// - Returns: `false` if there is one, or a folder.
    func make(_ name: String, _ bytes: Data, replacing: Bool) throws(CarrierFailure) -> Bool {
        let temporary = Self.temporary + String(UInt64.random(in: 0 ... .max))
        defer { unlinkat(descriptor, temporary, 0) }
        try write(bytes, to: temporary)
        let isMade = try place(temporary, at: name, replacing: replacing)
        if isMade { try sync() }
        return isMade
    }

    private func write(_ bytes: Data, to name: String) throws(CarrierFailure) {
        let file = openat(descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
        guard file >= 0 else { throw .system("write", path) }
        defer { close(file) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .system("write", path) }
            rest = rest.dropFirst(count)
        }
        guard fsync(file) == 0 else { throw .system("write", path) }
    }

    private func place(_ temporary: String, at name: String, replacing: Bool) throws(CarrierFailure) -> Bool {
        if !replacing {
            if linkat(descriptor, temporary, descriptor, name, 0) == 0 { return true }
            if errno == EEXIST { return false }
            // Some file systems have no hard links: those of other operating systems and of networks.
            guard [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS, EMLINK].contains(errno) else { throw .system("write", path) }
        }
        if renameat(descriptor, temporary, descriptor, name) == 0 { return true }
        // A folder of that name is none of ours.
        if [EISDIR, ENOTEMPTY, EEXIST].contains(errno) { return false }
        throw .system("write", path)
    }

    /// Removes the residue of processes that ended while they wrote a file. A file that another process is writing is younger.
    func removeResidue(beside name: String) throws(CarrierFailure) {
        var (budget, own, other) = (Int.max, stat(), stat())
        // The time of the folder's file system, which may be that of another machine.
        guard fstatat(descriptor, name, &own, AT_SYMLINK_NOFOLLOW) == 0 else { return }
        for unfinished in try allNames(&budget) where unfinished.hasPrefix(Self.temporary) {
            guard fstatat(descriptor, unfinished, &other, AT_SYMLINK_NOFOLLOW) == 0,
                own.st_mtim.tv_sec - other.st_mtim.tv_sec > 3600
            else { continue }
            try remove(unfinished)
        }
    }

    private static let temporary = ".tmp-"

    /// - Returns: `false` if it did not exist.
    @discardableResult
    func remove(_ name: String) throws(CarrierFailure) -> Bool {
        if unlinkat(descriptor, name, 0) == 0 { return true }
        // A folder with this name does not belong to the ring.
        if [ENOENT, EISDIR].contains(errno) { return false }
        throw .system("remove", path + "/" + name)
    }

    /// Removes the folder of one member, snapshot, epoch or invitation if nothing is in it. A machine that uses it at the same time makes it again.
    func removeIfEmpty() {
        guard let parent, depth == Self.depthOfFolders else { return }
        unlinkat(parent.descriptor, name, AT_REMOVEDIR)
    }

    /// Below the shared folder: `skc1`, the ring, the kind.
    private static let depthOfFolders = 4

    /// Some file systems of networks refuse to sync a folder.
    func sync() throws(CarrierFailure) {
        guard fsync(descriptor) == 0 || [EINVAL, ENOTSUP, EROFS].contains(errno) else { throw .system("write", path) }
    }
}
