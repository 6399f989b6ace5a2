// SPDX-License-Identifier: Apache-2.0
// The typed requests that the APIs use, on a store or within a transaction.

/// Requests of an engine, on its store or within one transaction. It is not an error if nothing matches.
///
/// ```swift
/// try engine.transaction(as: query) { requests throws(KeychainError) in
///     try requests.save(item, accessGroups: .unrestricted)
///     _ = try requests.delete(query, accessGroups: .unrestricted)
/// }
/// ```
public struct Requests {
    let engine: Engine
    let items: any ItemOperations
    /// What tokens forget when the transaction has happened; `nil` if each request is a transaction of its own.
    var removedKeys: RemovedTokenKeys?

    /// Adds an item.
    ///
    /// - Throws: The errors of ``Engine/add(_:accessGroups:)``.
    @discardableResult
    public func add(_ query: Query, accessGroups: AccessGroups) throws(KeychainError) -> StoredItem {
        try query.checkIsWanted()
        let item = try query.newItem(accessGroups: accessGroups, dialect: engine.dialect, at: engine.date())
        return try inserted(item, engine.authorization(query))
    }

    /// The items that match, in the order of ``ItemOrder``. If nothing matches, the list is empty. The items have
    /// values if `query.returns` includes them, or keys as objects. Identities are found by
    /// ``identities(_:accessGroups:)``.
    ///
    /// - Throws: `corrupt` if the only match cannot be opened, and the errors of
    ///   ``Engine/copyMatching(_:accessGroups:)``.
    public func find(_ query: Query, accessGroups: AccessGroups) throws(KeychainError) -> [StoredItem] {
        let found = try select(query, accessGroups: accessGroups)
        try Self.checkNotOnlyClosed(found)
        return found.items
    }

    /// The same with the number of items that may match and cannot be opened. It is not an error if there are only such
    /// items.
    package func select(_ query: Query, accessGroups: AccessGroups) throws(KeychainError) -> SelectedItems {
        try query.checkIsWanted()
        let selection = try query.searchSelection(accessGroups: accessGroups, dialect: engine.dialect)
        if selection.itemClass == .certificate, query.hasCertificateCriteria {
            return try certificates(query, selection)
        }
        return try items.select(
            selection, limit: query.searchLimit(), includingValues: query.readsValues,
            engine.authorization(query))
    }

    /// Whether an item matches. Does not ask the user: whether an item exists is no secret to them.
    package func contains(_ query: Query, accessGroups: AccessGroups) throws(KeychainError) -> Bool {
        var query = query
        query.authenticationUI = .fail
        // An empty context: a problem with the caller's context says nothing about the item.
        query.context = AuthenticationContext { nil }
        do throws(KeychainError) {
            return try !find(query, accessGroups: accessGroups).isEmpty
        } catch {
            // The item exists and requires authentication.
            guard error.reason == .interactionNotAllowed || error == .passcodeNotSet else { throw error }
            return true
        }
    }

    /// Changes every item that matches, or none. Returns the number of changed items; of identities the number of pairs.
    ///
    /// - Throws: The errors of ``Engine/update(_:with:accessGroups:)`` except `itemNotFound`.
    public func update(_ query: Query, with changes: Changes, accessGroups: AccessGroups) throws(KeychainError) -> Int {
        try query.checkIsWanted()
        guard !query.concernsIdentities else {
            return try updateIdentities(query, with: changes, accessGroups: accessGroups)
        }
        let selection = try query.updateSelection(accessGroups: accessGroups, dialect: engine.dialect)
        let edit = try Edit(changes, itemClass: query.resolvedClass(), accessGroups: accessGroups)
        let updated = try apply(edit, selection, query)
        try Self.checkNotOnlyClosed(updated)
        return updated.items.count
    }

    /// Removes every item that matches. Returns the number of removed items; of identities the number of pairs.
    ///
    /// - Throws: The errors of ``Engine/delete(_:accessGroups:)`` except `itemNotFound`.
    public func delete(_ query: Query, accessGroups: AccessGroups) throws(KeychainError) -> Int {
        try query.checkIsWanted()
        guard !query.concernsIdentities else { return try deleteIdentities(query, accessGroups: accessGroups) }
        let selection = try query.deleteSelection(accessGroups: accessGroups, dialect: engine.dialect)
        return try removing(selection, query)
    }

    /// Adds the item, or applies everything that `query` sets to the item with the same primary key: value, attributes,
    /// accessibility and access control. What `query` does not set stays as it is.
    ///
    /// If `query` names no access group, the item is searched in all groups of the caller. If several groups have one,
    /// the item in the caller's default group is used. The call is one transaction, or part of one.
    ///
    /// - Throws: `duplicateItem` if several groups have the item and the default group does not; otherwise the errors
    ///   of ``Engine/add(_:accessGroups:)`` and ``Engine/update(_:with:accessGroups:)``.
    public func save(_ query: Query, accessGroups: AccessGroups) throws(KeychainError) {
        // Without a transaction another process may add or remove the item between the two steps.
        for _ in 1...Self.tries {
            let changed = try change(query, accessGroups: accessGroups)
            guard changed.items.isEmpty else { return }
            do throws(KeychainError) {
                try add(query, accessGroups: accessGroups)
                return
            } catch {
                guard error.reason == .duplicateItem else { throw error }
                // The item exists and cannot be opened: it belongs to another device.
                try Self.checkNotOnlyClosed(changed)
            }
        }
        throw KeychainError(.busy, "Another process keeps adding and removing this item. Try again.")
    }

    private static let tries = 3

    /// - Returns: The items before the change; empty if there is no such item that opens.
    private func change(_ query: Query, accessGroups: AccessGroups) throws(KeychainError) -> SelectedItems {
        try query.checkIsWanted()
        let (key, changes) = try query.splitByPrimaryKey()
        let selection = try key.updateSelection(accessGroups: accessGroups, dialect: engine.dialect)
        let edit = try Edit(changes, itemClass: key.resolvedClass(), accessGroups: accessGroups)
        do throws(SeveralOrFailure) {
            return try applyToOne(edit, selection, key)
        } catch {
            if case .failure(let failure) = error { throw failure }
            var narrowed = selection
            narrowed.groups = [try accessGroups.groupForNewItems()]
            let changed = try apply(edit, narrowed, key)
            guard !changed.items.isEmpty else { throw .severalItems }
            return changed
        }
    }

    private enum SeveralOrFailure: Error {
        case several
        case failure(KeychainError)
    }

    /// - Throws: `several` if more than one item is selected; then nothing has changed.
    private func applyToOne(
        _ edit: Edit, _ selection: Selection, _ query: Query
    ) throws(SeveralOrFailure) -> SelectedItems {
        var only: StoredItem?
        var isSeveral = false
        let date = engine.date()
        do throws(KeychainError) {
            return try items.update(selection, engine.authorization(query)) { (stored) throws(KeychainError) in
                // In a store without transactions, an item that others remove and add meanwhile is found twice.
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

    func apply(
        _ edit: Edit, _ selection: Selection, _ query: Query
    ) throws(KeychainError) -> SelectedItems {
        let date = engine.date()
        return try items.update(selection, engine.authorization(query)) { (stored) throws(KeychainError) in
            try edit.applied(to: stored.item, at: date)
        }
    }

    private static func checkNotOnlyClosed(_ found: SelectedItems) throws(KeychainError) {
        if let failure = found.failure { throw failure }
    }
}

extension KeychainError {
    /// Several items have a name that should identify one.
    public static let severalItems = KeychainError(
        .duplicateItem, "Several items with this name are in different access groups. Name one of the groups.")
}

extension Query {
    /// The maximum number of items that a search returns; `nil` for no limit.
    ///
    /// - Throws: `invalidParameter` for a negative number.
    func searchLimit() throws(KeychainError) -> Int? {
        let count = (limit ?? .one).count
        if let count, count < 0 {
            throw KeychainError(.invalidParameter, "The limit of a search cannot be negative.")
        }
        return count
    }

    /// A call with several requests, each committed on its own, starts no more requests after the call has ended.
    ///
    /// - Throws: The error with which the call ended.
    func checkIsWanted() throws(KeychainError) { try questions?.gate?.check() }

    /// The primary key as the query, and the other attributes as changes.
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
