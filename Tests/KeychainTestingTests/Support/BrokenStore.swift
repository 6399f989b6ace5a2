// SPDX-License-Identifier: Apache-2.0
// Stores that are wrong on purpose, each in one way.

import Foundation
import KeychainEngine
import Synchronization

/// A store in memory with one defect.
final class BrokenStore: TransactionalStore {
    enum Defect: String, CaseIterable, Sendable {
        case duplicates, duplicatesReplace, deletesAndAdds, losesUpdates, keepsVersion, keepsDigest, ignoresGroups
        case returnsValues, losesValues, emptyIsNone, ignoresLimit, lockedIsAbsent, lockedIsEmptyUpdate, halfUpdates
        case swallowsThrownChange, normalises, ignoresConditions, ignoresHost, deletesOne, countsWrong, ignoresReference
        case showsProtected, skipsNothing, transactionsStay, transactionsSeeNothing, saysUnsupported
        case tellsNobody, tellsForEver, losesLabel, readsAndWritesApart, truncates, bytesOfTypesDiffer
        case missesUpdates, missesRemovals, missesRenamed, ignoresOrder
    }

    let base = MemoryStore()
    private let defect: Defect
    private let observations = Mutex<[StoreObservation]>([])

    init(_ defect: Defect) { self.defect = defect }

    // MARK: - Calls

    func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainError) -> SelectedItems {
        var selection = broken(selection)
        if defect == .showsProtected { return SelectedItems(items: try unprotected(selection, limit)) }
        if defect == .skipsNothing { selection.skipsConstrained = false }
        do throws(KeychainError) {
            var found = try base.select(
                selection, limit: defect == .ignoresLimit ? nil : limit,
                includingValues: includingValues || defect == .returnsValues, authorization)
            found.items = found.items.map(broken)
            if defect == .ignoresOrder { found.items.reverse() }
            return found
        } catch {
            guard defect == .lockedIsAbsent, error.reason == .locked else { throw error }
            return SelectedItems(items: [])
        }
    }

    func insert(_ item: Item, _ authorization: Authorization) throws(KeychainError) -> StoredItem {
        var item = item
        if defect == .normalises, case .string(let name) = item.attributes[.account] {
            item.attributes[.account] = .string(name.precomposedStringWithCanonicalMapping)
        }
        if defect == .losesLabel { item.attributes[.label] = nil }
        if defect == .truncates { item.value = item.value?.prefix(1 << 16) }
        do throws(KeychainError) {
            return try base.insert(item, authorization)
        } catch {
            guard error.reason == .duplicateItem else { throw error }
            return try insertDuplicate(item, error)
        }
    }

    func update(
        _ selection: Selection, _ authorization: Authorization,
        _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        let selection = broken(selection)
        switch defect {
        case .losesUpdates: return try base.select(selection, limit: nil, includingValues: true, authorization)
        case .deletesAndAdds: return try replace(selection, authorization, change)
        case .halfUpdates: return try updateEach(selection, authorization, change)
        case .readsAndWritesApart: return try updateApart(selection, authorization, change)
        default: break
        }
        do throws(KeychainError) {
            return try base.update(selection, authorization) { (stored) throws(KeychainError) in
                try self.broken(change(stored), of: stored)
            }
        } catch {
            let isSwallowed =
                defect == .swallowsThrownChange && error.reason == .typeMismatch
                || defect == .lockedIsEmptyUpdate && error.reason == .locked
            guard isSwallowed else { throw error }
            return SelectedItems(items: [])
        }
    }

    func delete(_ selection: Selection, _ authorization: Authorization) throws(KeychainError) -> Int {
        var selection = broken(selection)
        if defect == .deletesOne {
            guard let first = try base.select(selection, limit: 1, includingValues: false, .none).items.first else {
                return 0
            }
            selection = Selection(itemClass: nil, id: first.reference)
        }
        return try base.delete(selection, authorization) + (defect == .countsWrong ? 1 : 0)
    }

    var transactional: (any TransactionalStore)? { defect == .saysUnsupported ? nil : self }

    func transaction<Result>(
        _ authorization: Authorization, _ body: (any ItemOperations) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        switch defect {
        case .transactionsStay: return try body(self)
        case .transactionsSeeNothing:
            return try base.transaction(authorization) { (items) throws(KeychainError) in
                try body(
                    Blind(items: items, outside: try items.select(.passwords, limit: nil, includingValues: true, .none))
                )
            }
        default: return try base.transaction(authorization, body)
        }
    }

    var lockState: LockState { base.lockState }

    func observe(_ body: @escaping @Sendable () -> Void) throws(KeychainError) -> StoreObservation {
        if defect == .tellsNobody { return StoreObservation {} }
        let observation = try base.observe(body)
        guard defect == .tellsForEver else { return observation }
        observations.withLock { $0.append(observation) }
        return StoreObservation {}
    }

    func differences(
        _ selections: [Selection], from known: [UUID: UInt64]
    ) throws(KeychainError) -> ItemDifferences {
        var differences = base.differences(selections, from: known)
        if defect == .missesUpdates { differences.changed.removeAll { known[$0.id] != nil } }
        if defect == .missesRemovals { differences.gone = [] }
        if defect == .missesRenamed {
            let all = base.differences([.passwords], from: known)
            differences.gone.formIntersection(all.gone)
        }
        return differences
    }

    // MARK: - Defects

    private func broken(_ selection: Selection) -> Selection {
        var selection = selection
        if defect == .ignoresGroups { selection.groups = nil }
        if defect == .ignoresConditions { selection.conditions[.label] = nil }
        if defect == .ignoresHost { selection.host = nil }
        if defect == .ignoresReference { selection = Selection(itemClass: .genericPassword, groups: selection.groups) }
        if defect == .bytesOfTypesDiffer, case .data = selection.conditions[.generic] {
            selection.conditions[.generic] = .data(Data("no such".utf8))
        }
        return selection
    }

    private func broken(_ stored: StoredItem) -> StoredItem {
        var stored = stored
        if defect == .losesValues { stored.item.value = nil }
        if defect == .emptyIsNone, stored.item.value?.isEmpty == true { stored.item.value = nil }
        return defect == .keepsVersion ? StoredItem(id: stored.id, version: 1, item: stored.item) : stored
    }

    private func broken(_ item: Item, of stored: StoredItem) -> Item {
        var item = item
        if defect == .keepsDigest { item.attributes[.digest] = stored.item.attributes[.digest] }
        return item
    }

    private func unprotected(_ selection: Selection, _ limit: Int?) throws(KeychainError) -> [StoredItem] {
        do throws(KeychainError) {
            return try base.select(selection, limit: limit, includingValues: true, .none).items
        } catch {
            guard error.reason == .interactionNotAllowed else { throw error }
            return []
        }
    }

    private func insertDuplicate(_ item: Item, _ error: KeychainError) throws(KeychainError) -> StoredItem {
        switch defect {
        case .duplicates: return StoredItem(id: UUID(), version: 1, item: item)
        case .duplicatesReplace:
            _ = try base.update(.passwords, .none) { _ in item }
            throw error
        default: throw error
        }
    }

    private func replace(
        _ selection: Selection, _ authorization: Authorization, _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        let found = try base.select(selection, limit: nil, includingValues: true, authorization)
        for stored in found.items {
            _ = try base.delete(Selection(itemClass: nil, id: stored.reference))
            _ = try base.insert(change(stored), authorization)
        }
        return found
    }

    private func updateEach(
        _ selection: Selection, _ authorization: Authorization, _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        let found = try base.select(selection, limit: nil, includingValues: true, authorization)
        for stored in found.items {
            _ = try base.update(Selection(itemClass: nil, id: stored.reference), authorization, change)
        }
        return found
    }

    private func updateApart(
        _ selection: Selection, _ authorization: Authorization, _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        let found = try base.select(selection, limit: nil, includingValues: true, authorization)
        var changed: [UUID: Item] = [:]
        for stored in found.items { changed[stored.id] = try change(stored) }
        Thread.sleep(forTimeInterval: 0.001)
        return try base.update(selection, authorization) { stored in changed[stored.id] ?? stored.item }
    }
}

/// Reads within a transaction what was there before it.
private struct Blind: ItemOperations {
    let items: any ItemOperations
    let outside: SelectedItems

    func select(
        _: Selection, limit: Int?, includingValues: Bool, _: Authorization
    ) throws(KeychainError) -> SelectedItems { outside }

    func insert(_ item: Item, _ authorization: Authorization) throws(KeychainError) -> StoredItem {
        try items.insert(item, authorization)
    }

    func update(
        _ selection: Selection, _ authorization: Authorization, _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems { try items.update(selection, authorization, change) }

    func delete(_ selection: Selection, _ authorization: Authorization) throws(KeychainError) -> Int {
        try items.delete(selection, authorization)
    }
}

extension Selection {
    static var passwords: Selection { Selection(itemClass: .genericPassword) }
}
