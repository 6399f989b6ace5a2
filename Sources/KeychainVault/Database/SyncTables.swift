// SPDX-License-Identifier: Apache-2.0
// The additional tables of a vault in a ring.

import Foundation
import KeychainCrypto
import KeychainEngine

/// Tells one state of an outbox from another.
package struct OutboxMark: Equatable, Sendable {
    let count: Int64
    let last: Int64
    let time: Int64
}

/// What a vault in a ring has more than others, for reading.
struct SyncTables {
    static let names = ["sync_item", "sync_outbox", "sync_state"]
    static let statements = [
        // The name of a row's item in the ring: a keyed digest. It is not sealed, so that deleting works while locked.
        "CREATE TABLE sync_item (item INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE) STRICT",
        // A written row, or the name of a deleted item. Entries of one change belong together.
        """
        CREATE TABLE sync_outbox (number INTEGER PRIMARY KEY, change INTEGER NOT NULL, time INTEGER NOT NULL, \
        item INTEGER UNIQUE, id BLOB UNIQUE, CHECK ((item IS NULL) <> (id IS NULL))) STRICT
        """,
        "CREATE TABLE sync_state (name BLOB PRIMARY KEY, bytes BLOB NOT NULL) STRICT, WITHOUT ROWID",
    ]

    /// An entry of the outbox.
    struct Outgoing {
        enum Content {
            case item(Int64)
            case deletion(Data)
        }

        let change: Int64
        /// In milliseconds since 1970, by the clock of this machine.
        let time: UInt64
        let content: Content
    }

    let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    // MARK: - The outbox

    /// All entries, in the order in which they were made.
    func outgoing() throws -> [Outgoing] {
        var found: [Outgoing] = []
        try connection.forEach(Statements.entries) { row in
            let content: Outgoing.Content
            if let item = row.number(2) { content = .item(item) } else { content = .deletion(row.blob(3)) }
            found.append(
                Outgoing(change: row.number(0) ?? 0, time: Self.time(row.number(1)), content: content))
            return true
        }
        return found
    }

    func mark() throws -> OutboxMark? {
        var mark: OutboxMark?
        try connection.forEach(Statements.mark) { row in
            if let count = row.number(0), count > 0 {
                mark = OutboxMark(count: count, last: row.number(1) ?? 0, time: row.number(2) ?? 0)
            }
            return false
        }
        return mark
    }

    /// - Throws: `corrupt` if somebody has written the highest number, which the head does not cover.
    func nextChange() throws -> Int64 {
        let last = try connection.number(Statements.lastChange) ?? 0
        guard last < Int64.max else {
            throw KeychainError(
                .corrupt,
                "A change that was not sent yet has an invalid number. Run: keychainctl sync now. If that does not help: "
                    + KeychainError.restoreAdvice)
        }
        return last + 1
    }

    /// The entry of a row, and the number of its change; `nil` without one.
    func outgoing(ofRow row: Int64) throws -> Outgoing? {
        var found: Outgoing?
        try connection.forEach(Statements.entryOfRow, [.number(row)]) {
            found = Outgoing(change: $0.number(0) ?? 0, time: Self.time($0.number(1)), content: .item(row))
            return false
        }
        return found
    }

    func outgoing(ofID id: Data) throws -> Outgoing? {
        var found: Outgoing?
        try connection.forEach("SELECT change, time FROM sync_outbox WHERE id = ?", [.blob(id)]) {
            found = Outgoing(change: $0.number(0) ?? 0, time: Self.time($0.number(1)), content: .deletion(id))
            return false
        }
        return found
    }

    private static func time(_ stored: Int64?) -> UInt64 { UInt64(max(0, stored ?? 0)) }

    // MARK: - Names of rows

    func id(ofRow row: Int64) throws -> Data? {
        try connection.blob(Statements.idOfRow, [.number(row)])
    }

    func row(ofID id: Data) throws -> Int64? {
        try connection.number("SELECT item FROM sync_item WHERE id = ?", [.blob(id)])
    }

    /// The rows and their names that a name for a row would replace.
    func names(_ id: Data, orOfRow row: Int64) throws -> [(row: Int64, id: Data)] {
        var found: [(Int64, Data)] = []
        try connection.forEach(Statements.names, [.number(row), .blob(id)]) {
            found.append(($0.number(0) ?? -1, $0.blob(1)))
            return true
        }
        return found
    }

    // MARK: - The state

    func state() throws -> [Data: Data] {
        var state: [Data: Data] = [:]
        try connection.forEach("SELECT name, bytes FROM sync_state") { row in
            state[row.blob(0)] = row.blob(1)
            return true
        }
        return state
    }

    func part(_ name: Data) throws -> Data? {
        try connection.blob(Statements.part, [.blob(name)])
    }

    func hasPart(beginningWith first: UInt8) throws -> Bool {
        try connection.number(Statements.partBeginningWith, [.blob(Data([first])), .blob(Data([first + 1]))]) != nil
    }

    // MARK: - All rows

    func count() throws -> UInt64 {
        try Self.names.reduce(0) { try $0 + UInt64(max(0, connection.number("SELECT count(*) FROM \($1)") ?? 0)) }
    }

    func outboxTotal(_ digests: RowDigests) throws -> RowTotal {
        var total = RowTotal()
        for entry in try outgoing() { total.add(digests.digest(RowTrace(entry).bytes)) }
        return total
    }

    /// What the head knows of these tables, computed from all rows.
    func totals(_ digests: RowDigests) throws -> RingTotals {
        var others = RowTotal()
        try connection.forEach("SELECT item, id FROM sync_item") { row in
            others.add(digests.digest(RowTrace(name: row.blob(1), ofRow: row.number(0) ?? -1).bytes))
            return true
        }
        try connection.forEach("SELECT name, bytes FROM sync_state") { row in
            others.add(digests.digest(RowTrace(part: row.blob(0), row.blob(1)).bytes))
            return true
        }
        return RingTotals(outbox: try outboxTotal(digests), others: others)
    }

    private enum Statements {
        static let lastChange = SQL.kept("SELECT change FROM sync_outbox ORDER BY number DESC LIMIT 1")
        static let entryOfRow = SQL.kept("SELECT change, time FROM sync_outbox WHERE item = ?")
        static let entries = SQL.kept("SELECT change, time, item, id FROM sync_outbox ORDER BY number")
        static let mark = SQL.kept("SELECT count(*), max(number), max(time) FROM sync_outbox")
        static let idOfRow = SQL.kept("SELECT id FROM sync_item WHERE item = ?")
        static let names = SQL.kept("SELECT item, id FROM sync_item WHERE item = ? OR id = ?")
        static let part = SQL.kept("SELECT bytes FROM sync_state WHERE name = ?")
        static let partBeginningWith = SQL.kept("SELECT 1 FROM sync_state WHERE name >= ? AND name < ? LIMIT 1")
    }
}
