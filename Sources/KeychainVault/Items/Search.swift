// SPDX-License-Identifier: Apache-2.0
// From a selection to items: narrow by digests, open, and ask the selection.

import Foundation
import KeychainEngine

/// One run through the candidates of a selection.
struct Search {
    private(set) var found = SelectedItems(items: [])
    /// Rows that do not open and are selected all the same: their digests alone fulfil every condition. What access group
    /// they are in cannot be told.
    private(set) var damagedByKey: [Int64] = []

    private let selection: Selection
    private let sealer: RowSealer
    private let includingValues: Bool

    init(_ selection: Selection, _ sealer: RowSealer, includingValues: Bool) {
        self.selection = selection
        self.sealer = sealer
        self.includingValues = includingValues
    }

    /// - Parameter wantsMore: Asked after each item found.
    mutating func run(_ table: ItemTable, while wantsMore: (SelectedItems) -> Bool = { _ in true }) throws {
        let candidates = try candidates(table)
        try table.forEach(candidates, includingValues ? .metadataAndValue : .metadata) { row in
            consider(row, candidates)
            return wantsMore(found)
        }
    }

    private mutating func consider(_ row: SealedRow, _ candidates: ItemTable.Candidates) {
        do throws(DamagedRow) {
            var stored = try sealer.open(row)
            guard selection.matches(stored) else {
                try checkFiling(stored, row, candidates)
                return
            }
            if includingValues { stored.item.value = try sealer.openValue(row) }
            found.items.append(stored)
        } catch {
            found.damaged += 1
            if isDecided(by: candidates) { damagedByKey.append(row.rowID) }
        }
    }

    /// An item under a key that is not its own has been filed there by somebody else. An entry of the lookup table that
    /// leads to an item it does not fit is only a stale entry: the item itself is whole, and filed right.
    private func checkFiling(
        _ stored: StoredItem, _ row: SealedRow, _ candidates: ItemTable.Candidates
    ) throws(DamagedRow) {
        let key = sealer.digests.key(stored.item)
        let isFiledRight: Bool =
            switch candidates {
            case .all, .row, .lookup: true
            case .key(let major, let minor): key.major == major && key.minor == minor
            case .major(let digest): key.major == digest
            case .minor(let digest): key.minor == digest
            }
        guard isFiledRight else { throw DamagedRow() }
    }

    /// Whether the selection asks for nothing beyond what the candidates were found by.
    private func isDecided(by candidates: ItemTable.Candidates) -> Bool {
        var conditions = selection.conditions
        conditions[.synchronizable] = nil
        return switch candidates {
        case .all: false
        case .row: conditions.isEmpty
        case .key: conditions.count == 2
        case .major, .minor, .lookup: conditions.count == 1
        }
    }

    private func candidates(_ table: ItemTable) throws -> ItemTable.Candidates {
        if let id = selection.id { return .row(id.id.map(sealer.rowID) ?? -1) }
        guard let itemClass = selection.itemClass else { return .all }
        let (digests, schema, conditions) = (sealer.digests, itemClass.schema, selection.conditions)
        let major = digests.value(itemClass, schema.major, in: conditions)
        let minor = digests.value(itemClass, schema.minor, in: conditions)
        if let major, let minor { return .key(major, minor) }
        let lookups = digests.lookups(itemClass, conditions).map { ItemTable.Candidates.lookup($0) }
        if major == nil, lookups.isEmpty { return minor.map { .minor($0) } ?? .all }
        return try table.narrowest((major.map { [.major($0)] } ?? []) + lookups)
    }
}
