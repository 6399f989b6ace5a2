// SPDX-License-Identifier: Apache-2.0
// The SQL of items: everything that reads the tables `item`, `lookup` and `quarantine`.

import Foundation
import GRDB
import KeychainEngine

/// The statements that read items. SQLite prepares each once for its connection.
struct ItemTable {
    /// The rows that a search examines before it opens them.
    enum Candidates {
        case all
        case row(Int64)
        /// Indexed under this major and minor part of the key.
        case key(Data, Data)
        case major(Data)
        /// Found by a scan of the whole key index: fast per row, but proportional to the number of rows.
        case minor(Data)
        case lookup(Data)
        case keyClass(UInt8)
    }

    let db: Database
    /// The columns for opening an item, and those of its key digests.
    private static let (opening, filing) = ("id, uuid, version, class, generation, metadata", "major, minor, scope")
    static let columns = "\(opening), value, \(filing)"

    init(_ db: Database) { self.db = db }

    /// How many rows this connection has changed so far; failed statements do not count.
    var totalChangesCount: Int { db.totalChangesCount }

    // MARK: - Reading

    /// Which columns a search needs.
    enum Parts {
        case metadata, metadataAndValue
        /// Metadata and the digests of the item's primary key.
        case metadataAndKey
        case all
    }

    /// Hands candidate rows to `body` until it returns `false`.
    func forEach(_ candidates: Candidates, _ parts: Parts, _ body: (SealedRow) throws -> Bool) throws {
        let (sql, arguments) = Self.narrow(Self.select(parts), to: candidates)
        try RowReader.forEach(db.cachedStatement(sql: sql), arguments, db) { try body(SealedRow($0, parts)) }
    }

    /// Hands row number, identity and version of each candidate to `body`.
    func forEachVersion(_ candidates: Candidates, _ body: (Int64, UUID, UInt64) -> Void) throws {
        let (sql, arguments) = Self.narrow("SELECT id, uuid, version FROM item", to: candidates)
        try RowReader.forEach(db.cachedStatement(sql: sql), arguments, db) { row in
            body(row.number(0) ?? -1, UUID(bytes: row.blob(1)), UInt64(bitPattern: row.number(2) ?? -1))
            return true
        }
    }

    /// Hands to `body` the trace of each candidate, from which the head's digests are computed.
    func forEachTrace(_ candidates: Candidates, _ body: (RowTrace) -> Void) throws {
        let (sql, arguments) = Self.narrow("SELECT \(RowTrace.columns) FROM item", to: candidates)
        try RowReader.forEach(db.cachedStatement(sql: sql), arguments, db) { row in
            body(RowTrace(item: row))
            return true
        }
    }

    /// The same for each entry of the lookup table.
    func forEachLookupTrace(_ body: (RowTrace) -> Void) throws {
        let statement = try db.cachedStatement(sql: "SELECT digest, item FROM lookup")
        try RowReader.forEach(statement, [], db) { row in
            body(RowTrace(lookup: row.blob(0), of: row.number(1) ?? -1))
            return true
        }
    }

    private static func narrow(_ select: String, to candidates: Candidates) -> (String, StatementArguments) {
        switch candidates {
        case .all: (select, [])
        case .row(let id): (select + " WHERE id = ?", [id])
        case .key(let major, let minor): (select + " WHERE major = ? AND minor = ?", [major, minor])
        case .major(let digest): (select + " WHERE major = ?", [digest])
        case .minor(let digest):
            (select + " WHERE id IN (SELECT id FROM item INDEXED BY item_key WHERE minor = ?)", [digest])
        case .keyClass(let number): (select + " WHERE class = ?", [Int64(number)])
        case .lookup(let digest): (select + " WHERE id IN (SELECT item FROM lookup WHERE digest = ?)", [digest])
        }
    }

    private static func select(_ parts: Parts) -> String {
        switch parts {
        case .metadata: selectMetadata
        case .metadataAndValue: selectMetadataAndValue
        case .metadataAndKey: "SELECT \(opening), \(filing) FROM item"
        case .all: "SELECT \(columns) FROM item"
        }
    }

    private static let selectMetadata = "SELECT \(opening) FROM item"
    private static let selectMetadataAndValue = "SELECT \(opening), value FROM item"

    /// One row with its key digests, without its value.
    func row(_ rowID: Int64) throws -> SealedRow? {
        var found: SealedRow?
        try forEach(.row(rowID), .metadataAndKey) { row in
            found = row
            return false
        }
        return found
    }

    func isFiled(_ rowID: Int64, under digest: Data) throws -> Bool {
        let sql = "SELECT count(*) FROM lookup WHERE digest = ? AND item = ?"
        return try Int.fetchOne(db.cachedStatement(sql: sql), arguments: [digest, rowID]) ?? 0 > 0
    }

    /// Up to `limit` whole rows, starting at a row number, that are sealed under another generation of their class than
    /// these.
    func rows(
        sealedOtherwiseThan generations: [UInt8: Set<UInt32>], from rowID: Int64, limit: Int
    ) throws -> [SealedRow] {
        // These numbers are not user input, so they may be part of the SQL text.
        let conditions = generations.sorted { $0.key < $1.key }
            .map {
                "(class = \($0.key) AND generation NOT IN (\($0.value.sorted().map(String.init).joined(separator: ", "))))"
            }
            .joined(separator: " OR ")
        guard !conditions.isEmpty else { return [] }
        let sql = Self.select(.all) + " WHERE id >= ? AND (\(conditions)) ORDER BY id LIMIT ?"
        var rows: [SealedRow] = []
        try RowReader.forEach(db.cachedStatement(sql: sql), [rowID, limit], db) { row in
            rows.append(SealedRow(row, .all))
            return true
        }
        return rows
    }

    func count() throws -> Int { try Int.fetchOne(db, sql: "SELECT count(*) FROM item") ?? 0 }

    /// Items of a class, those in quarantine included.
    func count(of keyClass: UInt8) throws -> Int {
        try ["item", "quarantine"].reduce(0) { count, table in
            let sql = "SELECT count(*) FROM \(table) WHERE class = ?"
            return try count + (Int.fetchOne(db, sql: sql, arguments: [Int64(keyClass)]) ?? 0)
        }
    }

    /// How many rows are sealed under each key, according to their columns.
    func keyUse() throws -> KeyUse {
        KeyUse(items: try counts(in: "item"), quarantined: try counts(in: "quarantine"))
    }

    private func counts(in table: String) throws -> [ClassKeyName: Int] {
        let sql = "SELECT class, generation, count(*) FROM \(table) GROUP BY class, generation"
        var counts: [ClassKeyName: Int] = [:]
        try RowReader.forEach(db.cachedStatement(sql: sql), [], db) { row in
            // As in rows that are read: a damaged number becomes one that no key has.
            let name = ClassKeyName(
                keyClass: UInt8(clamping: row.number(0) ?? 0), generation: UInt32(clamping: row.number(1) ?? 0))
            counts[name, default: 0] += Int(row.number(2) ?? 0)
            return true
        }
        return counts
    }

    /// Of several ways to narrow a search, the one that leaves the fewest rows, according to a short count.
    func narrowest(_ choices: [Candidates]) throws -> Candidates {
        guard choices.count > 1 else { return choices.first ?? .all }
        var best: (choice: Candidates, count: Int)?
        for choice in choices {
            let count = try shortCount(choice)
            if best.map({ count < $0.count }) ?? true { best = (choice, count) }
        }
        return best?.choice ?? .all
    }

    private func shortCount(_ candidates: Candidates) throws -> Int {
        let (source, digest): (String, Data)
        switch candidates {
        case .major(let major): (source, digest) = ("item WHERE major = ?", major)
        case .lookup(let lookup): (source, digest) = ("lookup WHERE digest = ?", lookup)
        case .all, .row, .key, .minor, .keyClass: return .max
        }
        let sql = "SELECT count(*) FROM (SELECT 1 FROM \(source) LIMIT 256)"
        return try Int.fetchOne(db.cachedStatement(sql: sql), arguments: [digest]) ?? 0
    }

    func lookupCount() throws -> Int { try Int.fetchOne(db, sql: "SELECT count(*) FROM lookup") ?? 0 }

    func quarantineCount() throws -> Int { try Int.fetchOne(db, sql: "SELECT count(*) FROM quarantine") ?? 0 }

    // MARK: - For writing

    /// The number of the next row: above all numbers in use, including those of quarantined rows, which keep their
    /// numbers. Numbers of deleted rows at the end are used again; identities are not.
    func nextRowID() throws -> Int64 {
        let sql = "SELECT max(coalesce((SELECT max(id) FROM item), 0), coalesce((SELECT max(id) FROM quarantine), 0))"
        var highest: Int64?
        try RowReader.forEach(db.cachedStatement(sql: sql), [], db) { row in
            highest = row.number(0)
            return false
        }
        guard let highest, highest < Int64.max else {
            throw KeychainError(
                .corrupt, "A row has an invalid number. " + KeychainError.restoreAdvice)
        }
        return highest + 1
    }

    /// The row that has this primary key, with its value.
    func rowHolding(_ key: KeyDigests) throws -> SealedRow? {
        var found: SealedRow?
        try forEach(.key(key.major, key.minor), .all) { candidate in
            if candidate.key == key { found = candidate }
            return found == nil
        }
        return found
    }
}

extension SealedRow {
    /// Accepts any row: in a damaged file a column may hold another type than declared. Such a value becomes one with
    /// which the row does not open.
    init(_ row: RowReader, _ parts: ItemTable.Parts) {
        let filing: Int32? =
            switch parts {
            case .metadata, .metadataAndValue: nil
            case .metadataAndKey: 6
            case .all: 7
            }
        self.init(
            rowID: row.number(0) ?? -1, id: UUID(bytes: row.blob(1)), version: row.number(2) ?? -1,
            keyClass: UInt8(clamping: row.number(3) ?? 0), generation: UInt32(clamping: row.number(4) ?? 0),
            key: filing.map { first in
                KeyDigests(major: row.blob(first), minor: row.blob(first + 1), scope: row.blob(first + 2))
            },
            metadata: row.blob(5), value: parts == .metadataAndValue || parts == .all ? row.blob(6) : nil)
    }
}
