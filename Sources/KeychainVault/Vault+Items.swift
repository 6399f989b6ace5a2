// SPDX-License-Identifier: Apache-2.0
// The four calls of an ItemStore.

import Foundation
import GRDB
public import KeychainEngine

extension Vault {
    public func select(
        _ selection: Selection, limit: Int?, includingValues: Bool
    ) throws(KeychainFailure) -> SelectedItems {
        guard let session = try openSession(age: Self.lookInterval), limit ?? 1 > 0 else {
            return SelectedItems(items: [])
        }
        return try DatabaseFailure.translating(location.databaseFile) {
            // One statement sees one state of the database, so no transaction is needed around it.
            try session.reader.unsafeRead { db in
                var search = Search(selection, session.sealer, includingValues: includingValues)
                try search.run(ItemTable(db)) { found in found.items.count < limit ?? .max }
                return search.found
            }
        }
    }

    public func insert(_ item: Item) throws(KeychainFailure) -> StoredItem {
        try write { session, table in
            let rowID = try table.nextRowID()
            let id = session.sealer.makeID(rowID: rowID)
            let row = try session.sealer.seal(item, rowID: rowID, id: id, version: 1)
            let lookups = session.sealer.digests.lookups(item)
            try Self.replacingDamaged(row, table, session.sealer) { try table.insert(row, lookups: lookups) }
            return StoredItem(id: id, version: 1, item: item)
        }
    }

    public func update(
        _ selection: Selection, _ change: (StoredItem) throws(KeychainFailure) -> Item
    ) throws(KeychainFailure) -> SelectedItems {
        guard try openSession() != nil else { return SelectedItems(items: []) }
        return try write { session, table in
            let sealer = session.sealer
            var search = Search(selection, sealer, includingValues: true)
            try search.run(table)
            for stored in search.found.items {
                let item = try change(stored)
                let rowID = sealer.rowID(of: stored.id)
                let row = try sealer.seal(item, rowID: rowID, id: stored.id, version: stored.version + 1)
                let (lookups, previous) = (sealer.digests.lookups(item), sealer.digests.lookups(stored.item))
                try Self.replacingDamaged(row, table, sealer) {
                    try table.replace(row, lookups: lookups, previous: previous)
                }
            }
            return search.found
        }
    }

    public func delete(_ selection: Selection) throws(KeychainFailure) -> Int {
        guard try openSession() != nil else { return 0 }
        return try write(emptyingLog: true) { session, table in
            let sealer = session.sealer
            var search = Search(selection, sealer, includingValues: false)
            try search.run(table)
            for stored in search.found.items {
                try table.delete(sealer.rowID(of: stored.id), lookups: sealer.digests.lookups(stored.item))
            }
            for rowID in search.damagedByKey { try table.setAside(rowID, at: Date()) }
            let count = search.found.items.count + search.damagedByKey.count
            guard count > 0 || search.found.damaged == 0 else { throw KeychainFailure.damagedItem }
            return count
        }
    }

    /// Runs a write that may find its primary key taken. If the row that holds the key does not open, it is set aside and
    /// the write goes through; else it is a duplicate.
    private static func replacingDamaged(
        _ row: SealedRow, _ table: ItemTable, _ sealer: RowSealer, _ write: () throws -> Void
    ) throws {
        do {
            try write()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            guard let key = row.key, let holder = try table.rowHolding(key) else { throw error }
            guard !sealer.opens(holder) else {
                throw KeychainFailure(.duplicateItem, "An item with the same primary key exists. Update it instead.")
            }
            try table.setAside(holder.rowID, at: Date())
            try write()
        }
    }
}

extension RowSealer {
    fileprivate func opens(_ row: SealedRow) -> Bool {
        do throws(DamagedRow) {
            let stored = try open(row)
            _ = try openValue(row)
            return digests.key(stored.item) == row.key
        } catch {
            return false
        }
    }
}
