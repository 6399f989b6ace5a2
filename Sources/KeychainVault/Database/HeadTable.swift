// SPDX-License-Identifier: Apache-2.0
// The SQL of the head: one row, sealed.

import Foundation
import GRDB

/// The stored head, as bytes.
struct HeadTable {
    private let db: Database

    init(_ db: Database) { self.db = db }

    /// - Returns: `nil` if there is none, or if the stored value is not a blob.
    func read() throws -> Data? {
        var found: Data?
        let statement = try db.cachedStatement(sql: "SELECT bytes FROM head WHERE id = 1")
        try RowReader.forEach(statement, [], db) { row in
            found = row.blob(0)
            return false
        }
        return found.flatMap { $0.isEmpty ? nil : $0 }
    }

    func write(_ sealed: Data) throws {
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO head (id, bytes) VALUES (1, ?)").execute(arguments: [sealed]
        )
    }
}
