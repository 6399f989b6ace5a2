// SPDX-License-Identifier: Apache-2.0
// Detects commits without calling SQLite.

import CKeychainSQLite
internal import CKeychainShims

/// The header of the WAL's index, which SQLite shares with all processes that have the database open. Every commit changes it.
///
/// Two equal headers are of the same contents: the header names the WAL by random numbers, and its last commit by a checksum
/// over everything before. The header is compared only with one under which SQLite itself has read or written, so it needs no
/// checks of its own.
struct WALHeader: Equatable, Sendable {
    private let words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)
    private let change: UInt32

    /// - Parameter page: The first page of the index.
    /// - Returns: `nil` while a commit is being published; the caller must then use SQLite.
    init?(_ page: UnsafeRawPointer) {
        var header = keychain_wal_header_t()
        guard keychain_read_wal_header(page, &header) != 0 else { return nil }
        (words, change) = (header.words, header.change)
    }

    /// Whether the WAL has a beginning, whose random numbers (salts) name it.
    var namesWAL: Bool { words.4 != 0 }

    /// Whether exactly one commit lies between.
    func directlyFollows(_ other: WALHeader) -> Bool { change == other.change &+ 1 }

    /// Whether no commit lies between: the WAL may have been moved into the database.
    func hasSameCommits(as other: WALHeader) -> Bool { change == other.change }

    static func == (lhs: WALHeader, rhs: WALHeader) -> Bool { lhs.words == rhs.words }
}

extension Connection {
    /// The first page of the WAL's index; `nil` if the connection does not have it in shared memory. All connections of
    /// the process to the same file have it at the same address, which is valid as long as one of them is open.
    ///
    /// Through SQLite: closing a descriptor of our own would release SQLite's locks on the file.
    ///
    /// - Precondition: The database is in WAL mode, its index is on disk, and the connection has read from it. Otherwise SQLite
    ///   would create the index.
    func findWALIndex() -> UnsafeRawPointer? {
        guard let file = databaseFile, let methods = file.pointee.pMethods, methods.pointee.iVersion >= 2,
            let map = methods.pointee.xShmMap
        else { return nil }
        var page: UnsafeMutableRawPointer?
        guard map(file, 0, Self.walIndexPageLength, 0, &page) == SQLITE_OK else { return nil }
        return page.map { UnsafeRawPointer($0) }
    }

    /// The end of the WAL. While two of them are equal, nothing was committed in between by any process; `nil` if this cannot be
    /// told.
    var walHeader: WALHeader? { walIndex.flatMap { WALHeader($0) } }

    /// SQLite maps the index in pieces of so many bytes.
    private static let walIndexPageLength: Int32 = 32 << 10
}
