// SPDX-License-Identifier: Apache-2.0
// The typed calls that the surfaces are made of: of a store, or within a transaction of it.

/// Requests of an engine, on its store or within one transaction of it. What matches nothing is no error here.
///
/// ```swift
/// try engine.transaction(as: query) { requests throws(KeychainError) in
///     try requests.save(item, caller: .unrestricted)
///     _ = try requests.delete(query, caller: .unrestricted)
/// }
/// ```
public struct Requests {
    let engine: Engine
    let items: any ItemOperations

    /// Adds an item.
    ///
    /// - Throws: What ``Engine/add(_:caller:)`` throws.
    @discardableResult
    public func add(_ query: Query, caller: Caller) throws(KeychainError) -> StoredItem {
        try query.checkIsWanted()
        let item = try query.newItem(caller: caller, dialect: engine.dialect, at: engine.date())
        return try items.insert(item, engine.authorization(query))
    }

    /// The items that match; none is no error. Values are there if `query.returns` has them.
    ///
    /// - Throws: `corrupt` if the only match cannot be opened, and what ``Engine/copyMatching(_:caller:)`` throws.
    public func find(_ query: Query, caller: Caller) throws(KeychainError) -> [StoredItem] {
        try query.checkIsWanted()
        let selection = try query.searchSelection(caller: caller, dialect: engine.dialect)
        let limit = query.limit ?? .one
        if let count = limit.count, count < 0 {
            throw KeychainError(.invalidParameter, "A search cannot be limited to less than no result.")
        }
        let found = try items.select(
            selection, limit: limit.count, includingValues: query.returns.contains(.value),
            engine.authorization(query))
        try Self.checkNotOnlyClosed(found)
        return found.items
    }

    /// Changes every item that matches, or none, and tells how many.
    ///
    /// - Throws: What ``Engine/update(_:with:caller:)`` throws, but for `itemNotFound`.
    public func update(_ query: Query, with changes: Changes, caller: Caller) throws(KeychainError) -> Int {
        try query.checkIsWanted()
        let selection = try query.updateSelection(caller: caller, dialect: engine.dialect)
        let edit = try Edit(changes, itemClass: query.resolvedClass(), caller: caller)
        let updated = try apply(edit, selection, query)
        try Self.checkNotOnlyClosed(updated)
        return updated.items.count
    }

    /// Removes every item that matches, and tells how many.
    ///
    /// - Throws: What ``Engine/delete(_:caller:)`` throws, but for `itemNotFound`.
    public func delete(_ query: Query, caller: Caller) throws(KeychainError) -> Int {
        try query.checkIsWanted()
        let selection = try query.deleteSelection(caller: caller, dialect: engine.dialect)
        return try items.delete(selection, engine.authorization(query))
    }

    /// Adds the item, or applies everything that `query` gives to the one that has its primary key: value, attributes,
    /// accessibility and access control. What it does not give stays as it is.
    ///
    /// Where `query` names no access group, the item is looked for in all of the caller's; of several the one in the
    /// caller's default group is meant. One transaction, or part of one.
    ///
    /// - Throws: `duplicateItem` if several items are meant, none of them in the default group; else what
    ///   ``Engine/add(_:caller:)`` and ``Engine/update(_:with:caller:)`` throw.
    public func save(_ query: Query, caller: Caller) throws(KeychainError) {
        // Outside of a transaction another process may add or remove the item between the two steps.
        for _ in 1...Self.tries {
            let changed = try change(query, caller: caller)
            guard changed.items.isEmpty else { return }
            do throws(KeychainError) {
                try add(query, caller: caller)
                return
            } catch {
                guard error.reason == .duplicateItem else { throw error }
                // It is there to stay, and cannot be opened: another device's.
                try Self.checkNotOnlyClosed(changed)
            }
        }
        throw KeychainError(.busy, "Another process keeps adding and removing this item. Try again.")
    }

    private static let tries = 3

    /// - Returns: What was there; no items if there is no such item that opens.
    private func change(_ query: Query, caller: Caller) throws(KeychainError) -> SelectedItems {
        try query.checkIsWanted()
        let (key, changes) = try query.splitByPrimaryKey()
        let selection = try key.updateSelection(caller: caller, dialect: engine.dialect)
        let edit = try Edit(changes, itemClass: key.resolvedClass(), caller: caller)
        do throws(SeveralOrFailure) {
            return try applyToOne(edit, selection, key)
        } catch {
            if case .failure(let failure) = error { throw failure }
            var narrowed = selection
            narrowed.groups = [try caller.groupForNewItems()]
            let changed = try apply(edit, narrowed, key)
            guard !changed.items.isEmpty else { throw .severalItems }
            return changed
        }
    }

    private enum SeveralOrFailure: Error {
        case several
        case failure(KeychainError)
    }

    /// - Throws: `several`, and nothing has changed, if more than one item is selected.
    private func applyToOne(
        _ edit: Edit, _ selection: Selection, _ query: Query
    ) throws(SeveralOrFailure) -> SelectedItems {
        var only: StoredItem?
        var isSeveral = false
        let date = engine.date()
        do throws(KeychainError) {
            return try items.update(selection, engine.authorization(query)) { (stored) throws(KeychainError) in
                // In a store without transactions an item that others remove and add meanwhile is seen twice.
                if let only, PrimaryKey(only.item) != PrimaryKey(stored.item) {
                    isSeveral = true
                    throw .severalItems
                }
                only = stored
                return try edit.applied(to: stored.item, at: date)
            }
        } catch {
            throw isSeveral ? .several : .failure(error)
        }
    }

    private func apply(
        _ edit: Edit, _ selection: Selection, _ query: Query
    ) throws(KeychainError) -> SelectedItems {
        let date = engine.date()
        return try items.update(selection, engine.authorization(query)) { (stored) throws(KeychainError) in
            try edit.applied(to: stored.item, at: date)
        }
    }

    private static func checkNotOnlyClosed(_ found: SelectedItems) throws(KeychainError) {
        if let obstacle = found.obstacle { throw obstacle }
    }
}

extension KeychainError {
    /// A name that leads to one item led to more.
    public static let severalItems = KeychainError(
        .duplicateItem, "Several items with this name are in different access groups. Name the group that is meant.")
}

extension Query {
    /// What consists of several requests, each committed on its own, begins none after its end.
    ///
    /// - Throws: What the request has ended with.
    fileprivate func checkIsWanted() throws(KeychainError) { try questions?.gate?.check() }

    /// The part that tells which item is meant, and the rest as changes to it.
    fileprivate func splitByPrimaryKey() throws(KeychainError) -> (key: Query, changes: Changes) {
        let schema = try resolvedClass().schema
        var key = self
        var changes = Changes(value: value)
        (changes.accessControl, changes.protection) = (accessControl, protection)
        for (attribute, value) in attributes where schema[attribute]?.keyPart == Schema.KeyPart.none {
            key.attributes[attribute] = nil
            changes.attributes[attribute] = value
        }
        (key.accessControl, key.protection) = (nil, nil)
        key.value = nil
        key.returns = []
        return (key, changes)
    }
}
