// SPDX-License-Identifier: Apache-2.0
// An open folder, and the system's calls on what lies in it. Nothing below it is followed out of it.

import Foundation
import KeychainSyncCore

/// A folder, open for as long as the object lives.
final class OpenFolder {
    private let descriptor: Int32
    /// For messages.
    let path: String

    private init(_ descriptor: Int32, _ path: String) { (self.descriptor, self.path) = (descriptor, path) }

    deinit { close(descriptor) }

    /// The shared folder itself. It may be reached through links, and is never made: an empty one would look like one that has lost
    /// everything.
    static func shared(_ path: String) throws(CarrierFailure) -> OpenFolder {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system("open", path) }
        return OpenFolder(descriptor, path)
    }

    /// - Returns: `nil` if there is none.
    func folder(_ name: String) throws(CarrierFailure) -> OpenFolder? {
        let opened = openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        if opened >= 0 { return OpenFolder(opened, path + "/" + name) }
        // A file or a link in its place is none of ours.
        if [ENOENT, ENOTDIR, ELOOP].contains(errno) { return nil }
        throw .system("open", path + "/" + name)
    }

    /// Makes it if there is none. Whoever shares the folder decides by their umask who may write to it: it holds no secrets.
    func folderForWriting(_ name: String) throws(CarrierFailure) -> OpenFolder {
        if let present = try folder(name) { return present }
        guard mkdirat(descriptor, name, 0o777) == 0 || errno == EEXIST else { throw .system("make", path + "/" + name) }
        try sync()
        guard let made = try folder(name) else {
            throw CarrierFailure(.denied, "'\(path)/\(name)' is no folder. Remove what lies there.")
        }
        return made
    }

    /// All names in it without the hidden ones, in no order.
    ///
    /// - Parameter budget: How many may still come; it is lowered.
    func names(_ budget: inout Int) throws(CarrierFailure) -> [String] {
        try allNames(&budget).filter { !$0.hasPrefix(".") }
    }

    private func allNames(_ budget: inout Int) throws(CarrierFailure) -> [String] {
        // The stream owns its descriptor.
        let own = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard own >= 0, let stream = fdopendir(own) else { throw .system("list", path) }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw .system("list", path) }
                return names
            }
            budget -= 1
            guard budget >= 0 else {
                throw CarrierFailure(
                    .overcrowded, "'\(path)' holds more files than any ring needs. Remove what is not of it.")
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(validatingCString: $0) }
            }
            if let name { names.append(name) }
        }
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
        // It may grow meanwhile.
        while bytes.count <= Bounds.object {
            let count = Foundation.read(file, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system("read", path + "/" + name) }
            if count == 0 { return bytes }
            bytes += piece[..<count]
        }
        return nil
    }

    /// Makes a file of that name, whole and durable, if there is none.
    ///
    /// - Parameter replacing: Whether one that is there is replaced: it has not been copied wholly.
    /// - Returns: `false` if there is one.
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
            // Some file systems have no links: those of other systems, and of networks.
            guard [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS, EMLINK].contains(errno) else { throw .system("write", path) }
        }
        guard renameat(descriptor, temporary, descriptor, name) == 0 else { throw .system("write", path) }
        return true
    }

    /// Removes the residue of processes that ended while they wrote a file. A file that another process is writing is younger.
    func removeResidue(beside name: String) throws(CarrierFailure) {
        var (budget, own, other) = (Int.max, stat(), stat())
        // The folder's clock, which may be that of another machine.
        guard fstatat(descriptor, name, &own, AT_SYMLINK_NOFOLLOW) == 0 else { return }
        for unfinished in try allNames(&budget) where unfinished.hasPrefix(Self.temporary) {
            guard fstatat(descriptor, unfinished, &other, AT_SYMLINK_NOFOLLOW) == 0,
                own.st_mtim.tv_sec - other.st_mtim.tv_sec > 3600
            else { continue }
            try remove(unfinished)
        }
    }

    private static let temporary = ".tmp-"

    /// - Returns: `false` if it was not there.
    @discardableResult
    func remove(_ name: String) throws(CarrierFailure) -> Bool {
        if unlinkat(descriptor, name, 0) == 0 { return true }
        // A folder of that name is none of ours.
        if [ENOENT, EISDIR].contains(errno) { return false }
        throw .system("remove", path + "/" + name)
    }

    /// Some file systems of networks refuse to sync a folder.
    func sync() throws(CarrierFailure) {
        guard fsync(descriptor) == 0 || [EINVAL, ENOTSUP, EROFS].contains(errno) else { throw .system("write", path) }
    }
}

extension CarrierFailure {
    /// By `errno`.
    static func system(_ action: String, _ path: String) -> CarrierFailure {
        let code = errno
        let reason: Reason =
            switch code {
            case ENOENT, ENOTDIR, ELOOP, ESTALE, ENOTCONN, EHOSTDOWN, ETIMEDOUT, ENXIO, ENODEV: .unavailable
            case EACCES, EPERM, EROFS: .denied
            case ENOSPC, EDQUOT: .full
            default: .inputOutput
            }
        return CarrierFailure(
            reason, "Cannot \(action) '\(path)': \(String(cString: strerror(code))). \(advice(reason))")
    }

    private static func advice(_ reason: Reason) -> String {
        switch reason {
        case .unavailable: "Is it mounted, and does its tool run? What is to be sent waits here."
        case .denied: "Give this user the right to read and write there."
        case .full: "Make space there. What is to be sent waits here."
        case .overcrowded, .tooLarge, .inputOutput: "What is to be sent waits here. Try again."
        }
    }
}
