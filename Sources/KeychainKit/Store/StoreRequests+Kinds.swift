// SPDX-License-Identifier: Apache-2.0
// Items of one name of both kinds: synchronizable, and not.

import Foundation
import KeychainEngine

extension StoreRequests {
    /// The item of the store's own kind. If there is none, the item of the other kind.
    func findOwnKindFirst(_ account: String, includingValue: Bool) throws(KeychainError) -> StoredItem? {
        for synchronizable in [store.synchronizable, !store.synchronizable] {
            let requests = of(kind: synchronizable, in: store.accessGroup)
            if let found = try requests.find(account, includingValue: includingValue) { return found }
        }
        return nil
    }

    /// Saves to the existing item, whichever kind it is, so that its access group has one item of the name.
    ///
    /// An item that is bound to this device, or requires authentication, is never synchronizable. A synchronizable item
    /// is then replaced by one that is not.
    func saveInItsKind(
        _ account: String, _ value: Data, _ attributes: ItemAttributes
    ) throws(KeychainError) {
        guard !isInTransaction, engine.store.transactional != nil else {
            return try replaceBoth(account, value, attributes)
        }
        try engine.shortTransaction(as: query(account)) { (requests) throws(KeychainError) in
            try StoreRequests(store, questions, in: requests).replaceBoth(account, value, attributes)
        }
    }

    /// Without transactions another program may change items between the steps. So the new item is saved before the old
    /// one is removed, and the value is never lost.
    private func replaceBoth(_ account: String, _ value: Data, _ attributes: ItemAttributes) throws(KeychainError) {
        let found = try itemsThatOpen(account)
        let (group, items) = try itemsMeant(among: found ?? [])
        let kind = kindToSave(over: items)
        let own = of(kind: kind, in: group)
        if found?.isEmpty == true { return try own.saveNew(account, value, attributes) }
        try own.save(account, value, attributes)
        if items.contains(where: { $0.synchronizable != kind }) { _ = try of(kind: !kind, in: group).remove(account) }
    }

    /// - Returns: The access group to use (`nil`: the group of a new item) and the existing items in it, of one kind or
    ///   both.
    private func itemsMeant(
        among found: [KeychainItem]
    ) throws(KeychainError) -> (group: String?, items: [KeychainItem]) {
        let groups = Set(found.map(\.accessGroup))
        let group = groups.count > 1 ? accessGroups.defaultGroup : groups.first ?? store.accessGroup
        guard groups.isEmpty || groups.contains(where: { $0 == group }) else { throw .severalItems }
        return (group, found.filter { $0.accessGroup == group })
    }

    /// - Returns: `nil` if there are only damaged items; saving replaces them.
    private func itemsThatOpen(_ account: String) throws(KeychainError) -> [KeychainItem]? {
        var query = query(account)
        (query.returns, query.limit) = (.attributes, .all)
        do throws(KeychainError) {
            return try requests.find(query, accessGroups: accessGroups).map { KeychainItem($0) }
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

    private func of(kind synchronizable: Bool, in group: String?) -> StoreRequests {
        var own = store
        (own.synchronizable, own.options.synchronizableAny, own.accessGroup) = (synchronizable, false, group)
        return StoreRequests(own, questions, in: isInTransaction ? requests : nil)
    }
}

extension SecretStore {
    /// Apple's keychain refuses synchronizable items that require authentication.
    fileprivate var isBoundToDevice: Bool {
        accessibility?.isThisDeviceOnly == true || accessControl?.isEmpty == false
    }
}
