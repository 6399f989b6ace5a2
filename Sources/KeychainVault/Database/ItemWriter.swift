// SPDX-License-Identifier: Apache-2.0
// The SQL that changes items: everything that writes the tables `item`, `lookup` and `quarantine`.

import Foundation
import KeychainEngine

/// The statements that change rows. Each reports to the transaction's ``RowChanges`` what it added and removed, after
/// it has succeeded.
struct ItemWriter {
    let connection: Connection
    let changes: RowChanges
    private static let columns = ItemTable.columns

    private enum Statements {
        static let insert = SQL.kept("INSERT INTO item (\(columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        static let replace = SQL.kept("UPDATE item SET (\(columns)) = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) WHERE id = ?")
        static let reseal = SQL.kept("UPDATE item SET generation = ?, metadata = ?, value = ? WHERE id = ?")
        static let delete = SQL.kept("DELETE FROM item WHERE id = ?")
        static let index = SQL.kept("INSERT OR IGNORE INTO lookup (digest, item) VALUES (?, ?)")
        static let deindex = SQL.kept("DELETE FROM lookup WHERE digest = ? AND item = ?")
        static let digests = SQL.kept("SELECT digest FROM lookup WHERE item = ?")
    }

    init(_ connection: Connection, _ changes: RowChanges) {
        self.connection = connection
        self.changes = changes
    }

    /// - Throws: SQLite's constraint error if the primary key is taken.
    func insert(_ row: SealedRow, lookups: [Data]) throws {
        try changes.begin()
        try connection.execute(Statements.insert, row.arguments)
        changes.added(item: RowTrace(row))
        try index(row.rowID, under: lookups)
    }

    /// - Throws: SQLite's constraint error if the new primary key is taken.
    func replace(_ row: SealedRow, lookups: [Data], previous: [Data]) throws {
        let old = try traces(.row(row.rowID))
        try connection.execute(Statements.replace, row.arguments + [.number(row.rowID)])
        try checkOneChanged()
        old.forEach { changes.removed(item: $0) }
        changes.added(item: RowTrace(row))
        try deindex(row.rowID, from: previous.filter { !lookups.contains($0) })
        try index(row.rowID, under: lookups.filter { !previous.contains($0) })
    }

    func delete(_ rowID: Int64, lookups: [Data]) throws {
        try remove(rowID)
        try deindex(rowID, from: lookups)
    }

    /// Scans all of `lookup`, since the index entries of a closed row are unknown.
    func deleteClosed(_ rowID: Int64) throws {
        try remove(rowID)
        try deindex(rowID, from: digests(of: rowID))
    }

    private func remove(_ rowID: Int64) throws {
        let old = try traces(.row(rowID))
        try connection.execute(Statements.delete, [.number(rowID)])
        try checkOneChanged()
        old.forEach { changes.removed(item: $0) }
    }

    /// Stores the same item version sealed under another key; its index entries stay.
    func reseal(_ row: SealedRow) throws {
        let old = try traces(.row(row.rowID))
        try connection.execute(
            Statements.reseal,
            [.number(Int64(row.generation)), .blob(row.metadata), row.storedValue, .number(row.rowID)])
        try checkOneChanged()
        old.forEach { changes.removed(item: $0) }
        try traces(.row(row.rowID)).forEach { changes.added(item: $0) }
    }

    func deleteAll(of keyClass: UInt8) throws {
        try changes.begin()
        let arguments = [SQLValue.number(Int64(keyClass))]
        let entries = "FROM lookup WHERE item IN (SELECT id FROM item WHERE class = ?)"
        try connection.forEach("SELECT digest, item \(entries)", arguments) { row in
            changes.removed(lookup: RowTrace(lookup: row.blob(0), of: row.number(1) ?? -1))
            return true
        }
        try connection.execute("DELETE \(entries)", arguments)
        try ItemTable(connection).forEachTrace(.keyClass(keyClass)) { changes.removed(item: $0) }
        try connection.execute("DELETE FROM item WHERE class = ?", arguments)
        try connection.execute("DELETE FROM quarantine WHERE class = ?", arguments)
        changes.quarantined(-connection.changesCount)
    }

    func checkOneChanged() throws {
        guard connection.changesCount == 1 else {
            throw KeychainError(.corrupt, "A row does not have the expected identity. Nothing was changed.")
        }
    }

    /// Moves a row that does not open to the quarantine, with all its bytes.
    func quarantine(_ rowID: Int64, at date: Date) throws {
        try changes.begin()
        try connection.execute(
            """
            INSERT INTO quarantine (\(Self.columns), set_aside) SELECT \(Self.columns), ? FROM item WHERE id = ?
            """,
            [.real(date.timeIntervalSinceReferenceDate), .number(rowID)])
        changes.quarantined(connection.changesCount)
        // The row's indexed attributes are sealed in it, so its entries must be searched.
        try deleteClosed(rowID)
    }

    // MARK: - The lookup table

    func index(_ rowID: Int64, under digests: [Data]) throws {
        try changes.begin()
        for digest in digests {
            try connection.execute(Statements.index, [.blob(digest), .number(rowID)])
            if connection.changesCount == 1 { changes.added(lookup: RowTrace(lookup: digest, of: rowID)) }
        }
    }

    func deindex(_ rowID: Int64, from digests: [Data]) throws {
        try changes.begin()
        for digest in digests {
            try connection.execute(Statements.deindex, [.blob(digest), .number(rowID)])
            if connection.changesCount == 1 { changes.removed(lookup: RowTrace(lookup: digest, of: rowID)) }
        }
    }

    /// The digests of all entries of a row, found by a scan of the table.
    private func digests(of rowID: Int64) throws -> [Data] {
        try connection.blobs(Statements.digests, [.number(rowID)])
    }

    // MARK: - The traces of rows in the head

    /// The traces of rows as stored; a row that is about to be changed is read first. Empty if no sums are kept.
    func traces(_ candidates: ItemTable.Candidates) throws -> [RowTrace] {
        try changes.begin()
        guard changes.areAddedUp else { return [] }
        var found: [RowTrace] = []
        try ItemTable(connection).forEachTrace(candidates) { found.append($0) }
        return found
    }
}

extension SealedRow {
    /// In the order of ``ItemTable/columns``. SQLite refuses a row without a part that it must have.
    fileprivate var arguments: [SQLValue] {
        let parts = [key?.major, key?.minor, key?.scope].map { $0.map(SQLValue.blob) ?? .null }
        return [
            .number(rowID), .blob(id.bytes), .number(version), .number(Int64(keyClass)), .number(Int64(generation)),
            .blob(metadata), storedValue,
        ] + parts
    }

    fileprivate var storedValue: SQLValue { value.map(SQLValue.blob) ?? .null }
}
