// SPDX-License-Identifier: Apache-2.0
// The header of the WAL's index: it changes with each commit, and with nothing else that changes contents.

import Foundation
import KeychainTestSupport
import Testing

@testable import KeychainVault

struct WALHeaderTests {
    /// A database in WAL mode with a table of one row, and two connections.
    private struct Sample {
        let folder: TemporaryFolder
        let connection: Connection
        let other: Connection

        init() throws {
            folder = try TemporaryFolder("wal-header")
            connection = try Connection(folder.path + "/sample.db")
            try connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1)")
            other = try Connection(folder.path + "/sample.db")
            _ = try other.number("SELECT n FROM t")
        }

        func header() throws -> WALHeader { try #require(connection.walHeader) }
    }

    @Test func header_throughAnyConnection_isTheSame() throws {
        let sample = try Sample()
        #expect(try sample.other.walHeader == sample.header())
        #expect(sample.other.walIndex == sample.connection.walIndex)
    }

    @Test func header_afterACommitOfAnotherConnection_differs() throws {
        let sample = try Sample()
        let before = try sample.header()
        try sample.other.execute("UPDATE t SET n = 2")
        let after = try sample.header()
        #expect(after != before)
        #expect(after.directlyFollows(before))
        #expect(!after.hasSameCommits(as: before))
    }

    @Test func header_afterTwoCommits_doesNotFollowDirectly() throws {
        let sample = try Sample()
        let before = try sample.header()
        for number in 2...3 { try sample.other.execute("UPDATE t SET n = ?", [.number(Int64(number))]) }
        #expect(try !sample.header().directlyFollows(before))
    }

    @Test func header_afterACommitOfAnotherProcess_differs() throws {
        let sample = try Sample()
        let before = try sample.header()
        try PlainDatabase(sample.folder.path + "/sample.db").run("UPDATE t SET n = 2")
        #expect(try sample.header() != before)
    }

    /// What changes nothing must not cost readers and writers another look.
    @Test(arguments: [
        "SELECT * FROM t", "BEGIN IMMEDIATE; UPDATE t SET n = 9; ROLLBACK", "UPDATE t SET n = 9 WHERE n = 77",
        "PRAGMA wal_checkpoint(PASSIVE)",
    ])
    func header_withoutACommit_isTheSame(_ sql: String) throws {
        let sample = try Sample()
        let before = try sample.header()
        try sample.other.execute(SQL(stringLiteral: sql))
        #expect(try sample.header() == before)
    }

    @Test func header_afterTheWALWasTruncated_differsWithTheSameCommits() throws {
        let sample = try Sample()
        let before = try sample.header()
        try sample.other.truncateWAL()
        let after = try sample.header()
        #expect(after != before)
        #expect(after.hasSameCommits(as: before))
    }

    @Test func header_afterTheWALBeganAgain_directlyFollows() throws {
        let sample = try Sample()
        try sample.other.truncateWAL()
        let before = try sample.header()
        try sample.other.execute("UPDATE t SET n = 2")
        #expect(try sample.header().directlyFollows(before))
    }

    /// A writer publishes the second copy first, and may have been killed before the first.
    @Test(arguments: [0, 8, 16, 24, 32, 40])
    func header_whoseCopiesDiffer_isNone(_ offset: Int) throws {
        let sample = try Sample()
        let page = try #require(sample.connection.walIndex)
        var bytes = [UInt8](UnsafeRawBufferPointer(start: page, count: 96))
        #expect(bytes.withUnsafeBytes { $0.baseAddress.flatMap { WALHeader($0) } } != nil)
        bytes[48 + offset] ^= 1
        #expect(bytes.withUnsafeBytes { $0.baseAddress.flatMap { WALHeader($0) } } == nil)
    }

    @Test func header_thatWasNeverWritten_isNone() {
        let bytes = [UInt64](repeating: 0, count: 12)
        #expect(bytes.withUnsafeBytes { $0.baseAddress.flatMap { WALHeader($0) } } == nil)
    }
}
