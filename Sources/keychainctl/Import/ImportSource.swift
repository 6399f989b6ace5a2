// SPDX-License-Identifier: Apache-2.0
// The file or the pipe that is imported: read once, with a limit, and removed only if it is still the same.

import Foundation
import KeychainAuthenticators
import KeychainKit

struct ImportSource {
    /// `nil`: standard input.
    let path: String?
    private(set) var bytes: Data
    private let identity: Identity

    /// What changes when somebody writes the file or replaces it. The time of its content can be set back, that of the file cannot.
    private struct Identity: Equatable {
        let device, inode, size, seconds, nanoseconds, fileSeconds, fileNanoseconds: Int64
        let isFile: Bool

        init(_ status: stat) {
            (device, inode, size) = (
                Int64(truncatingIfNeeded: status.st_dev), Int64(truncatingIfNeeded: status.st_ino),
                Int64(status.st_size)
            )
            #if canImport(Darwin)
                let (time, fileTime) = (status.st_mtimespec, status.st_ctimespec)
            #else
                let (time, fileTime) = (status.st_mtim, status.st_ctim)
            #endif
            (seconds, nanoseconds) = (Int64(time.tv_sec), Int64(time.tv_nsec))
            (fileSeconds, fileNanoseconds) = (Int64(fileTime.tv_sec), Int64(fileTime.tv_nsec))
            isFile = status.st_mode & S_IFMT == S_IFREG
        }
    }

    /// - Parameter path: `nil` for standard input.
    init(_ path: String?) throws(KeychainError) {
        self.path = path
        let descriptor = try Self.opened(path)
        defer { if path != nil { close(descriptor) } }
        let name = path ?? "standard input"
        let before = try Self.identity(descriptor, name)
        bytes = try Self.read(descriptor, name)
        identity = try Self.identity(descriptor, name)
        // A pipe has no size and no time of its own.
        guard !before.isFile || before == identity else {
            bytes.wipe()
            throw KeychainError(.busy, "'\(name)' was changed while it was read. Nothing was imported. Try again.")
        }
    }

    private static func identity(_ descriptor: Int32, _ name: String) throws(KeychainError) -> Identity {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("read", name, errno) }
        return Identity(status)
    }

    mutating func wipe() { bytes.wipe() }

    /// Fails before anything is stored if the file could not be removed afterwards.
    static func checkIsRemovable(_ path: String) throws(KeychainError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw failure("read", path, errno) }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1 else {
            throw KeychainError(
                .invalidParameter,
                "--remove-source removes only a regular file with one name, and not '\(path)'. Nothing was imported.")
        }
    }

    /// - Throws: If the file has changed since it was read. It is not removed then.
    func remove() throws(KeychainError) {
        guard let path else { return }
        var status = stat()
        guard lstat(path, &status) == 0 else { throw Self.failure("remove", path, errno) }
        guard Identity(status) == identity, status.st_nlink == 1 else {
            throw KeychainError(
                .inputOutput,
                "All entries were imported, but '\(path)' has changed since it was read, so it was not removed. "
                    + "Import it again.")
        }
        guard unlink(path) == 0 else {
            let failure = Self.failure("remove", path, errno)
            throw KeychainError(failure.reason, "All entries were imported. " + failure.message)
        }
        Output.note("Removed '\(path)'.")
    }

    // MARK: - Reading

    private static func opened(_ path: String?) throws(KeychainError) -> Int32 {
        guard let path else {
            guard !Terminal.isTerminal(STDIN_FILENO) else { throw .inputIsTerminal }
            return STDIN_FILENO
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw failure("read", path, errno) }
        guard !Terminal.isTerminal(descriptor) else {
            close(descriptor)
            throw .inputIsTerminal
        }
        return descriptor
    }

    private static func read(_ descriptor: Int32, _ name: String) throws(KeychainError) -> Data {
        try Descriptors.readAll(
            descriptor, limit: ImportLimits.file,
            tooLarge: KeychainError(.tooLarge, "'\(name)' is larger than 64 MiB. Nothing was imported."),
            failure: { failure("read", name, $0) })
    }

    private static func failure(_ deed: String, _ name: String, _ code: Int32) -> KeychainError {
        let reason: KeychainError.Reason =
            switch code {
            case ENOENT, EACCES, EPERM, ENOTDIR: .unavailable
            case EISDIR: .invalidParameter
            default: .inputOutput
            }
        return KeychainError(reason, "Could not \(deed) '\(name)': \(String(cString: strerror(code))).")
    }
}

extension KeychainError {
    fileprivate static let inputIsTerminal = KeychainError(
        .invalidParameter, "The source is a terminal, which would show the secrets. Give a file, or pipe one in.")
}
