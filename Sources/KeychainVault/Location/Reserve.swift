// SPDX-License-Identifier: Apache-2.0
// Disk space reserved for operations that must work on a full disk.

import Foundation
import KeychainEngine

/// A file of allocated, unused blocks. On a full disk, deletions and changes of the keybag release it, under the writer
/// lock, and use its space for the WAL and its index; a save never does. Writes that find it missing create it again,
/// as large as the disk allows.
struct Reserve {
    /// The index of the WAL takes 32 KiB, the removal of an item with a value of 64 KiB about 130 KiB, a change of a
    /// keybag with eight protectors about 80 KiB.
    static let size = 1 << 20
    private static let smallest = 1 << 16
    private let path: String
    private let folder: String

    init(_ location: VaultLocation) { self.init(folder: location.folder) }

    private init(folder: String) {
        self.folder = folder
        path = folder + "/" + VaultLocation.reserveName
    }

    /// Frees the space.
    ///
    /// - Returns: `false` if there was none.
    func giveUp() -> Bool { size != nil && unlink(path) == 0 }

    /// Creates the file, or enlarges one that is too small, as far as there is space. The vault also works without it.
    func restore() {
        if size == Self.size { return }
        let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        // A strict umask would leave a file that its owner cannot open.
        fchmod(descriptor, 0o600)
        var wanted = Self.size
        while wanted >= Self.smallest, posix_fallocate(descriptor, 0, off_t(wanted)) != 0 { wanted /= 2 }
        if size == 0 { unlink(path) }
    }

    /// Whether an operation failed because of missing space. If not even an empty file can be created, SQLite only
    /// reports that it could not open one.
    func isWanted(after error: KeychainError) -> Bool {
        error.reason == .diskFull || error.reason == .unavailable && (refusesFiles || isDiskFull)
    }

    /// The failure of an operation. SQLite reports an exhausted quota as a failing medium.
    func named(_ error: KeychainError) -> KeychainError {
        guard error.reason == .inputOutput, refusesBytes else { return error }
        return KeychainError(
            .diskFull,
            "No space is left for you on the disk of '\(folder)'; nothing was changed. Free some and try again.")
    }

    /// Whether there is no space for one more file in a folder, not even for an empty one.
    static func refusesFiles(in folder: String) -> Bool { Reserve(folder: folder).refusesFiles }

    private var refusesFiles: Bool { Self.isFull(probe { _ in 0 }) }

    private var refusesBytes: Bool {
        let page = [UInt8](repeating: 0, count: 4096)
        return Self.isFull(probe { pwrite($0, page, page.count, 0) == page.count ? 0 : errno })
    }

    private static func isFull(_ code: Int32) -> Bool { code == ENOSPC || code == EDQUOT }

    /// Tries `use` on a file without a name: a quota may be exhausted while others have space. Not every file system
    /// supports such a file.
    private func probe(_ use: (Int32) -> Int32) -> Int32 {
        #if os(Linux)
            // O_TMPFILE, which Swift does not import.
            let unnamed = 0o20000000 | O_DIRECTORY
            let descriptor = open(folder, unnamed | O_RDWR | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { return errno }
            defer { close(descriptor) }
            return use(descriptor)
        #else
            return 0
        #endif
    }

    private var isDiskFull: Bool {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return false }
        return status.f_bavail == 0 || status.f_files > 0 && status.f_favail == 0
    }

    /// `nil` if there is none, or something else is at its path.
    private var size: Int? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }
}
