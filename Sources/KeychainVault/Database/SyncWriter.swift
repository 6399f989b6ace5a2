// SPDX-License-Identifier: Apache-2.0
// The SQL that changes the tables of a vault in a ring.

import Foundation

/// Each statement reports to the transaction's ``RowChanges`` what it added and removed: the head covers these rows too. An entry
/// that somebody puts into the outbox would otherwise be signed and sent.
struct SyncWriter {
    let tables: SyncTables
    private let changes: RowChanges
    private var connection: Connection { tables.connection }

    init(_ connection: Connection, _ changes: RowChanges) { (tables, self.changes) = (SyncTables(connection), changes) }

    // MARK: - The outbox

    /// What is left of an older change must not arrive without what took the place of its other part.
    func join(_ old: Int64, to change: Int64) throws {
        try changes.begin()
        try connection.execute("UPDATE sync_outbox SET change = ? WHERE change = ?", [.number(change), .number(old)])
    }

    /// - Parameter replaced: The entry of the same row or name.
    func add(_ entry: SyncTables.Outgoing, replacing replaced: SyncTables.Outgoing?) throws {
        try changes.begin()
        let numbers = [SQLValue.number(entry.change), .number(Int64(clamping: entry.time))]
        switch entry.content {
        case .item(let row): try connection.execute(Statements.addRow, numbers + [.number(row)])
        case .deletion(let id): try connection.execute(Statements.addName, numbers + [.blob(id)])
        }
        if let replaced { changes.removed(outgoing: RowTrace(replaced)) }
        changes.added(outgoing: RowTrace(entry))
    }

    func removeOutgoing(row: Int64) throws {
        guard let entry = try tables.outgoing(ofRow: row) else { return }
        try changes.begin()
        try connection.execute("DELETE FROM sync_outbox WHERE item = ?", [.number(row)])
        changes.removed(outgoing: RowTrace(entry))
    }

    /// - Parameter id: The name of an item that was deleted.
    func removeOutgoing(id: Data) throws {
        guard let entry = try tables.outgoing(ofID: id) else { return }
        try changes.begin()
        try connection.execute("DELETE FROM sync_outbox WHERE id = ?", [.blob(id)])
        changes.removed(outgoing: RowTrace(entry))
    }

    func removeOutgoing(keeping rows: Set<Int64>) throws {
        try changes.begin()
        for entry in try tables.outgoing() {
            if case .item(let row) = entry.content, rows.contains(row) { continue }
            changes.removed(outgoing: RowTrace(entry))
        }
        let kept = rows.sorted().map(String.init).joined(separator: ", ")
        try connection.execute("DELETE FROM sync_outbox WHERE item IS NULL OR item NOT IN (\(kept))")
    }

    // MARK: - Names of rows

    /// A name that another row had is no longer that row's.
    func set(_ id: Data, ofRow row: Int64) throws {
        let replaced = try tables.names(id, orOfRow: row)
        if replaced.count == 1, replaced[0] == (row, id) { return }
        try changes.begin()
        try connection.execute(Statements.setName, [.number(row), .blob(id)])
        for (row, id) in replaced { changes.removed(ofRing: RowTrace(name: id, ofRow: row)) }
        changes.added(ofRing: RowTrace(name: id, ofRow: row))
    }

    func removeID(ofRow row: Int64) throws {
        guard let id = try tables.id(ofRow: row) else { return }
        try changes.begin()
        try connection.execute("DELETE FROM sync_item WHERE item = ?", [.number(row)])
        changes.removed(ofRing: RowTrace(name: id, ofRow: row))
    }

    // MARK: - The state

    func write(_ bytes: Data, as name: Data) throws {
        try changes.begin()
        let replaced = try tables.part(name)
        try connection.execute(Statements.writePart, [.blob(name), .blob(bytes)])
        if let replaced { changes.removed(ofRing: RowTrace(part: name, replaced)) }
        changes.added(ofRing: RowTrace(part: name, bytes))
    }

    func removePart(_ name: Data) throws {
        guard let replaced = try tables.part(name) else { return }
        try changes.begin()
        try connection.execute(Statements.removePart, [.blob(name)])
        changes.removed(ofRing: RowTrace(part: name, replaced))
    }

    // MARK: - All of it

    func makeTables() throws {
        try changes.begin()
        try VaultSchema.addRing(connection)
        changes.moved(.entered)
    }

    func removeTables() throws {
        try changes.begin()
        try VaultSchema.removeRing(connection)
        changes.moved(.left)
    }

    private enum Statements {
        static let addRow = SQL.kept("INSERT OR REPLACE INTO sync_outbox (change, time, item) VALUES (?, ?, ?)")
        static let addName = SQL.kept("INSERT OR REPLACE INTO sync_outbox (change, time, id) VALUES (?, ?, ?)")
        static let setName = SQL.kept("INSERT OR REPLACE INTO sync_item (item, id) VALUES (?, ?)")
        static let writePart = SQL.kept("INSERT OR REPLACE INTO sync_state (name, bytes) VALUES (?, ?)")
        static let removePart = SQL.kept("DELETE FROM sync_state WHERE name = ?")
    }
}
