// SPDX-License-Identifier: Apache-2.0
// The four calls of an ItemStore.

import Foundation
import GRDB
public import KeychainEngine

extension Vault {
    public func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainFailure) -> SelectedItems {
        guard limit ?? 1 > 0 else { return SelectedItems(items: []) }
        return try authorization.satisfying(self) { (proofs) throws(KeychainFailure) in
            guard let session = try openSession(age: Self.lookInterval) else { return .done(SelectedItems(items: [])) }
            let search = try search(session, selection, limit, .reading(includingValues: includingValues, proofs))
            // Another process may be rotating the class keys.
            if search.metUnknownKey, try closeIfKeybagChanged(session), let session = try openSession() {
                return try self.search(
                    session, selection, limit, .reading(includingValues: includingValues, proofs)
                ).attempt
            }
            return search.attempt
        }
    }

    private func search(
        _ session: Session, _ selection: Selection, _ limit: Int?, _ purpose: Search.Purpose
    ) throws(KeychainFailure) -> Search {
        var search = Search(selection, try session.keyState.sealer(), purpose)
        return try DatabaseFailure.translating(location.databaseFile) {
            // One statement sees one state of the database, so no transaction is needed around it.
            try session.reader.unsafeRead { db in
                try search.run(ItemTable(db)) { found in found.items.count < limit ?? .max }
                return search
            }
        }
    }

    public func insert(_ item: Item, _ authorization: Authorization) throws(KeychainFailure) -> StoredItem {
        try authorization.satisfying(self) { (proofs) throws(KeychainFailure) in
            let missing = proofs.missing(item.accessControl.needs.intersection(.applicationPassword))
            if !missing.isEmpty {
                try checkStorable(item.accessControl)
                return .needsNew(missing)
            }
            return .done(
                try write { sealer, table in
                    let rowID = try table.nextRowID()
                    let id = sealer.makeID(rowID: rowID)
                    let row = try sealer.seal(item, rowID: rowID, id: id, version: 1, proofs)
                    let lookups = sealer.digests.lookups(item)
                    try Self.replacingDamaged(row, table, sealer) { try table.insert(row, lookups: lookups) }
                    return StoredItem(id: id, version: 1, item: item)
                })
        }
    }

    /// Before anybody is asked for a password: an item that cannot be stored needs none.
    private func checkStorable(_ accessControl: AccessControl) throws(KeychainFailure) {
        guard let session = try openSession() else { return }
        _ = try session.keyState.sealer().newestKeys(accessControl.accessibility)
    }

    public func update(
        _ selection: Selection, _ authorization: Authorization,
        _ change: (StoredItem) throws(KeychainFailure) -> Item
    ) throws(KeychainFailure) -> SelectedItems {
        guard try openSession() != nil else { return SelectedItems(items: []) }
        return try authorization.satisfying(self) { (proofs) throws(KeychainFailure) in
            var unsatisfied: Attempt<SelectedItems>?
            let found = try write { sealer, table in
                var search = Search(selection, sealer, .reading(includingValues: true, proofs))
                try search.run(table)
                unsatisfied = search.obstacle
                guard unsatisfied == nil else { return SelectedItems(items: []) }
                let changes = try search.found.items.map { ($0, try change($0)) }
                let needs = changes.reduce(into: Proofs.Needs()) { $0.formUnion($1.1.accessControl.needs) }
                let missing = proofs.missing(needs.intersection(.applicationPassword))
                guard missing.isEmpty else {
                    unsatisfied = .needsNew(missing)
                    return SelectedItems(items: [])
                }
                for (stored, item) in changes { try Self.replace(stored, by: item, sealer, table, proofs) }
                return search.found
            }
            return unsatisfied ?? .done(found)
        }
    }

    private static func replace(
        _ stored: StoredItem, by item: Item, _ sealer: RowSealer, _ table: ItemTable, _ proofs: Proofs
    ) throws {
        let rowID = sealer.rowID(of: stored.id)
        let row = try sealer.seal(item, rowID: rowID, id: stored.id, version: stored.version + 1, proofs)
        let (lookups, previous) = (sealer.digests.lookups(item), sealer.digests.lookups(stored.item))
        try replacingDamaged(row, table, sealer) {
            try table.replace(row, lookups: lookups, previous: previous)
        }
    }

    public func delete(_ selection: Selection) throws(KeychainFailure) -> Int {
        guard try openSession() != nil else { return 0 }
        return try write(emptyingLog: true) { sealer, table in
            var search = Search(selection, sealer, .deleting)
            try search.run(table)
            for stored in search.found.items {
                try table.delete(sealer.rowID(of: stored.id), lookups: sealer.digests.lookups(stored.item))
            }
            for rowID in search.locked { try table.deleteClosed(rowID) }
            for rowID in search.damagedByKey { try table.setAside(rowID, at: Date()) }
            let count = search.found.items.count + search.locked.count + search.damagedByKey.count
            guard count > 0 || search.found.damaged == 0 else { throw KeychainFailure.damagedItem }
            return count
        }
    }

    /// Runs a write that may find its primary key taken. If the row that holds the key does not open, it is set aside and
    /// the write goes through; else, also if it is only locked, it is a duplicate.
    private static func replacingDamaged(
        _ row: SealedRow, _ table: ItemTable, _ sealer: RowSealer, _ write: () throws -> Void
    ) throws {
        do {
            try write()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            guard let key = row.key, let holder = try table.rowHolding(key) else { throw error }
            guard !sealer.holds(holder) else {
                throw KeychainFailure(.duplicateItem, "An item with the same primary key exists. Update it instead.")
            }
            try table.setAside(holder.rowID, at: Date())
            try write()
        }
    }
}

extension Search {
    /// What keeps the search from showing what it found.
    fileprivate var obstacle: Attempt<SelectedItems>? {
        if !missing.isEmpty { return .needs(missing) }
        return refused.isEmpty ? nil : .refused(refused)
    }

    fileprivate var attempt: Attempt<SelectedItems> { obstacle ?? .done(found) }
}

extension RowSealer {
    /// Whether the row is an item that stays where it is.
    fileprivate func holds(_ row: SealedRow) -> Bool {
        do throws(UnreadableRow) {
            return try isWhole(row)
        } catch {
            switch error {
            case .locked, .ofAnotherDevice: return true
            case .damaged, .unknownKey, .refused: return false
            }
        }
    }
}
