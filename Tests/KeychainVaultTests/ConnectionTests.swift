// SPDX-License-Identifier: Apache-2.0
// The layer over SQLite's C API.

import CKeychainSQLite
import Foundation
import KeychainTestSupport
import Testing

@testable import KeychainVault

struct ConnectionTests {
    private static let numbers = SQL.kept("SELECT n FROM t WHERE n < ? ORDER BY n")

    /// A database in a folder of its own, with a table of the numbers 1, 2 and 3.
    private struct Sample {
        let folder: TemporaryFolder
        let connection: Connection

        init() throws {
            folder = try TemporaryFolder("connection")
            connection = try Connection(folder.path + "/sample.db")
            try connection.execute("CREATE TABLE t (n INTEGER UNIQUE, b BLOB); INSERT INTO t (n) VALUES (1), (2), (3)")
        }
    }

    private static func code(_ body: () throws -> Void) -> Int32? {
        do {
            try body()
            return nil
        } catch {
            return (error as? SQLiteFailure)?.code
        }
    }

    @Test func keptStatement_withinItsOwnRows_seesAllRowsAgain() throws {
        let sample = try Sample()
        var pairs: [[Int64?]] = []
        try sample.connection.forEach(Self.numbers, [.number(3)]) { outer in
            try sample.connection.forEach(Self.numbers, [.number(3)]) { inner in
                pairs.append([outer.number(0), inner.number(0)])
                return true
            }
            return true
        }
        #expect(pairs == [[1, 1], [1, 2], [2, 1], [2, 2]])
    }

    @Test func keptStatement_leftInTheMiddle_beginsAgain() throws {
        let sample = try Sample()
        for _ in 1...2 { #expect(try sample.connection.number(Self.numbers, [.number(9)]) == 1) }
    }

    @Test func keptStatement_afterItFailed_worksAgain() throws {
        let sample = try Sample()
        let insert = SQL.kept("INSERT INTO t (n) VALUES (?)")
        #expect(Self.code { try sample.connection.execute(insert, [.number(1)]) } == SQLITE_CONSTRAINT | 8 << 8)
        try sample.connection.execute(insert, [.number(4)])
        #expect(try sample.connection.numbers("SELECT n FROM t ORDER BY n") == [1, 2, 3, 4])
    }

    @Test(arguments: [[], [.number(1), .number(2)]] as [[SQLValue]])
    func keptStatement_withAnotherNumberOfArguments_isRefused(_ arguments: [SQLValue]) throws {
        let sample = try Sample()
        #expect(Self.code { try sample.connection.execute(Self.numbers, arguments) } == SQLITE_RANGE)
    }

    @Test func statements_inOneText_takeTheArgumentsInTurn() throws {
        let sample = try Sample()
        try sample.connection.execute(
            "DELETE FROM t WHERE n = ?; UPDATE t SET n = ? WHERE n = ?", [.number(1), .number(9), .number(2)])
        #expect(try sample.connection.numbers("SELECT n FROM t ORDER BY n") == [3, 9])
    }

    @Test func statements_withAnArgumentTooMany_areReported() throws {
        let sample = try Sample()
        let code = Self.code { try sample.connection.execute("DELETE FROM t WHERE n = ?", [.number(1), .number(2)]) }
        #expect(code == SQLITE_RANGE)
    }

    @Test(arguments: [Data(), Data([0]), Data(repeating: 7, count: 100_000)])
    func bytes_ofAnyLength_areReadAsStored(_ bytes: Data) throws {
        let sample = try Sample()
        try sample.connection.execute("UPDATE t SET b = ? WHERE n = 1", [.blob(bytes)])
        #expect(try sample.connection.blob("SELECT b FROM t WHERE n = 1") == bytes)
        #expect(try sample.connection.text("SELECT typeof(b) FROM t WHERE n = 1") == "blob")
    }

    @Test func valueOfAnotherType_isNone() throws {
        let sample = try Sample()
        #expect(try sample.connection.number("SELECT 'text'") == nil)
        #expect(try sample.connection.blob("SELECT 'text'") == nil)
        #expect(try sample.connection.text("SELECT NULL") == nil)
        #expect(try sample.connection.text("SELECT 5") == "5")
    }

    @Test func transaction_whoseBodyFails_changesNothing() throws {
        struct Stop: Error {}
        let sample = try Sample()
        #expect(throws: Stop.self) {
            try sample.connection.writing { connection in
                try connection.execute("DELETE FROM t")
                throw Stop()
            }
        }
        #expect(!sample.connection.isInTransaction)
        #expect(try sample.connection.number("SELECT count(*) FROM t") == 3)
    }

    @Test func connection_afterItWasClosed_fails() throws {
        let sample = try Sample()
        try sample.connection.close()
        #expect(Self.code { _ = try sample.connection.number("SELECT 1") } == SQLITE_MISUSE)
        try sample.connection.close()
    }

    @Test func missingFile_openedForWriting_isNotCreated() throws {
        let folder = try TemporaryFolder("connection")
        #expect(Self.code { _ = try Connection(folder.path + "/none.db", .writing) } == SQLITE_CANTOPEN)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/none.db"))
    }

    @Test func connection_sharedByThreads_isUsedByOneAtATime() throws {
        let sample = try Sample()
        let shared = SharedConnection(sample.connection)
        try shared.use { try $0.execute("UPDATE t SET n = 0 WHERE n = 1") }
        let threads = (1...8).map { _ in
            Background {
                for _ in 1...50 {
                    // Two steps that another thread's would spoil.
                    try shared.use { connection in
                        let number = try connection.number("SELECT min(n) FROM t") ?? 0
                        try connection.execute(
                            "UPDATE t SET n = ? WHERE n = ?", [.number(number - 1), .number(number)])
                    }
                }
            }
        }
        for thread in threads { #expect(thread.reason() == nil) }
        #expect(try shared.use { try $0.number("SELECT min(n) FROM t") } == -400)
    }
}
