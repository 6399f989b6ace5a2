// SPDX-License-Identifier: Apache-2.0
// The SQL of the index of items: what they are filed under, and putting that right.

import Foundation
import GRDB

extension ItemTable {
    /// One entry of the table `lookup`.
    struct LookupEntry: Hashable {
        let digest: Data
        let rowID: Int64
    }

    /// A row that is filed under another key than its own.
    struct Misfiling {
        let rowID: Int64
        let from: KeyDigests
        let to: KeyDigests
    }

    func forEachLookup(_ body: (LookupEntry) -> Void) throws {
        let statement = try db.cachedStatement(sql: "SELECT digest, item FROM lookup")
        try RowReader.forEach(statement, [], db) { row in
            body(LookupEntry(digest: row.blob(0), rowID: row.number(1) ?? -1))
            return true
        }
    }

    func addLookup(_ entry: LookupEntry) throws { try file(entry.rowID, under: [entry.digest]) }

    func removeLookup(_ entry: LookupEntry) throws { try unfile(entry.rowID, from: [entry.digest]) }

    /// Files rows under other keys; values, metadata and lookup entries stay. Rows may take each other's keys.
    ///
    /// - Throws: SQLite's constraint error if a key is taken by a row that is not among these.
    func refile(_ rows: [Misfiling]) throws {
        let statement = try db.cachedStatement(sql: "UPDATE item SET (major, minor, scope) = (?, ?, ?) WHERE id = ?")
        // By way of keys that no row has, since each may be in the way of another.
        for row in rows {
            let unused = Data((0..<16).map { _ in UInt8.random(in: 0...255) })
            try statement.execute(arguments: [row.to.major, row.to.minor, unused, row.rowID])
            try checkOneChanged()
        }
        for row in rows {
            try statement.execute(arguments: [row.to.major, row.to.minor, row.to.scope, row.rowID])
            try checkOneChanged()
        }
    }
}
