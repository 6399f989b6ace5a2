// SPDX-License-Identifier: Apache-2.0
// From a selection to items: narrow by digests, open, and match the selection.

import Foundation
import KeychainEngine

/// One run through the candidates of a selection.
struct Search {
    enum Purpose {
        /// To return items, or to change them: constrained items need their proofs.
        case reading(includingValues: Bool, Proofs)
        /// Takes no proofs, and decides on locked items by their digests.
        case deleting

        fileprivate var isDeleting: Bool { if case .deleting = self { true } else { false } }
    }

    private(set) var found = SelectedItems(items: [])
    /// Rows that do not open but are selected, because their digests alone fulfil every condition. Their access group
    /// is unknown.
    private(set) var damagedByKey: [Int64] = []
    /// Selected rows of a closed class.
    private(set) var locked: [Int64] = []
    /// Selected rows that open only on another device.
    private(set) var ofAnotherDevice: [Int64] = []
    /// Proofs that found items require and that were not given; if there are any, nothing may be returned.
    private(set) var missing: Proofs.Needs = []
    /// Given proofs that do not open a found item.
    private(set) var refused: Proofs.Needs = []
    /// Whether a row is sealed under a key that the keybag did not have when it was read.
    private(set) var metUnknownKey = false

    private let selection: Selection
    private let sealer: RowSealer
    private let opener: RowOpener
    private let purpose: Purpose
    private var closed: [Int64] = []
    private var boundToAnotherDevice: [Int64] = []

    init(_ selection: Selection, _ sealer: RowSealer, _ purpose: Purpose) {
        self.selection = selection
        self.sealer = sealer
        opener = RowOpener(sealer)
        self.purpose = purpose
    }

    /// Finds at most `limit` items, the first in ``ItemOrder``; `nil`: all. Deletions use no order.
    ///
    /// - Throws: `locked` if a row is closed that is or may be selected, also beyond the limit: its attributes, and
    ///   therefore its place in the order, are unknown. A search that leaves out locked items throws only if it has found
    ///   no other. Deletions throw only if it is unknown whether the row is selected.
    mutating func run(_ table: ItemTable, limit: Int? = nil) throws {
        let candidates = try candidates(table)
        switch limit {
        case let limit? where purpose.isDeleting: try takeSome(limit, candidates, table)
        case let limit? where isByKey: try takeFirstByKey(limit, candidates, table)
        case let limit?: try takeFirst(limit, candidates, table)
        case nil: try takeAll(candidates, table)
        }
        try judgeClosed(table, leavingOut: selection.leavesOutLocked && limit == nil && !found.items.isEmpty)
    }

    /// Whether rows are read twice, so that the whole search must see one state of the database.
    func looksTwice(_ limit: Int?) -> Bool { limit != nil && !isByKey }

    /// Whether the candidates are one row, or the few that share both leading parts of the primary key.
    private var isByKey: Bool {
        if selection.id != nil { return true }
        guard let schema = selection.itemClass?.schema else { return false }
        return [schema.major, schema.minor].allSatisfy { selection.conditions[$0.attribute] != nil }
    }

    private mutating func takeAll(_ candidates: ItemTable.Candidates, _ table: ItemTable) throws {
        try table.forEachBatch(candidates, parts) { rows in
            opener.open(rows) { row, result in
                if let stored = match(row, result, candidates) { take(stored, row, candidates) }
            }
        }
        if case .reading = purpose, found.items.count > 1 { found.items = found.items.inOrder() }
    }

    /// In any order, and reads no further than needed.
    private mutating func takeSome(
        _ limit: Int, _ candidates: ItemTable.Candidates, _ table: ItemTable
    ) throws {
        try table.forEach(candidates, parts) { row in
            if let stored = match(row, candidates) { take(stored, row, candidates) }
            return found.items.count < limit
        }
    }

    /// Keeps the few rows, still sealed, until their order is known; values of those within the limit are opened.
    private mutating func takeFirstByKey(
        _ limit: Int, _ candidates: ItemTable.Candidates, _ table: ItemTable
    ) throws {
        var matches: [(stored: StoredItem, row: SealedRow)] = []
        try table.forEach(candidates, parts) { row in
            if let stored = match(row, candidates) { matches.append((stored, row)) }
            return true
        }
        if matches.count > 1 { matches.sort { ItemOrder($0.stored.item) < ItemOrder($1.stored.item) } }
        for (stored, row) in matches where found.items.count < limit { take(stored, row, candidates) }
    }

    /// Opens the metadata of all candidates and keeps the sort positions of the matches. Then opens these again in
    /// order, with values, until there are enough.
    private mutating func takeFirst(
        _ limit: Int, _ candidates: ItemTable.Candidates, _ table: ItemTable
    ) throws {
        var matches: [(place: ItemOrder, rowID: Int64)] = []
        try table.forEachBatch(candidates, .metadata) { rows in
            opener.open(rows) { row, result in
                if let stored = match(row, result, candidates) { matches.append((ItemOrder(stored.item), row.rowID)) }
            }
        }
        matches.sort { $0.place < $1.place }
        for (_, rowID) in matches {
            guard found.items.count < limit else { return }
            try table.forEach(.row(rowID), parts) { row in
                if let stored = match(row, candidates) { take(stored, row, candidates) }
                return false
            }
        }
    }

    /// Constrained items are opened even if only their attributes are requested, to check the proofs.
    private var parts: ItemTable.Parts {
        switch purpose {
        case .deleting: .metadata
        case .reading(let includingValues, let proofs):
            includingValues || proofs.userKey != nil || proofs.applicationKey != nil ? .metadataAndValue : .metadata
        }
    }

    private var readsValues: Bool { if case .reading(includingValues: true, _) = purpose { true } else { false } }

    private var proofs: Proofs { if case .reading(_, let proofs) = purpose { proofs } else { Proofs() } }

    /// The item without its value, if it is selected. The reason why a row does not open is recorded.
    private mutating func match(_ row: SealedRow, _ candidates: ItemTable.Candidates) -> StoredItem? {
        match(row, OpenedRow { () throws(UnreadableRow) in try opener.open(row) }, candidates)
    }

    private mutating func match(
        _ row: SealedRow, _ opened: OpenedRow, _ candidates: ItemTable.Candidates
    ) -> StoredItem? {
        switch opened {
        case .item(let stored) where selection.matches(stored, proofs): return stored
        case .item(let stored): if !isIndexedCorrectly(stored, candidates) { note(.damaged, row, candidates) }
        case .unreadable(let failure): note(failure, row, candidates)
        }
        return nil
    }

    /// Adds a match to what is found. If its value is requested but does not open, that is recorded instead.
    private mutating func take(_ stored: StoredItem, _ row: SealedRow, _ candidates: ItemTable.Candidates) {
        do throws(UnreadableRow) {
            var opened = try withValue(stored, row)
            // Only one that is found alone is remembered.
            if found.items.isEmpty, readsValues { opened.found = FoundRow(row, of: opened.item) }
            found.items.append(opened)
        } catch {
            note(error, row, candidates)
        }
    }

    private mutating func note(_ failure: UnreadableRow, _ row: SealedRow, _ candidates: ItemTable.Candidates) {
        switch failure {
        case .locked: closed.append(row.rowID)
        case .ofAnotherDevice: boundToAnotherDevice.append(row.rowID)
        case .refused where selection.skipsConstrained: break
        case .refused(let needs): refused.formUnion(needs)
        case .damaged, .unknownKey:
            if case .unknownKey = failure { metUnknownKey = true }
            found.damaged += 1
            if isDecided(by: candidates) { damagedByKey.append(row.rowID) }
        }
    }

    private mutating func withValue(_ stored: StoredItem, _ row: SealedRow) throws(UnreadableRow) -> StoredItem {
        guard case .reading(let includingValues, let proofs) = purpose else { return stored }
        if stored.item.isOnToken, !selection.opensKey(stored.item) { return stored }
        let needs = stored.item.accessControl.needs
        let missing = proofs.missing(needs)
        if selection.namesConstrained, !selection.skipsConstrained, !includingValues, !needs.isEmpty {
            return try named(stored, row, needs, proofs)
        }
        self.missing.formUnion(missing)
        guard missing.isEmpty, includingValues || !needs.isEmpty else { return stored }
        var opened = stored
        let value = try opener.openValue(row, needs, proofs)
        if includingValues { opened.item.value = value }
        return opened
    }

    /// The item, or its listing entry if it requires more proofs than were given.
    private func named(
        _ stored: StoredItem, _ row: SealedRow, _ needs: Proofs.Needs, _ proofs: Proofs
    ) throws(UnreadableRow) -> StoredItem {
        guard proofs.missing(needs).isEmpty else { return stored.listingEntry }
        do throws(UnreadableRow) {
            _ = try opener.openValue(row, needs, proofs)
            return stored
        } catch {
            guard case .refused = error else { throw error }
            return stored.listingEntry
        }
    }

    /// An item under a key that is not its own was put there by an attacker. An entry of the lookup table that does not
    /// match its item is only stale: the item itself is intact and correctly indexed.
    private func isIndexedCorrectly(_ stored: StoredItem, _ candidates: ItemTable.Candidates) -> Bool {
        func key() -> KeyDigests { sealer.digests.key(stored.item) }
        return switch candidates {
        case .all, .row, .lookup, .keyClass: true
        case .key(let major, let minor): key().major == major && key().minor == minor
        case .major(let digest): key().major == digest
        case .minor(let digest): key().minor == digest
        }
    }

    /// Whether the digests that found the candidates cover all conditions of the selection.
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

    /// - Parameter leavingOut: Whether a search counts closed rows that are or may be selected, instead of failing.
    private mutating func judgeClosed(_ table: ItemTable, leavingOut: Bool) throws {
        let judge = LockedRow(selection: selection, digests: sealer.digests)
        for rowID in boundToAnotherDevice {
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
            case (_, .reading) where leavingOut: found.locked += 1
            // Locked items may be deleted; items that unlocking may not open are kept.
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
