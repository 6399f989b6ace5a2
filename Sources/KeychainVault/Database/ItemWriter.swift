// SPDX-License-Identifier: Apache-2.0
// The SQL that changes items: everything that writes the tables `item`, `lookup` and `quarantine`.

import Foundation
import GRDB
import KeychainEngine

/// The statements that change rows. Each reports to the transaction's ``RowChanges`` what it added and removed, after
/// it has succeeded.
struct ItemWriter {
    let db: Database
    let changes: RowChanges
    private static let columns = ItemTable.columns

    init(_ db: Database, _ changes: RowChanges) {
        self.db = db
        self.changes = changes
    }

    /// - Throws: SQLite's constraint error if the primary key is taken.
    func insert(_ row: SealedRow, lookups: [Data]) throws {
        try changes.begin()
        let sql = "INSERT INTO item (\(Self.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        try db.cachedStatement(sql: sql).execute(arguments: row.arguments)
        changes.added(item: RowTrace(row))
        try index(row.rowID, under: lookups)
    }

    /// - Throws: SQLite's constraint error if the new primary key is taken.
    func replace(_ row: SealedRow, lookups: [Data], previous: [Data]) throws {
        let old = try traces(.row(row.rowID))
        let sql = """
            UPDATE item SET (\(Self.columns)) = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) WHERE id = ?
            """
        try db.cachedStatement(sql: sql).execute(arguments: row.arguments + [row.rowID])
        try checkOneChanged()
        old.forEach { changes.removed(item: $0) }
        changes.added(item: RowTrace(row))
        let kept = Set(previous).intersection(lookups)
        try deindex(row.rowID, from: previous.filter { !kept.contains($0) })
        try index(row.rowID, under: lookups.filter { !kept.contains($0) })
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
        try db.cachedStatement(sql: "DELETE FROM item WHERE id = ?").execute(arguments: [rowID])
        try checkOneChanged()
        old.forEach { changes.removed(item: $0) }
    }

    /// Stores the same item version sealed under another key; its index entries stay.
    func reseal(_ row: SealedRow) throws {
        let old = try traces(.row(row.rowID))
        try db.cachedStatement(sql: "UPDATE item SET generation = ?, metadata = ?, value = ? WHERE id = ?")
            .execute(arguments: [Int64(row.generation), row.metadata, row.value, row.rowID])
        try checkOneChanged()
        old.forEach { changes.removed(item: $0) }
        try traces(.row(row.rowID)).forEach { changes.added(item: $0) }
    }

    func deleteAll(of keyClass: UInt8) throws {
        try changes.begin()
        let arguments: StatementArguments = [Int64(keyClass)]
        let entries = "FROM lookup WHERE item IN (SELECT id FROM item WHERE class = ?)"
        try RowReader.forEach(db.cachedStatement(sql: "SELECT digest, item \(entries)"), arguments, db) { row in
            changes.removed(lookup: RowTrace(lookup: row.blob(0), of: row.number(1) ?? -1))
            return true
        }
        try db.execute(sql: "DELETE \(entries)", arguments: arguments)
        try ItemTable(db).forEachTrace(.keyClass(keyClass)) { changes.removed(item: $0) }
        try db.execute(sql: "DELETE FROM item WHERE class = ?", arguments: arguments)
        try db.execute(sql: "DELETE FROM quarantine WHERE class = ?", arguments: arguments)
        changes.quarantined(-db.changesCount)
    }

    func checkOneChanged() throws {
        guard db.changesCount == 1 else {
            throw KeychainError(.corrupt, "A row does not have the expected identity. Nothing was changed.")
        }
    }

    /// Moves a row that does not open to the quarantine, with all its bytes.
    func setAside(_ rowID: Int64, at date: Date) throws {
        try changes.begin()
        try db.execute(
            sql: """
                INSERT INTO quarantine (\(Self.columns), set_aside) SELECT \(Self.columns), ? FROM item WHERE id = ?
                """,
            arguments: [date.timeIntervalSinceReferenceDate, rowID])
        changes.quarantined(db.changesCount)
        // The row's indexed attributes are sealed in it, so its entries must be searched.
        try deleteClosed(rowID)
    }

    // MARK: - The lookup table

    func index(_ rowID: Int64, under digests: [Data]) throws {
        try changes.begin()
        for digest in digests {
            try db.cachedStatement(sql: "INSERT OR IGNORE INTO lookup (digest, item) VALUES (?, ?)")
                .execute(arguments: [digest, rowID])
            if db.changesCount == 1 { changes.added(lookup: RowTrace(lookup: digest, of: rowID)) }
        }
    }

    func deindex(_ rowID: Int64, from digests: [Data]) throws {
        try changes.begin()
        for digest in digests {
            try db.cachedStatement(sql: "DELETE FROM lookup WHERE digest = ? AND item = ?")
                .execute(arguments: [digest, rowID])
            if db.changesCount == 1 { changes.removed(lookup: RowTrace(lookup: digest, of: rowID)) }
        }
    }

    /// The digests of all entries of a row, found by a scan of the table.
    private func digests(of rowID: Int64) throws -> [Data] {
        var found: [Data] = []
        let statement = try db.cachedStatement(sql: "SELECT digest FROM lookup WHERE item = ?")
        try RowReader.forEach(statement, [rowID], db) { row in
            found.append(row.blob(0))
            return true
        }
        return found
    }

    // MARK: - What the head knew of a row

    /// The traces of rows as stored; a row that is about to be changed is read first. Empty if no sums are kept.
    func traces(_ candidates: ItemTable.Candidates) throws -> [RowTrace] {
        try changes.begin()
        guard changes.areAddedUp else { return [] }
        var found: [RowTrace] = []
        try ItemTable(db).forEachTrace(candidates) { found.append($0) }
        return found
    }
}

extension SealedRow {
    fileprivate var arguments: StatementArguments {
        [
            rowID, id.bytes, version, Int64(keyClass), Int64(generation), metadata, value, key?.major, key?.minor,
            key?.scope,
        ]
    }
}
