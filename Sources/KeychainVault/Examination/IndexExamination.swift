// SPDX-License-Identifier: Apache-2.0
// Whether items are filed under what they should be: each entry of the index is recomputed.

import Foundation
import KeychainEngine

/// Compares what the items that open should be filed under with what they are filed under. Entries of rows that do not open
/// cannot be judged, and count as right.
struct IndexExamination {
    /// Items that are filed under another key than their own.
    private(set) var misfiled: [ItemTable.Misfiling] = []
    /// Entries that items should have and have not.
    private(set) var missing: [ItemTable.LookupEntry] = []
    /// Entries that lead to no item, or to one that does not have the digest.
    private(set) var foreign: [ItemTable.LookupEntry] = []
    private(set) var closedCount = 0

    private let sealer: RowSealer
    private let table: ItemTable
    /// How many right entries each item has, as far as it has any.
    private var right: [Int64: Int] = [:]
    private var closed: Set<Int64> = []

    init(_ sealer: RowSealer, _ table: ItemTable) {
        self.sealer = sealer
        self.table = table
    }

    /// - Returns: Whether the item is filed under its own key.
    mutating func add(_ item: Item, _ row: SealedRow) throws -> Bool {
        var count = 0
        for digest in sealer.digests.lookups(item) {
            if try table.isFiled(row.rowID, under: digest) {
                count += 1
            } else {
                missing.append(ItemTable.LookupEntry(digest: digest, rowID: row.rowID))
            }
        }
        if count > 0 { right[row.rowID] = count }
        let key = sealer.digests.key(item)
        guard let filed = row.key, filed != key else { return true }
        misfiled.append(ItemTable.Misfiling(rowID: row.rowID, from: filed, to: key))
        return false
    }

    mutating func addClosed(_ rowID: Int64) {
        closed.insert(rowID)
        closedCount += 1
    }

    /// Looks for foreign entries. To be called once all rows have been added.
    mutating func finish() throws {
        let suspects = try rowsWithTooManyEntries()
        guard !suspects.isEmpty else { return }
        var own: [Int64: Set<Data>] = [:]
        for rowID in suspects { own[rowID] = try lookups(rowID) }
        try table.forEachLookup { entry in
            guard let digests = own[entry.rowID], !digests.contains(entry.digest) else { return }
            foreign.append(entry)
        }
    }

    private mutating func rowsWithTooManyEntries() throws -> Set<Int64> {
        var left = right
        var found: Set<Int64> = []
        try table.forEachLookup { entry in
            guard !closed.contains(entry.rowID) else { return }
            guard let count = left[entry.rowID], count > 0 else {
                found.insert(entry.rowID)
                return
            }
            left[entry.rowID] = count - 1
        }
        return found
    }

    /// None for a row that is not there.
    private func lookups(_ rowID: Int64) throws -> Set<Data> {
        guard let row = try table.row(rowID) else { return [] }
        do throws(UnreadableRow) {
            return Set(sealer.digests.lookups(try sealer.open(row).item))
        } catch {
            return []
        }
    }
}
