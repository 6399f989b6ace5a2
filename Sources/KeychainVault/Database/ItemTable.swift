// SPDX-License-Identifier: Apache-2.0
// The SQL of items: everything that reads the tables `item`, `lookup` and `quarantine`.

import Foundation
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
        /// In a vault of format 3 or older it is found by a scan of the key index, whose time grows with the number of
        /// rows.
        case minor(Data)
        case lookup(Data)
        case keyClass(UInt8)

        var arguments: [SQLValue] {
            switch self {
            case .all: []
            case .row(let id): [.number(id)]
            case .key(let major, let minor): [.blob(major), .blob(minor)]
            case .major(let digest), .minor(let digest), .lookup(let digest): [.blob(digest)]
            case .keyClass(let number): [.number(Int64(number))]
            }
        }

        /// The index of its condition in ``conditions``.
        fileprivate var index: Int {
            switch self {
            case .all: 0
            case .row: 1
            case .key: 2
            case .major: 3
            case .minor: 4
            case .keyClass: 5
            case .lookup: 6
            }
        }

        static let conditions = [
            "", " WHERE id = ?", " WHERE major = ? AND minor = ?", " WHERE major = ?",
            " WHERE id IN (SELECT id FROM item WHERE minor = ?)", " WHERE class = ?",
            " WHERE id IN (SELECT item FROM lookup WHERE digest = ?)",
        ]
    }

    let connection: Connection
    /// The columns for opening an item, and those of its key digests.
    private static let (opening, filing) = ("id, uuid, version, class, generation, metadata", "major, minor, scope")
    static let columns = "\(opening), value, \(filing)"

    init(_ connection: Connection) { self.connection = connection }

    /// How many rows this connection has changed so far; failed statements do not count.
    var totalChangesCount: Int { connection.totalChangesCount }

    // MARK: - Reading

    /// Which columns a search needs.
    enum Parts {
        case metadata, metadataAndValue
        /// Metadata and the digests of the item's primary key.
        case metadataAndKey
        case all

        fileprivate var statements: [SQL] {
            switch self {
            case .metadata: Statements.metadata
            case .metadataAndValue: Statements.metadataAndValue
            case .metadataAndKey: Statements.metadataAndKey
            case .all: Statements.all
            }
        }
    }

    /// For each set of columns: one statement for each kind of candidates.
    enum Statements {
        static let metadata = of(opening)
        static let metadataAndValue = of(opening + ", value")
        static let metadataAndKey = of(opening + ", " + filing)
        static let all = of(columns)
        static let versions = of("id, uuid, version")
        static let traces = of(RowTrace.columns)
        static let lookups = SQL.kept("SELECT digest, item FROM lookup")
        static let isIndexed = SQL.kept("SELECT count(*) FROM lookup WHERE digest = ? AND item = ?")
        static let shortCountOfMajor = SQL.kept("SELECT count(*) FROM (SELECT 1 FROM item WHERE major = ? LIMIT 256)")
        static let shortCountOfLookup = SQL.kept(
            "SELECT count(*) FROM (SELECT 1 FROM lookup WHERE digest = ? LIMIT 256)")
        static let length = SQL.kept("SELECT length(metadata) + coalesce(length(value), 0) FROM item WHERE id = ?")
        static let highestRowID = SQL.kept(
            "SELECT max(coalesce((SELECT max(id) FROM item), 0), coalesce((SELECT max(id) FROM quarantine), 0))")

        private static func of(_ columns: String) -> [SQL] {
            Candidates.conditions.map { SQL.kept("SELECT \(columns) FROM item" + $0) }
        }
    }

    /// Passes candidate rows to `body` until it returns `false`.
    func forEach(_ candidates: Candidates, _ parts: Parts, _ body: (SealedRow) throws -> Bool) throws {
        try forEach(parts.statements, candidates) { try body(SealedRow($0, parts)) }
    }

    /// Passes all candidate rows to `body`, in batches.
    func forEachBatch(_ candidates: Candidates, _ parts: Parts, _ body: ([SealedRow]) -> Void) throws {
        var rows: [SealedRow] = []
        rows.reserveCapacity(Self.batchSize)
        try forEach(candidates, parts) { row in
            rows.append(row)
            guard rows.count == Self.batchSize || row.isLarge else { return true }
            body(rows)
            rows.removeAll(keepingCapacity: true)
            return true
        }
        body(rows)
    }

    private static let batchSize = 64

    /// Passes row number, identity and version of each candidate to `body`.
    func forEachVersion(_ candidates: Candidates, _ body: (Int64, UUID, UInt64) -> Void) throws {
        try forEach(Statements.versions, candidates) { row in
            body(row.number(0) ?? -1, UUID(bytes: row.blob(1)), UInt64(bitPattern: row.number(2) ?? -1))
            return true
        }
    }

    /// Passes to `body` the trace of each candidate, from which the head's digests are computed.
    func forEachTrace(_ candidates: Candidates, _ body: (RowTrace) -> Void) throws {
        try forEach(Statements.traces, candidates) { row in
            body(RowTrace(item: row))
            return true
        }
    }

    /// The same for each entry of the lookup table.
    func forEachLookupTrace(_ body: (RowTrace) -> Void) throws {
        try connection.forEach(Statements.lookups) { row in
            body(RowTrace(lookup: row.blob(0), of: row.number(1) ?? -1))
            return true
        }
    }

    private func forEach(
        _ statements: [SQL], _ candidates: Candidates, _ body: (RowReader) throws -> Bool
    ) throws {
        try connection.forEach(statements[candidates.index], candidates.arguments, body)
    }

    /// One row with its key digests, without its value.
    func row(_ rowID: Int64) throws -> SealedRow? {
        var found: SealedRow?
        try forEach(.row(rowID), .metadataAndKey) { row in
            found = row
            return false
        }
        return found
    }

    /// The same with its value.
    func wholeRow(_ rowID: Int64) throws -> SealedRow? {
        var found: SealedRow?
        try forEach(.row(rowID), .all) { row in
            found = row
            return false
        }
        return found
    }

    func isIndexed(_ rowID: Int64, under digest: Data) throws -> Bool {
        try connection.number(Statements.isIndexed, [.blob(digest), .number(rowID)]) ?? 0 > 0
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
        let sql: SQL = "SELECT \(Self.columns) FROM item WHERE id >= ? AND (\(conditions)) ORDER BY id LIMIT ?"
        var rows: [SealedRow] = []
        try connection.forEach(sql, [.number(rowID), .number(Int64(limit))]) { row in
            rows.append(SealedRow(row, .all))
            return true
        }
        return rows
    }

    // MARK: - For writing

    /// The number of the next row: above all numbers in use, including those of quarantined rows, which keep their
    /// numbers. Numbers of deleted rows at the end are used again; identities are not.
    func nextRowID() throws -> Int64 {
        guard let highest = try connection.number(Statements.highestRowID), highest < Int64.max else {
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
    /// Whether to open it before the next rows are read.
    fileprivate var isLarge: Bool { metadata.count + (value?.count ?? 0) > 64 << 10 }

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
