// SPDX-License-Identifier: Apache-2.0
// Items of one name of either kind: those that take part in synchronization, and those that do not.

import Foundation
import KeychainEngine

extension StoreRequests {
    /// The item of the store's own kind; if there is none, that of the other.
    func findOwnKindFirst(_ account: String, includingValue: Bool) throws(KeychainError) -> StoredItem? {
        for synchronizable in [store.synchronizable, !store.synchronizable] {
            let requests = of(kind: synchronizable, in: store.accessGroup)
            if let found = try requests.find(account, includingValue: includingValue) { return found }
        }
        return nil
    }

    /// Saves into the item that is there, of whatever kind it is, so that there is one of the name in its access group.
    ///
    /// What is bound to this device, or asks for somebody, is never synchronizable: then an item that is makes way for one that
    /// is not.
    func saveInItsKind(
        _ account: String, _ value: Data, _ attributes: ItemAttributes
    ) throws(KeychainError) {
        guard !isInTransaction, engine.store.hasTransactions else { return try replaceBoth(account, value, attributes) }
        try engine.transaction(as: query(account)) { (requests) throws(KeychainError) in
            try StoreRequests(store, questions, in: requests).replaceBoth(account, value, attributes)
        }
    }

    /// Without transactions another program may come in between: then it saves first, so that the value is never gone.
    private func replaceBoth(_ account: String, _ value: Data, _ attributes: ItemAttributes) throws(KeychainError) {
        let (group, items) = try itemsMeant(account)
        let kind = kindToSave(over: items)
        try of(kind: kind, in: group).save(account, value, attributes)
        if items.contains(where: { $0.synchronizable != kind }) { _ = try of(kind: !kind, in: group).remove(account) }
    }

    /// - Returns: The access group that is meant (`nil`: a new item's) and the items that are there, of one kind or both.
    private func itemsMeant(_ account: String) throws(KeychainError) -> (group: String?, items: [KeychainItem]) {
        let found = try itemsThatOpen(account)
        let groups = Set(found.map(\.accessGroup))
        let group = groups.count > 1 ? caller.defaultGroup : groups.first ?? store.accessGroup
        guard groups.isEmpty || groups.contains(where: { $0 == group }) else { throw .severalItems }
        return (group, found.filter { $0.accessGroup == group })
    }

    /// Damaged ones are left to the saving, which takes their place.
    private func itemsThatOpen(_ account: String) throws(KeychainError) -> [KeychainItem] {
        var query = query(account)
        (query.returns, query.limit) = (.attributes, .all)
        do throws(KeychainError) {
            return try requests.find(query, caller: caller).map { KeychainItem($0) }
        } catch {
            guard error.reason == .corrupt else { throw error }
            return []
        }
    }

    private func kindToSave(over items: [KeychainItem]) -> Bool {
        if store.isBoundToDevice { return false }
        // Its protection stays, and with it the item that has it.
        if store.accessControl == nil, items.contains(where: { $0.accessControl?.isEmpty == false }) { return false }
        let kinds = Set(items.map(\.synchronizable))
        return kinds == [!store.synchronizable] ? !store.synchronizable : store.synchronizable
    }

    private func of(kind synchronizable: Bool, in group: String?) -> StoreRequests {
        var own = store
        (own.synchronizable, own.synchronizableAny, own.accessGroup) = (synchronizable, false, group)
        return StoreRequests(own, questions, in: isInTransaction ? requests : nil)
    }
}

extension SecretStore {
    /// Apple's keychain refuses items that take part in synchronization and ask for somebody.
    fileprivate var isBoundToDevice: Bool {
        accessibility?.isThisDeviceOnly == true || accessControl?.isEmpty == false
    }
}
