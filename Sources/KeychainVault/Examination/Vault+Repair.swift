// SPDX-License-Identifier: Apache-2.0
// Rebuilding the index of items from the items.

import Foundation
public import KeychainEngine

/// The result of a repair of the index.
public struct IndexRepair: Equatable, Sendable {
    /// Missing entries that were added.
    public let addedCount: Int
    /// Entries that led to no item or to another one, and were removed.
    public let removedCount: Int
    /// Items that were indexed under another key and are now indexed under their own.
    public let reindexedCount: Int
    /// Items that stay under another key, since another row holds theirs.
    public let blockedCount: Int
    /// Items that do not open now; their entries were not changed.
    public let closedCount: Int
}

extension Vault {
    /// Rebuilds the index from the items that open, in one transaction: adds missing entries, removes entries that lead
    /// to no item or to another one, and indexes items under their own keys. Values are neither read nor written, and
    /// items that do not open keep their entries.
    ///
    /// If the vault differs from its head, the head stays unchanged: restored entries match it again, and any other
    /// difference is still refused as `rolledBack` afterwards.
    ///
    /// - Throws: `locked` if nothing can be opened, `unavailable` if there is no vault.
    public func repairIndex() throws(KeychainError) -> IndexRepair {
        _ = try currentSession()
        return try write(.ofHead) { transaction in
            let (sealer, content) = (try transaction.sealer(), try transaction.keeper.repairingTransaction())
            let table = content.table
            var index = IndexExamination(sealer, table)
            try table.forEach(.all, .metadataAndKey) { row in
                try Self.add(row, to: &index, sealer)
                return true
            }
            try index.finish()
            return try Self.apply(index, content)
        }
    }

    private static func add(_ row: SealedRow, to index: inout IndexExamination, _ sealer: RowSealer) throws {
        let item: Item
        do throws(UnreadableRow) {
            item = try sealer.open(row).item
        } catch {
            return index.addClosed(row.rowID)
        }
        _ = try index.add(item, row)
    }

    private static func apply(_ index: IndexExamination, _ transaction: WriteTransaction) throws -> IndexRepair {
        let (movable, items) = (try movable(index.wronglyIndexed, transaction.table), transaction.items)
        try items.reindex(movable)
        for entry in index.wrong { try items.removeLookup(entry) }
        for entry in index.missing { try items.addLookup(entry) }
        return IndexRepair(
            addedCount: index.missing.count, removedCount: index.wrong.count, reindexedCount: movable.count,
            blockedCount: index.wronglyIndexed.count - movable.count, closedCount: index.closedCount)
    }

    /// The items whose own key is free, or is held by another item that also moves.
    private static func movable(
        _ wronglyIndexed: [ItemTable.WronglyIndexedRow], _ table: ItemTable
    ) throws -> [ItemTable.WronglyIndexedRow] {
        var claimed: Set<KeyDigests> = []
        var movable = wronglyIndexed.filter { claimed.insert($0.to).inserted }
        while true {
            let moving = Set(movable.map(\.rowID))
            let free = try movable.filter { row in
                guard let holder = try table.rowHolding(row.to) else { return true }
                return moving.contains(holder.rowID)
            }
            guard free.count < movable.count else { return movable }
            movable = free
        }
    }
}
