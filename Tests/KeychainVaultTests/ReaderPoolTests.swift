// SPDX-License-Identifier: Apache-2.0
// The connections for reading: several threads read at once, all of them the same file.

import CKeychainSQLite
import Foundation
import KeychainEngine
import KeychainTestSupport
import Synchronization
import Testing

@testable import KeychainVault

struct ReaderPoolTests {
    private struct Refused: Error {}

    private let folder: TemporaryFolder
    private let first: Connection
    private var path: String { folder.path + "/sample.db" }

    init() throws {
        folder = try TemporaryFolder("reader-pool")
        first = try Self.database(folder.path + "/sample.db", "first")
    }

    private static func database(_ path: String, _ name: String) throws -> Connection {
        let connection = try Connection(path)
        try connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE head (name TEXT)")
        try connection.execute("INSERT INTO head VALUES (?)", [.text(name)])
        return connection
    }

    private static func check(_ pool: ReaderPool) throws {
        guard try pool.use({ try $0.text("SELECT name FROM head") }) == "first" else { throw Refused() }
    }

    @Test func readers_inTwoThreads_overlap() throws {
        let path = path
        let pool = ReaderPool(first, first.walIndex) { try Connection(path) }
        try pool.use { _ in
            let reader = Background { try Self.check(pool) }
            #expect(reader.reason() == nil)
        }
    }

    @Test func reader_withinAnother_readsTheSameFile() throws {
        let path = path
        let pool = ReaderPool(first, first.walIndex) { try Connection(path) }
        let name = try pool.use { outer in
            try pool.use { inner in
                #expect(inner !== outer)
                return try inner.text("SELECT name FROM head")
            }
        }
        #expect(name == "first")
    }

    /// The file at the path may have been replaced since the first connection was opened.
    @Test func connection_toAnotherFile_isNotUsed() throws {
        let other = folder.path + "/other.db"
        _ = try Self.database(other, "other")
        let pool = ReaderPool(first, first.walIndex) { try Connection(other) }
        let reader = try pool.use { _ in
            let reader = Background { try Self.check(pool) }
            try waitUntil("A reader that waits") { pool.waitingCount == 1 }
            return reader
        }
        #expect(reader.reason() == nil)
    }

    @Test func connection_thatCannotBeOpened_isWaitedFor() throws {
        let pool = ReaderPool(first, first.walIndex) { throw Refused() }
        let reader = try pool.use { _ in
            let reader = Background { try Self.check(pool) }
            try waitUntil("A reader that waits") { pool.waitingCount == 1 }
            return reader
        }
        #expect(reader.reason() == nil)
    }

    @Test func connection_thatCouldNotBeOpenedOnce_isTriedAgain() throws {
        let path = path
        let attempts = Mutex(0)
        let pool = ReaderPool(first, first.walIndex) {
            if attempts.withLock({ attempts in
                attempts += 1
                return attempts == 1
            }) {
                throw Refused()
            }
            return try Connection(path)
        }
        try pool.use { _ in
            let reader = Background { try Self.check(pool) }
            #expect(reader.reason() == nil)
        }
        #expect(attempts.withLock { $0 } == 2)
    }

    @Test func reader_forWhichNoConnectionBecomesFree_isToldThatTheDatabaseIsBusy() throws {
        let path = path
        let pool = ReaderPool(first, first.walIndex, limit: 1, timeout: .zero) { try Connection(path) }
        try pool.use { _ in
            let failure = #expect(throws: SQLiteFailure.self) { try Self.check(pool) }
            #expect(failure?.group == SQLITE_BUSY)
        }
    }

    /// SQLite would make the index, with the rights of the database, which may not be written.
    @Test func pool_overADatabaseThatIsNotCoordinated_makesNoIndex() throws {
        try first.close()
        let before = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        let pool = ReaderPool(try Connection.openImmutable(path), nil) { throw Refused() }
        try Self.check(pool)
        try pool.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == before)
    }

    @Test func readers_moreThanConnections_allRead() throws {
        let path = path
        let pool = ReaderPool(first, first.walIndex, limit: 2) { try Connection(path) }
        let readers = (1...16).map { _ in
            Background { for _ in 1...200 { try Self.check(pool) } }
        }
        for reader in readers { #expect(reader.reason() == nil) }
    }
}
