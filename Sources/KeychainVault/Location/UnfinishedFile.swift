// SPDX-License-Identifier: Apache-2.0
// A file that is written under a temporary name and renamed when it is complete.

internal import CKeychainShims
import Foundation
import KeychainEngine

/// An empty private file that one process fills. It is removed unless it is put in place; the residue of a killed
/// process is replaced by the next one.
final class UnfinishedFile {
    let path: String
    private let descriptor: Int32
    private let forks = keychain_fork_count()
    /// Whether it has its name, durable or not.
    private(set) var isInPlace = false

    /// - Throws: `busy` while another process writes it.
    init(_ path: String) throws(KeychainError) {
        self.path = path
        for _ in 1...100 {
            if let created = try Self.created(path) {
                descriptor = created
                return
            }
            try Self.removeResidue(path)
        }
        throw Self.inUse(path)
    }

    deinit {
        if !isInPlace { unlink(path) }
        Self.release(descriptor, takenAt: forks)
    }

    /// Whether its name still leads to it.
    var isAtItsPlace: Bool { Self.isAt(path, descriptor) }

    /// Makes the contents durable, and gives the file its name. The name never leads to an incomplete file.
    ///
    /// - Parameter replacing: Whether to replace what has the name.
    /// - Returns: `false` if something has the name, and must not be replaced.
    func put(at final: String, replacing: Bool) throws(KeychainError) -> Bool {
        guard try name(final, replacing: replacing) else { return false }
        try PrivateFile.syncName(of: final)
        return true
    }

    /// The same, except that the name is not durable yet: for a file that is removed again if its name cannot be made
    /// durable.
    func name(_ final: String, replacing: Bool) throws(KeychainError) -> Bool {
        guard fsync(descriptor) == 0 else { throw SystemFailure.failure("write", path) }
        if replacing {
            guard rename(path, final) == 0 else { throw SystemFailure.failure("rename", path) }
        } else {
            guard try UnusedName.give(final, to: path) else { return false }
            // On a file system that cannot rename without replacing it still has the first name as well.
            if isAtItsPlace { unlink(path) }
        }
        isInPlace = true
        return true
    }

    /// Fills it with the bytes of another private file. The checks apply to the opened file, not to its path. What was
    /// never written there takes neither time nor space here: a broken file may claim to have terabytes.
    func fill(from source: String) throws(KeychainError) {
        _ = try FileSafety.checkFile(source)
        let input = open(source, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard input >= 0 else { throw SystemFailure.failure("open", source) }
        defer { close(input) }
        var status = stat()
        guard fstat(input, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else {
            throw KeychainError(.unsafeLocation, "'\(source)' changed while it was being checked. Nothing was changed.")
        }
        var end: off_t = 0
        while let part = try Self.data(input, from: end, source) { end = try copy(part, of: input, source) }
        // What is left is a hole.
        guard fstat(input, &status) == 0 else { throw SystemFailure.failure("look at", source) }
        guard ftruncate(descriptor, status.st_size) == 0 else { throw SystemFailure.failure("write", path) }
    }

    /// Linux's numbers of SEEK_DATA and SEEK_HOLE, which Foundation does not import.
    private static let (seekData, seekHole) = (Int32(3), Int32(4))

    /// The next part of a file that is no hole; to the end of the file where the file system knows no holes.
    ///
    /// - Returns: `nil` if there is none.
    private static func data(
        _ input: Int32, from offset: off_t, _ source: String
    ) throws(KeychainError) -> Range<off_t>? {
        let start = lseek(input, offset, Self.seekData)
        guard start >= 0 else {
            switch errno {
            case ENXIO: return nil
            case EINVAL, EOPNOTSUPP: return try rest(input, from: offset, source)
            default: throw SystemFailure.failure("read", source)
            }
        }
        let end = lseek(input, start, Self.seekHole)
        return end > start ? start..<end : try rest(input, from: start, source)
    }

    private static func rest(
        _ input: Int32, from offset: off_t, _ source: String
    ) throws(KeychainError) -> Range<off_t>? {
        let end = lseek(input, 0, SEEK_END)
        guard end >= 0 else { throw SystemFailure.failure("read", source) }
        return end > offset ? offset..<end : nil
    }

    /// Copies a part to the same place.
    ///
    /// - Returns: Where the next part may begin.
    private func copy(_ part: Range<off_t>, of input: Int32, _ source: String) throws(KeychainError) -> off_t {
        for file in [input, descriptor] {
            guard lseek(file, part.lowerBound, SEEK_SET) >= 0 else { throw SystemFailure.failure("read", source) }
        }
        var buffer = [UInt8](repeating: 0, count: min(1 << 20, part.count))
        var offset = part.lowerBound
        while offset < part.upperBound {
            let count = read(input, &buffer, min(buffer.count, Int(part.upperBound - offset)))
            guard count > 0 || count < 0 && errno == EINTR else {
                if count == 0 { return part.upperBound }
                throw SystemFailure.failure("read", source)
            }
            if count > 0 { try write(buffer[..<count]) }
            offset += off_t(max(0, count))
        }
        return offset
    }

    private func write(_ bytes: ArraySlice<UInt8>) throws(KeychainError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || count < 0 && errno == EINTR else {
                throw SystemFailure.failure("write", path, code: count == 0 ? ENOSPC : errno)
            }
            rest = rest.dropFirst(max(0, count))
        }
    }

    // MARK: - The name

    /// - Returns: `nil` if the name already exists.
    private static func created(_ path: String) throws(KeychainError) -> Int32? {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            guard errno == EEXIST else { throw SystemFailure.failure("create", path) }
            return nil
        }
        // Between creating and locking it another process may have taken it for residue.
        guard fchmod(descriptor, 0o600) == 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0, isAt(path, descriptor) else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// - Throws: `busy` while a process writes it, `unsafeLocation` if it is not ours.
    private static func removeResidue(_ path: String) throws(KeychainError) {
        guard let status = try FileSafety.status(path) else { return }
        // It was complete, and its other name keeps what is in it.
        let hasOtherName = status.st_mode & S_IFMT == S_IFREG && status.st_uid == geteuid() && status.st_nlink > 1
        if !hasOtherName { guard try FileSafety.checkFile(path) != nil else { return } }
        try removeUnused(path)
    }

    /// Removes the name under which a file was written, if the file has its final name as well. On a file system that cannot rename
    /// without replacing, a process that is killed between the two leaves both.
    ///
    /// - Throws: `busy` while that process runs.
    static func removeFirstName(_ path: String, of final: String) throws(KeychainError) {
        guard let first = FileIdentity(path), first == FileIdentity(final) else { return }
        try removeUnused(path)
    }

    private static func removeUnused(_ path: String) throws(KeychainError) {
        let descriptor = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw SystemFailure.failure("open", path) }
            return
        }
        let forks = keychain_fork_count()
        defer { release(descriptor, takenAt: forks) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw inUse(path) }
        guard isAt(path, descriptor) else { return }
        guard unlink(path) == 0 || errno == ENOENT else { throw SystemFailure.failure("remove", path) }
    }

    /// A process that another thread is starting has the descriptor too until it runs its program, and the file would stay locked. A child
    /// that was forked must not take the lock from its parent.
    private static func release(_ descriptor: Int32, takenAt forks: UInt32) {
        if forks == keychain_fork_count() { flock(descriptor, LOCK_UN) }
        close(descriptor)
    }

    private static func isAt(_ path: String, _ descriptor: Int32) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && FileIdentity(path) == FileIdentity(status)
    }

    private static func inUse(_ path: String) -> KeychainError {
        let holder = LockHolder.find(path)
        return KeychainError(
            .busy,
            "\(holder?.description ?? "Another process") is writing '\(path)' now. \(holder?.advice ?? "Try again.")"
        )
    }
}
