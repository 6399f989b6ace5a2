// SPDX-License-Identifier: Apache-2.0
// Requests on items of one name of both kinds: synchronizable, and not.

import Foundation
import KeychainEngine

/// The requests of one call of an ``EitherKindStore``.
struct EitherKindRequests {
    /// Requests on items of the store's own kind.
    let own: StoreRequests

    private var store: SecretStore { own.store }

    private func query(_ account: String) -> Query {
        var query = own.query(account)
        query.attributes[.synchronizable] = nil
        query.synchronizableAny = true
        return query
    }

    // MARK: - Reading and removing

    func find(_ account: String) throws(KeychainError) -> StoredItem? { try findOnce(account).item }

    /// Usually one request. If there are several items: the item of the store's own kind, otherwise that of the other.
    func findOnce(_ account: String) throws(KeychainError) -> FoundOnce {
        var query = query(account)
        (query.returns, query.limit) = (.value, .atMost(2))
        let found = try own.requests.find(query, accessGroups: own.accessGroups)
        guard found.count > 1 else { return FoundOnce(found.first, isOnly: true) }
        for kind in [store.synchronizable, !store.synchronizable] {
            if let found = try of(kind, in: store.accessGroup).find(account, includingValue: true) {
                return FoundOnce(found, isOnly: false)
            }
        }
        return FoundOnce(nil, isOnly: false)
    }

    func contains(_ account: String) throws(KeychainError) -> Bool {
        try own.requests.contains(query(account), accessGroups: own.accessGroups)
    }

    func remove(_ account: String) throws(KeychainError) -> Bool {
        try own.requests.delete(query(account), accessGroups: own.accessGroups) > 0
    }

    // MARK: - Saving

    /// Saves to the existing item, whichever kind it is, so that its access group has one item of the name.
    ///
    /// An item that is bound to this device, or requires authentication, is never synchronizable. A synchronizable item
    /// is then replaced by one that is not.
    func save(_ account: String, _ value: Data) throws(KeychainError) {
        guard own.engine.store.transactional != nil else { return try replaceBoth(account, value) }
        try own.engine.shortTransaction(as: query(account)) { (requests) throws(KeychainError) in
            let own = StoreRequests(store, own.questions, in: requests)
            try EitherKindRequests(own: own).replaceBoth(account, value)
        }
    }

    /// Without transactions another program may change items between the steps. So the new item is saved before the old
    /// one is removed, and the value is never lost.
    private func replaceBoth(_ account: String, _ value: Data) throws(KeychainError) {
        let found = try itemsThatOpen(account)
        let (group, items) = try itemsMeant(among: found ?? [])
        let kind = kindToSave(over: items)
        let saved = of(kind, in: group)
        if found?.isEmpty == true { return try saved.saveNew(account, value) }
        try saved.save(account, value, ItemAttributes())
        if items.contains(where: { $0.synchronizable != kind }) { _ = try of(!kind, in: group).remove(account) }
    }

    /// - Returns: The access group to use (`nil`: the group of a new item) and the existing items in it, of one kind or
    ///   both.
    private func itemsMeant(
        among found: [KeychainItem]
    ) throws(KeychainError) -> (group: String?, items: [KeychainItem]) {
        let groups = Set(found.map(\.accessGroup))
        let group = groups.count > 1 ? own.accessGroups.defaultGroup : groups.first ?? store.accessGroup
        guard groups.isEmpty || groups.contains(where: { $0 == group }) else { throw .severalItems }
        return (group, found.filter { $0.accessGroup == group })
    }

    /// - Returns: `nil` if there are only damaged items; saving replaces them.
    private func itemsThatOpen(_ account: String) throws(KeychainError) -> [KeychainItem]? {
        var query = query(account)
        (query.returns, query.limit) = (.attributes, .all)
        do throws(KeychainError) {
            return try own.requests.find(query, accessGroups: own.accessGroups).map { KeychainItem($0) }
        } catch {
            guard error.reason == .corrupt else { throw error }
            return nil
        }
    }

    private func kindToSave(over items: [KeychainItem]) -> Bool {
        if store.isBoundToDevice { return false }
        // The item keeps its access control, so it cannot become synchronizable.
        if store.accessControl == nil, items.contains(where: { $0.accessControl?.isEmpty == false }) { return false }
        let kinds = Set(items.map(\.synchronizable))
        return kinds == [!store.synchronizable] ? !store.synchronizable : store.synchronizable
    }

    private func of(_ synchronizable: Bool, in group: String?) -> StoreRequests {
        var store = store
        (store.synchronizable, store.accessGroup) = (synchronizable, group)
        return StoreRequests(store, own.questions, in: own.isInTransaction ? own.requests : nil)
    }
}

extension StoreRequests {
    /// Saves after no item was found. Without transactions another program may have added one since; it is overwritten.
    fileprivate func saveNew(_ account: String, _ value: Data) throws(KeychainError) {
        do throws(KeychainError) {
            try requests.add(newItem(account, value, ItemAttributes()), accessGroups: accessGroups)
        } catch {
            guard error.reason == .duplicateItem else { throw error }
            try save(account, value, ItemAttributes())
        }
    }
}

extension SecretStore {
    /// Apple's keychain refuses synchronizable items that require authentication.
    fileprivate var isBoundToDevice: Bool {
        accessibility?.isThisDeviceOnly == true || accessControl?.isEmpty == false
    }
}
