// SPDX-License-Identifier: Apache-2.0
// From a selection to items: narrow by digests, open, and ask the selection.

import Foundation
import KeychainEngine

/// One run through the candidates of a selection.
struct Search {
    enum Purpose {
        /// To show items, or to change them: constrained ones have to be satisfied.
        case reading(includingValues: Bool, Proofs)
        /// Takes no proofs, and decides on locked items by their digests.
        case deleting
    }

    private(set) var found = SelectedItems(items: [])
    /// Rows that do not open and are selected all the same: their digests alone fulfil every condition. What access group
    /// they are in cannot be told.
    private(set) var damagedByKey: [Int64] = []
    /// Rows of a closed class that are meant.
    private(set) var locked: [Int64] = []
    /// Rows that are meant, and open on another device alone.
    private(set) var ofAnotherDevice: [Int64] = []
    /// What found items ask for beyond what was given; nothing may be shown then.
    private(set) var missing: Proofs.Needs = []
    /// What was given and does not open a found item.
    private(set) var refused: Proofs.Needs = []
    /// Whether a row is sealed under a key that the keybag did not have when it was read.
    private(set) var metUnknownKey = false

    private let selection: Selection
    private let sealer: RowSealer
    private let purpose: Purpose
    private var closed: [Int64] = []
    private var foreign: [Int64] = []

    init(_ selection: Selection, _ sealer: RowSealer, _ purpose: Purpose) {
        self.selection = selection
        self.sealer = sealer
        self.purpose = purpose
    }

    /// - Parameter wantsMore: Asked after each item found.
    /// - Throws: `locked` if a row that is, or may be, meant is closed; deletions only if whether it is meant is not known.
    mutating func run(_ table: ItemTable, while wantsMore: (SelectedItems) -> Bool = { _ in true }) throws {
        let candidates = try candidates(table)
        try table.forEach(candidates, parts) { row in
            consider(row, candidates)
            return wantsMore(found)
        }
        try judgeClosed(table)
    }

    /// Constrained items are opened even if only their attributes are wanted, to see that the proofs fit.
    private var parts: ItemTable.Parts {
        switch purpose {
        case .deleting: .metadata
        case .reading(let includingValues, let proofs):
            includingValues || proofs.userKey != nil || proofs.applicationKey != nil ? .metadataAndValue : .metadata
        }
    }

    private mutating func consider(_ row: SealedRow, _ candidates: ItemTable.Candidates) {
        do throws(UnreadableRow) {
            let stored = try sealer.open(row)
            guard selection.matches(stored) else {
                try checkFiling(stored, row, candidates)
                return
            }
            found.items.append(try withValue(stored, row))
        } catch {
            note(error, row, candidates)
        }
    }

    private mutating func note(_ failure: UnreadableRow, _ row: SealedRow, _ candidates: ItemTable.Candidates) {
        switch failure {
        case .locked: closed.append(row.rowID)
        case .ofAnotherDevice: foreign.append(row.rowID)
        case .refused(let needs): refused.formUnion(needs)
        case .damaged, .unknownKey:
            if case .unknownKey = failure { metUnknownKey = true }
            found.damaged += 1
            if isDecided(by: candidates) { damagedByKey.append(row.rowID) }
        }
    }

    private mutating func withValue(_ stored: StoredItem, _ row: SealedRow) throws(UnreadableRow) -> StoredItem {
        guard case .reading(let includingValues, let proofs) = purpose else { return stored }
        let needs = stored.item.accessControl.needs
        let missing = proofs.missing(needs)
        if selection.namesConstrained, !includingValues, !needs.isEmpty { return try named(stored, row, needs, proofs) }
        self.missing.formUnion(missing)
        guard missing.isEmpty, includingValues || !needs.isEmpty else { return stored }
        var opened = stored
        let value = try sealer.openValue(row, needs, proofs)
        if includingValues { opened.item.value = value }
        return opened
    }

    /// The item, or its name where it asks for more than was proven.
    private func named(
        _ stored: StoredItem, _ row: SealedRow, _ needs: Proofs.Needs, _ proofs: Proofs
    ) throws(UnreadableRow) -> StoredItem {
        guard proofs.missing(needs).isEmpty else { return stored.sighting }
        do throws(UnreadableRow) {
            _ = try sealer.openValue(row, needs, proofs)
            return stored
        } catch {
            guard case .refused = error else { throw error }
            return stored.sighting
        }
    }

    /// An item under a key that is not its own has been filed there by somebody else. An entry of the lookup table that
    /// leads to an item it does not fit is only a stale entry: the item itself is whole, and filed right.
    private func checkFiling(
        _ stored: StoredItem, _ row: SealedRow, _ candidates: ItemTable.Candidates
    ) throws(UnreadableRow) {
        let key = sealer.digests.key(stored.item)
        let isFiledRight: Bool =
            switch candidates {
            case .all, .row, .lookup, .keyClass: true
            case .key(let major, let minor): key.major == major && key.minor == minor
            case .major(let digest): key.major == digest
            case .minor(let digest): key.minor == digest
            }
        guard isFiledRight else { throw .damaged }
    }

    /// Whether the selection asks for nothing beyond what the candidates were found by.
    private func isDecided(by candidates: ItemTable.Candidates) -> Bool {
        var conditions = selection.conditions
        conditions[.synchronizable] = nil
        return switch candidates {
        case .all, .keyClass: false
        case .row: conditions.isEmpty
        case .key: conditions.count == 2
        case .major, .minor, .lookup: conditions.count == 1
        }
    }

    // MARK: - Closed rows

    private mutating func judgeClosed(_ table: ItemTable) throws {
        let judge = LockedRow(selection: selection, digests: sealer.digests)
        for rowID in foreign {
            guard let row = try table.row(rowID) else { continue }
            switch try judge.verdict(row, table) {
            case .notMeant: continue
            case .meant: ofAnotherDevice.append(rowID)
            case .unknown: break
            }
            found.ofAnotherDevice += 1
        }
        for rowID in closed {
            guard let row = try table.row(rowID) else { continue }
            switch (try judge.verdict(row, table), purpose) {
            case (.notMeant, _): break
            // What is locked may be deleted; what unlocking may not open is kept.
            case (.meant, .deleting) where sealer.keys.mayBeOfAnotherDevice(row.keyClass, row.generation):
                ofAnotherDevice.append(rowID)
            case (.meant, .deleting): locked.append(rowID)
            case (.meant, .reading), (.unknown, _): throw KeychainError.locked
            }
        }
    }

    // MARK: - Candidates

    func candidates(_ table: ItemTable) throws -> ItemTable.Candidates {
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
