// SPDX-License-Identifier: Apache-2.0
// The tables of a vault whose items other machines share.

import Foundation

/// What a vault in a ring has more than others. The head does not cover it: what is missing or old is noticed by comparing it with
/// what the other machines have.
struct SyncTables {
    static let names = ["sync_item", "sync_outbox", "sync_state"]
    static let statements = [
        // The name that a row's item has in the ring: a keyed digest. It is readable without keys, so that deleting works while locked.
        "CREATE TABLE sync_item (item INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE) STRICT",
        // A row that was written, or the name of an item that was deleted. Those of one change belong together.
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

    /// In the order in which they were made.
    func outgoing() throws -> [Outgoing] {
        var found: [Outgoing] = []
        try connection.forEach("SELECT change, time, item, id FROM sync_outbox ORDER BY number") { row in
            let content: Outgoing.Content
            if let item = row.number(2) { content = .item(item) } else { content = .deletion(row.blob(3)) }
            found.append(
                Outgoing(change: row.number(0) ?? 0, time: UInt64(max(0, row.number(1) ?? 0)), content: content))
            return true
        }
        return found
    }

    func hasOutgoing() throws -> Bool {
        try connection.number("SELECT EXISTS (SELECT 1 FROM sync_outbox)") == 1
    }

    func nextChange() throws -> Int64 { try (connection.number(Statements.lastChange) ?? 0) + 1 }

    /// The number of the change that the row's entry belongs to; `nil` without one.
    func change(ofRow row: Int64) throws -> Int64? {
        try connection.number(Statements.changeOfRow, [.number(row)])
    }

    func change(ofID id: Data) throws -> Int64? {
        try connection.number("SELECT change FROM sync_outbox WHERE id = ?", [.blob(id)])
    }

    /// What is left of an older change must not arrive without what took the place of its other part.
    func join(_ old: Int64, to change: Int64) throws {
        try connection.execute("UPDATE sync_outbox SET change = ? WHERE change = ?", [.number(change), .number(old)])
    }

    func add(row: Int64, _ change: Int64, _ time: Int64) throws {
        try connection.execute(Statements.addRow, [.number(change), .number(time), .number(row)])
    }

    func add(deletion id: Data, _ change: Int64, _ time: Int64) throws {
        try connection.execute(
            "INSERT OR REPLACE INTO sync_outbox (change, time, id) VALUES (?, ?, ?)",
            [.number(change), .number(time), .blob(id)])
    }

    func removeOutgoing(row: Int64) throws {
        try connection.execute("DELETE FROM sync_outbox WHERE item = ?", [.number(row)])
    }

    func removeOutgoing(keeping rows: Set<Int64>) throws {
        let kept = rows.sorted().map(String.init).joined(separator: ", ")
        try connection.execute("DELETE FROM sync_outbox WHERE item IS NULL OR item NOT IN (\(kept))")
    }

    // MARK: - Names of rows

    func id(ofRow row: Int64) throws -> Data? {
        try connection.blob("SELECT id FROM sync_item WHERE item = ?", [.number(row)])
    }

    /// A name that another row had is its own no longer.
    func set(_ id: Data, ofRow row: Int64) throws {
        try connection.execute("INSERT OR REPLACE INTO sync_item (item, id) VALUES (?, ?)", [.number(row), .blob(id)])
    }

    func removeID(ofRow row: Int64) throws {
        try connection.execute("DELETE FROM sync_item WHERE item = ?", [.number(row)])
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
        try connection.blob("SELECT bytes FROM sync_state WHERE name = ?", [.blob(name)])
    }

    func write(_ bytes: Data, as name: Data) throws {
        try connection.execute(
            "INSERT OR REPLACE INTO sync_state (name, bytes) VALUES (?, ?)", [.blob(name), .blob(bytes)])
    }

    func removePart(_ name: Data) throws {
        try connection.execute("DELETE FROM sync_state WHERE name = ?", [.blob(name)])
    }

    private enum Statements {
        static let lastChange = SQL.kept("SELECT change FROM sync_outbox ORDER BY number DESC LIMIT 1")
        static let changeOfRow = SQL.kept("SELECT change FROM sync_outbox WHERE item = ?")
        static let addRow = SQL.kept("INSERT OR REPLACE INTO sync_outbox (change, time, item) VALUES (?, ?, ?)")
    }
}
