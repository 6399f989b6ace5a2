// SPDX-License-Identifier: Apache-2.0
// The calls on items within one transaction of the vault.

import Foundation
import GRDB
import KeychainEngine

/// Lives as long as its transaction, on the thread that runs it.
final class VaultTransaction: ItemOperations {
    /// Why the last call failed, if proofs were all that it lacked.
    private(set) var obstacle: Obstacle?
    /// Whether anything is gone that should not be readable in the log either.
    private(set) var hasRemoved = false
    private var hasStored = false
    /// Whether it needs hardly any space.
    var hasOnlyRemoved: Bool { hasRemoved && !hasStored }
    /// Why a call failed that had written something by then: the transaction must not be kept, even if its body goes on.
    private(set) var damage: KeychainError?
    private let path: String
    private let sealer: RowSealer
    private let table: ItemTable
    private let items: ItemWriter
    private let proofs: Proofs

    /// - Parameter path: Of the database, for messages.
    init(_ path: String, _ sealer: RowSealer, _ transaction: WriteTransaction, _ proofs: Proofs) {
        self.path = path
        self.sealer = sealer
        table = transaction.table
        items = transaction.items
        self.proofs = proofs
    }

    func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _: Authorization
    ) throws(KeychainError) -> SelectedItems {
        guard limit ?? 1 > 0 else { return SelectedItems(items: []) }
        return try translating {
            var search = Search(selection, sealer, .reading(includingValues: includingValues, proofs))
            try search.run(table) { found in found.items.count < limit ?? .max }
            try stop(at: search.obstacle)
            return search.found
        }
    }

    func insert(_ item: Item, _: Authorization) throws(KeychainError) -> StoredItem {
        hasStored = true
        return try translating {
            try checkNewProofs(item)
            let rowID = try table.nextRowID()
            let id = sealer.makeID(rowID: rowID)
            let row = try sealer.seal(item, rowID: rowID, id: id, version: 1, proofs)
            let lookups = sealer.digests.lookups(item)
            try replacingDamaged(row) { try items.insert(row, lookups: lookups) }
            return StoredItem(id: id, version: 1, item: item)
        }
    }

    func update(
        _ selection: Selection, _: Authorization, _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        hasStored = true
        return try translating {
            var search = Search(selection, sealer, .reading(includingValues: true, proofs))
            try search.run(table)
            try stop(at: search.obstacle)
            let changes = try search.found.items.map { ($0, try change($0)) }
            for (_, item) in changes { try checkNewProofs(item) }
            for (stored, item) in changes { try replace(stored, by: item) }
            return search.found
        }
    }

    func delete(_ selection: Selection, _: Authorization) throws(KeychainError) -> Int {
        try translating {
            hasRemoved = true
            var search = Search(selection, sealer, .deleting)
            try search.run(table)
            for stored in search.found.items {
                try items.delete(sealer.rowID(of: stored.id), lookups: sealer.digests.lookups(stored.item))
            }
            for rowID in search.locked { try items.deleteClosed(rowID) }
            // What cannot be opened here is kept, so that somebody who has the key can put it back.
            let closed = search.damagedByKey + search.ofAnotherDevice
            for rowID in closed { try items.setAside(rowID, at: Date()) }
            let count = search.found.items.count + search.locked.count + closed.count
            if count == 0, let obstacle = search.found.obstacle { throw obstacle }
            return count
        }
    }

    // MARK: - Writing

    private func replace(_ stored: StoredItem, by item: Item) throws {
        let rowID = sealer.rowID(of: stored.id)
        let row = try sealer.seal(item, rowID: rowID, id: stored.id, version: stored.version + 1, proofs)
        let (lookups, previous) = (sealer.digests.lookups(item), sealer.digests.lookups(stored.item))
        try replacingDamaged(row) {
            try items.replace(row, lookups: lookups, previous: previous)
        }
    }

    /// Runs a write that may find its primary key taken. If the row that holds the key does not open, it is set aside and
    /// the write goes through; else, also if it is only locked, it is a duplicate.
    private func replacingDamaged(_ row: SealedRow, _ write: () throws -> Void) throws {
        do {
            try write()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            guard let key = row.key, let holder = try table.rowHolding(key) else { throw error }
            guard !sealer.holds(holder) else {
                throw KeychainError(.duplicateItem, "An item with the same primary key exists. Update it instead.")
            }
            try items.setAside(holder.rowID, at: Date())
            try write()
        }
    }

    // MARK: - Proofs

    /// A password that an item is to be protected with has to be there first. An item that cannot be stored needs none, and
    /// nobody should be asked for it.
    private func checkNewProofs(_ item: Item) throws {
        let missing = proofs.missing(item.accessControl.needs.intersection(.applicationPassword))
        guard !missing.isEmpty else { return }
        _ = try sealer.newestKeys(item.accessControl.accessibility)
        try stop(at: .needsNew(missing))
    }

    private func stop(at obstacle: Obstacle?) throws {
        self.obstacle = obstacle
        if obstacle != nil { throw KeychainError.interactionNotAllowed }
    }

    private func translating<Result>(_ body: () throws -> Result) throws(KeychainError) -> Result {
        let before = table.totalChangesCount
        do throws(KeychainError) {
            return try DatabaseFailure.translating(path, body)
        } catch {
            if table.totalChangesCount != before { damage = error }
            throw error
        }
    }
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
