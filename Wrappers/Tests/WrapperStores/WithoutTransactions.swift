// SPDX-License-Identifier: Apache-2.0
// Scripted stores with transactions and without.

public import KeychainEngine
public import KeychainTesting

extension ScriptedStore {
    public convenience init(over base: any ItemStore, hasTransactions: Bool) {
        self.init(over: hasTransactions ? base : WithoutTransactions(base: base))
    }

    /// Makes these calls fail, from the one with this number on.
    public func fail(_ fault: Fault, from number: Int, on kinds: Set<CallKind>) {
        // No test makes more of them.
        for next in number..<number + 50 { fail(fault, .nth(next), on: kinds) }
    }

    /// Makes every change fail that needs room.
    public func fillDisk() { fail(.full, .every, on: [.insert, .update, .transaction]) }
}

/// A store that makes each call for itself, and notices no changes.
private struct WithoutTransactions: ItemStore {
    let base: any ItemStore

    func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainError) -> SelectedItems {
        try base.select(selection, limit: limit, includingValues: includingValues, authorization)
    }

    func insert(_ item: Item, _ authorization: Authorization) throws(KeychainError) -> StoredItem {
        try base.insert(item, authorization)
    }

    func update(
        _ selection: Selection, _ authorization: Authorization, _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        try base.update(selection, authorization, change)
    }

    func delete(_ selection: Selection, _ authorization: Authorization) throws(KeychainError) -> Int {
        try base.delete(selection, authorization)
    }

    var lockState: LockState { get throws(KeychainError) { try base.lockState } }

    var userVerifier: (any UserVerifier)? { base.userVerifier }
}
