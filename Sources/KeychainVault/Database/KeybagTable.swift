// SPDX-License-Identifier: Apache-2.0
// The SQL of the keybag: two copies, each in a table of its own.

import Foundation
import GRDB

/// The two stored copies of the keybag, always written in one transaction.
struct KeybagTable {
    private static let tables = ["keybag", "keybag_copy"]
    private let db: Database

    init(_ db: Database) { self.db = db }

    /// The bytes of both copies; `nil` for a copy that is missing or not a blob.
    func copies() throws -> [Data?] {
        try Self.tables.map { table in
            guard let value = try DatabaseValue.fetchOne(db, sql: "SELECT bytes FROM \(table) WHERE id = 1"),
                case .blob(let bytes) = value.storage
            else { return nil }
            return bytes
        }
    }

    /// Whether the first copy is unchanged since it was read.
    func isStill(_ bytes: Data?) throws -> Bool {
        let statement = try db.cachedStatement(sql: "SELECT bytes FROM keybag WHERE id = 1")
        var found: Data?
        try RowReader.forEach(statement, [], db) { row in
            found = row.blob(0)
            return false
        }
        // A value that is not a blob was read as no copy before, and reads as an empty one now.
        return found ?? Data() == bytes ?? Data()
    }

    func write(_ bytes: Data) throws {
        for table in Self.tables {
            try db.execute(sql: "INSERT OR REPLACE INTO \(table) (id, bytes) VALUES (1, ?)", arguments: [bytes])
        }
    }
}
