// SPDX-License-Identifier: Apache-2.0
// Rebuilding the index of items from the items.

import Foundation
public import KeychainEngine

/// What a repair of the index did, and what it could not do.
public struct IndexRepair: Equatable, Sendable {
    /// Entries that items lacked, and have now.
    public let addedCount: Int
    /// Entries that led to nothing or to another item, and are gone.
    public let removedCount: Int
    /// Items that were filed under another key than their own, and are filed under their own now.
    public let refiledCount: Int
    /// Items that stay under another key, since a row that stays where it is has their own.
    public let blockedCount: Int
    /// Items that do not open now: their entries were left as they are.
    public let closedCount: Int
}

extension Vault {
    /// Rebuilds the index from the items that open, in one transaction: adds what is missing, removes what leads nowhere or to
    /// another item, and files items under their own keys. Values are neither read nor written, and what does not open keeps
    /// its entries.
    ///
    /// Where the vault is not as it was left, its head stays as it is: entries that come back with this fit it again, and what
    /// differs otherwise is still refused as `rolledBack` afterwards.
    ///
    /// - Throws: `locked` if nothing can be opened, `unavailable` if there is no vault.
    public func repairIndex() throws(KeychainError) -> IndexRepair {
        _ = try currentSession()
        return try change { session, keeper in
            let (sealer, transaction) = (try session.keyState.sealer(), try keeper.repairingTransaction())
            let table = transaction.table
            var index = IndexExamination(sealer, table)
            try table.forEach(.all, .metadataAndKey) { row in
                try Self.add(row, to: &index, sealer)
                return true
            }
            try index.finish()
            return try Self.apply(index, transaction)
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
        let (movable, items) = (try movable(index.misfiled, transaction.table), transaction.items)
        try items.refile(movable)
        for entry in index.foreign { try items.removeLookup(entry) }
        for entry in index.missing { try items.addLookup(entry) }
        return IndexRepair(
            addedCount: index.missing.count, removedCount: index.foreign.count, refiledCount: movable.count,
            blockedCount: index.misfiled.count - movable.count, closedCount: index.closedCount)
    }

    /// Those whose own key is free, or held by another one that moves away.
    private static func movable(
        _ misfiled: [ItemTable.Misfiling], _ table: ItemTable
    ) throws -> [ItemTable.Misfiling] {
        var claimed: Set<KeyDigests> = []
        var movable = misfiled.filter { claimed.insert($0.to).inserted }
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
