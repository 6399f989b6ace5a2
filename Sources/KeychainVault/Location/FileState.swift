// SPDX-License-Identifier: Apache-2.0
// The outside state of files, for noticing that they were changed or replaced.

import Foundation

/// Which file a path leads to.
struct FileIdentity: Equatable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    /// `nil` if nothing is there.
    init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
    }
}

/// The WAL and its index. SQLite keeps both open, and does not check their paths again.
struct CompanionFiles: Equatable, Sendable {
    private let wal: FileIdentity?
    private let index: FileIdentity?

    init(_ location: VaultLocation) {
        let paths = VaultLocation.companionNames.map { location.folder + "/" + $0 }
        (wal, index) = (FileIdentity(paths[0]), FileIdentity(paths[1]))
    }
}

/// The outside state of the files of a vault whose connection does not detect changes. Other processes may still write
/// it: if the medium is read-only only for this process, once it is writable again, or once a full disk has space.
struct FilesState: Equatable, Sendable {
    private let database: FileState?
    private let wal: FileState?

    /// Whether this user cannot write the vault.
    static func isReadOnly(_ location: VaultLocation) -> Bool {
        !FileSafety.allows(W_OK, location.databaseFile) || !FileSafety.allows(W_OK, location.folder)
    }

    /// The files without which nothing can be written, as far as this user cannot write them.
    static func unwritable(_ location: VaultLocation) -> [String] {
        let companions = VaultLocation.companionNames.map { location.folder + "/" + $0 }
        return ([location.databaseFile, location.lockFile] + companions).filter {
            !FileSafety.allows(W_OK, $0) && errno != ENOENT
        }
    }

    init(_ location: VaultLocation) {
        database = FileState(location.databaseFile)
        wal = FileState(location.folder + "/" + VaultLocation.companionNames[0])?.ofContent
    }
}

/// The file at a path and its outside state, which every write changes.
struct FileState: Equatable, Sendable {
    let identity: FileIdentity
    let size: Int64
    /// The times of the last change of the content, and of the content or an attribute.
    private var changes: [Int]

    /// Without changes of attributes: as root, SQLite sets the owner of the WAL whenever it opens it.
    fileprivate var ofContent: FileState {
        var state = self
        state.changes.removeLast(2)
        return state
    }

    init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        identity = FileIdentity(status)
        size = Int64(status.st_size)
        changes = [
            status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
        ]
    }
}
