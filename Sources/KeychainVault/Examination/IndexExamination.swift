// SPDX-License-Identifier: Apache-2.0
// Whether items are indexed correctly: each entry of the index is recomputed.

import Foundation
import KeychainEngine

/// Compares the expected index entries of the items that open with the stored ones. Entries of rows that do not open
/// cannot be checked, and count as right.
struct IndexExamination {
    /// Items that are indexed under another key than their own.
    private(set) var wronglyIndexed: [ItemTable.WronglyIndexedRow] = []
    /// Entries that items should have but do not.
    private(set) var missing: [ItemTable.LookupEntry] = []
    /// Entries that lead to no item, or to one with another digest.
    private(set) var wrong: [ItemTable.LookupEntry] = []
    private(set) var closedCount = 0

    private let sealer: RowSealer
    private let table: ItemTable
    /// The number of right entries of each item that has any.
    private var right: [Int64: Int] = [:]
    private var closed: Set<Int64> = []

    init(_ sealer: RowSealer, _ table: ItemTable) {
        self.sealer = sealer
        self.table = table
    }

    /// - Returns: Whether the item is indexed under its own key.
    mutating func add(_ item: Item, _ row: SealedRow) throws -> Bool {
        var count = 0
        for digest in sealer.digests.lookups(item) {
            if try table.isIndexed(row.rowID, under: digest) {
                count += 1
            } else {
                missing.append(ItemTable.LookupEntry(digest: digest, rowID: row.rowID))
            }
        }
        if count > 0 { right[row.rowID] = count }
        let key = sealer.digests.key(item)
        guard let stored = row.key, stored != key else { return true }
        wronglyIndexed.append(ItemTable.WronglyIndexedRow(rowID: row.rowID, from: stored, to: key))
        return false
    }

    mutating func addClosed(_ rowID: Int64) {
        closed.insert(rowID)
        closedCount += 1
    }

    /// Looks for wrong entries. Call it after all rows were added.
    mutating func finish() throws {
        let suspects = try rowsWithTooManyEntries()
        guard !suspects.isEmpty else { return }
        var own: [Int64: Set<Data>] = [:]
        for rowID in suspects { own[rowID] = try lookups(rowID) }
        try table.forEachLookup { entry in
            guard let digests = own[entry.rowID], !digests.contains(entry.digest) else { return }
            wrong.append(entry)
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

    /// Empty for a row that does not exist.
    private func lookups(_ rowID: Int64) throws -> Set<Data> {
        guard let row = try table.row(rowID) else { return [] }
        do throws(UnreadableRow) {
            return Set(sealer.digests.lookups(try sealer.open(row).item))
        } catch {
            return []
        }
    }
}
