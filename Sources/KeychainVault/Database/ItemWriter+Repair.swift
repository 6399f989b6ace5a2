// SPDX-License-Identifier: Apache-2.0
// The SQL that repairs the index, and takes rows out of quarantine.

import Foundation
import GRDB
import KeychainEngine

extension ItemWriter {
    func addLookup(_ entry: ItemTable.LookupEntry) throws { try index(entry.rowID, under: [entry.digest]) }

    func removeLookup(_ entry: ItemTable.LookupEntry) throws { try deindex(entry.rowID, from: [entry.digest]) }

    /// Indexes rows under other keys; values, metadata and lookup entries stay. Rows may exchange their keys.
    ///
    /// - Throws: SQLite's constraint error if a key is taken by a row that is not among these.
    func refile(_ rows: [ItemTable.Misfiling]) throws {
        let old = try rows.flatMap { try traces(.row($0.rowID)) }
        let statement = try db.cachedStatement(sql: "UPDATE item SET (major, minor, scope) = (?, ?, ?) WHERE id = ?")
        // First move all rows to unused keys, since a new key may still be held by another of these rows.
        for row in rows {
            let unused = Data((0..<16).map { _ in UInt8.random(in: 0...255) })
            try statement.execute(arguments: [row.to.major, row.to.minor, unused, row.rowID])
            try checkOneChanged()
        }
        for row in rows {
            try statement.execute(arguments: [row.to.major, row.to.minor, row.to.scope, row.rowID])
            try checkOneChanged()
        }
        old.forEach { changes.removed(item: $0) }
        for row in rows { try traces(.row(row.rowID)).forEach { changes.added(item: $0) } }
    }

    /// Puts a quarantined row back among the items.
    ///
    /// - Parameter row: The quarantined row, with the key under which it is to be indexed.
    /// - Throws: SQLite's constraint error if its number or its key is taken.
    func restoreQuarantined(_ row: SealedRow, lookups: [Data]) throws {
        try purgeQuarantined(row.rowID)
        try insert(row, lookups: lookups)
    }

    /// Erases a quarantined row.
    func purgeQuarantined(_ rowID: Int64) throws {
        try changes.begin()
        try db.execute(sql: "DELETE FROM quarantine WHERE id = ?", arguments: [rowID])
        try checkOneChanged()
        changes.quarantined(-1)
    }
}
