// SPDX-License-Identifier: Apache-2.0
// The calls of a transaction that may change shared items only.

import KeychainEngine
import KeychainSyncCore

/// Refuses a change that other machines would not learn of: nobody could confirm it.
struct SharedOperations: ItemOperations {
    let base: any ItemOperations
    /// `nil`: any group.
    let policy: Policy?

    func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainError) -> SelectedItems {
        try base.select(selection, limit: limit, includingValues: includingValues, authorization)
    }

    func insert(_ item: Item, _ authorization: Authorization) throws(KeychainError) -> StoredItem {
        try check(item)
        return try base.insert(item, authorization)
    }

    func update(
        _ selection: Selection, _ authorization: Authorization,
        _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        try base.update(selection, authorization) { (stored) throws(KeychainError) in
            let item = try change(stored)
            try check(stored.item)
            try check(item)
            return item
        }
    }

    func delete(_ selection: Selection, _ authorization: Authorization) throws(KeychainError) -> Int {
        for stored in try base.select(selection, limit: nil, includingValues: false, authorization).items {
            try check(stored.item)
        }
        return try base.delete(selection, authorization)
    }

    private func check(_ item: Item) throws(KeychainError) {
        guard item.isShared, policy?.shares(item.accessGroup) ?? true else { throw .notShared }
        guard item.value?.count ?? 0 <= Bounds.object else { throw .tooLargeToConfirm }
    }
}

extension KeychainError {
    fileprivate static let notShared = KeychainError(
        .invalidParameter,
        "Only a change of an item that is shared with other machines can be confirmed. Mark the item as synchronizable, or "
            + "save it without confirmation.")
    static let tooLargeToConfirm = KeychainError(
        .tooLarge, "A confirmed change has less than 1 MiB in all. Nothing was changed. Make several smaller changes.")
}
