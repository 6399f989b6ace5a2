// SPDX-License-Identifier: Apache-2.0
// The SQL that repairs the index, and takes rows out of quarantine.

import Foundation
import KeychainEngine

extension ItemWriter {
    func addLookup(_ entry: ItemTable.LookupEntry) throws { try index(entry.rowID, under: [entry.digest]) }

    func removeLookup(_ entry: ItemTable.LookupEntry) throws { try deindex(entry.rowID, from: [entry.digest]) }

    /// Indexes rows under other keys; values, metadata and lookup entries stay. Rows may exchange their keys.
    ///
    /// - Throws: SQLite's constraint error if a key is taken by a row that is not among these.
    func reindex(_ rows: [ItemTable.WronglyIndexedRow]) throws {
        let old = try rows.flatMap { try traces(.row($0.rowID)) }
        // First move all rows to unused keys, since a new key may still be held by another of these rows.
        for row in rows {
            let unused = Data((0..<16).map { _ in UInt8.random(in: 0...255) })
            try setKey(of: row.rowID, to: KeyDigests(major: row.to.major, minor: row.to.minor, scope: unused))
        }
        for row in rows { try setKey(of: row.rowID, to: row.to) }
        old.forEach { changes.removed(item: $0) }
        for row in rows { try traces(.row(row.rowID)).forEach { changes.added(item: $0) } }
    }

    private func setKey(of rowID: Int64, to key: KeyDigests) throws {
        try connection.execute(
            "UPDATE item SET (major, minor, scope) = (?, ?, ?) WHERE id = ?",
            [.blob(key.major), .blob(key.minor), .blob(key.scope), .number(rowID)])
        try checkOneChanged()
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
        try connection.execute("DELETE FROM quarantine WHERE id = ?", [.number(rowID)])
        try checkOneChanged()
        changes.quarantined(-1)
    }
}
