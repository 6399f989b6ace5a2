// SPDX-License-Identifier: Apache-2.0
// Translates accounts and bytes into queries of the engine, and its results back.

import Foundation
import KeychainEngine

/// The requests of one call of a store.
struct StoreRequests {
    let store: SecretStore
    let questions: Query.Questions?
    let engine: Engine
    let accessGroups: AccessGroups
    /// Requests on the store itself, or within a transaction.
    let requests: Requests
    let isInTransaction: Bool

    /// - Parameter requests: The requests of a transaction. `nil`: each request is its own transaction.
    init(_ store: SecretStore, _ questions: Query.Questions?, in requests: Requests? = nil) {
        (self.store, self.questions) = (store, questions)
        (engine, accessGroups) = (store.backing.engine, store.backing.accessGroups)
        self.requests = requests ?? engine.requests
        isInTransaction = requests != nil
    }

    // MARK: - Queries

    /// All items of the store's service or server. With an account: one item, or one in each access group.
    func query(_ account: String? = nil) -> Query {
        var attributes = store.place.attributes
        if let account { attributes[.account] = .string(account) }
        if let group = store.accessGroup { attributes[.accessGroup] = .string(group) }
        attributes[.synchronizable] = .number(store.synchronizable ? 1 : 0)
        var query = Query(store.place.itemClass, attributes)
        query.context = store.context
        query.operationPrompt = store.prompt
        query.questions = questions
        if !store.allowsInteraction { query.authenticationUI = .fail }
        return query
    }

    /// The same as a new item or a change.
    func newItem(_ account: String, _ value: Data, _ attributes: ItemAttributes) -> Query {
        var query = query(account)
        for (attribute, value) in attributes.given { query.attributes[attribute] = value }
        query.value = value
        query.protection = store.protection
        return query
    }

    // MARK: - Reading

    /// - Throws: `duplicateItem` if several access groups have an item and the default group has none.
    func find(_ account: String, includingValue: Bool) throws(KeychainError) -> StoredItem? {
        try findOnce(account, includingValue: includingValue).item
    }

    /// The same, with whether there was only one.
    func findOnce(_ account: String, includingValue: Bool) throws(KeychainError) -> FoundOnce {
        var query = query(account)
        query.returns = includingValue ? .value : .attributes
        query.limit = .atMost(2)
        let found = try requests.find(query, accessGroups: accessGroups)
        guard found.count > 1 else { return FoundOnce(found.first, isOnly: true) }
        // In a keychain without transactions, an item that another program replaces meanwhile is found twice. The last
        // one is the newest.
        if Set(found.map { Array($0.item.accessGroup.utf8) }).count == 1 { return FoundOnce(found.last, isOnly: false) }
        query.attributes[.accessGroup] = .string(accessGroups.defaultGroup)
        guard let meant = try requests.find(query, accessGroups: accessGroups).first else { throw .severalItems }
        return FoundOnce(meant, isOnly: false)
    }

    func contains(_ account: String) throws(KeychainError) -> Bool {
        try requests.contains(query(account), accessGroups: accessGroups)
    }

    /// - Parameter isAsking: Whether the user is asked for items that require authentication, to get all of their
    ///   attributes.
    func items(_ filter: ItemFilter, isAsking: Bool = false) throws(KeychainError) -> [KeychainItem] {
        guard store.mayHold(filter), var query = filter.withoutPlace.query(store.place.itemClass) else { return [] }
        let own = self.query()
        for (attribute, value) in own.attributes { query.attributes[attribute] = value }
        query.returns = .attributes
        (query.context, query.operationPrompt, query.questions) = (own.context, own.operationPrompt, own.questions)
        if !store.allowsInteraction, query.authenticationUI == .allow { query.authenticationUI = .fail }
        query.namesProtected = !isAsking
        return try requests.find(query, accessGroups: accessGroups).map { KeychainItem($0) }
    }

    // MARK: - Writing

    func save(_ account: String, _ value: Data, _ attributes: ItemAttributes) throws(KeychainError) {
        let query = newItem(account, value, attributes)
        if isInTransaction {
            try requests.save(query, accessGroups: accessGroups)
        } else {
            try engine.save(query, accessGroups: accessGroups)
        }
    }

    /// Without a named group, an item in any other group than the default one counts as well: the new item would hide
    /// it.
    func create(_ account: String, _ value: Data, _ attributes: ItemAttributes) throws(KeychainError) {
        let item = newItem(account, value, attributes)
        guard store.accessGroup == nil else { return _ = try requests.add(item, accessGroups: accessGroups) }
        guard !isInTransaction, engine.store.transactional != nil else { return try add(item, ifAbsent: account) }
        try engine.shortTransaction(as: item) { (requests) throws(KeychainError) in
            try StoreRequests(store, questions, in: requests).add(item, ifAbsent: account)
        }
    }

    private func add(_ item: Query, ifAbsent account: String) throws(KeychainError) {
        guard try !isKnownToContain(account) else { throw .isThereAlready }
        try requests.add(item, accessGroups: accessGroups)
    }

    /// Locked and damaged items are left to the addition, which replaces damaged items.
    private func isKnownToContain(_ account: String) throws(KeychainError) -> Bool {
        do throws(KeychainError) {
            return try contains(account)
        } catch {
            guard error.reason == .locked || error.reason == .corrupt else { throw error }
            return false
        }
    }

    func remove(_ account: String) throws(KeychainError) -> Bool {
        try requests.delete(query(account), accessGroups: accessGroups) > 0
    }

    func removeAll() throws(KeychainError) -> Int {
        try requests.delete(query(), accessGroups: accessGroups)
    }

    /// Replaces the item that was found, if it has not changed since.
    ///
    /// - Parameters:
    ///   - found: `nil`: there was no item.
    ///   - value: `nil`: remove the item.
    /// - Returns: `false` if another program has changed it; then nothing has changed.
    func replace(
        _ account: String, _ found: StoredItem?, by value: Data?, _ attributes: ItemAttributes = ItemAttributes()
    ) throws(KeychainError) -> Bool {
        switch (found, value) {
        case (nil, nil): return true
        case (nil, let value?): return try createIfAbsent(account, value, attributes)
        case (let found?, nil): return try requests.delete(exactly(found), accessGroups: accessGroups) > 0
        case (let found?, let value?):
            var changes = Changes(attributes.given, value: value)
            changes.protection = store.protection
            return try requests.update(exactly(found), with: changes, accessGroups: accessGroups) > 0
        }
    }

    private func createIfAbsent(
        _ account: String, _ value: Data, _ attributes: ItemAttributes
    ) throws(KeychainError) -> Bool {
        do throws(KeychainError) {
            try create(account, value, attributes)
            return true
        } catch {
            guard error.reason == .duplicateItem else { throw error }
            return false
        }
    }

    /// Matches the item in the version that was found: its digest changes with every change.
    private func exactly(_ found: StoredItem) -> Query {
        var query = query()
        for rule in found.item.itemClass.schema.primaryKey {
            if let value = found.item[rule.attribute] { query.attributes[rule.attribute] = value }
        }
        query.attributes[.digest] = found.item[.digest]
        return query
    }
}

extension KeychainError {
    fileprivate static let isThereAlready = KeychainError(
        .duplicateItem, "An item for this account exists. Save to it, or name the access group of a new item.")
}

extension SecretStore {
    /// Whether an item of this store can match a filter.
    fileprivate func mayHold(_ filter: ItemFilter) -> Bool {
        if let wanted = filter.synchronizable, wanted != synchronizable { return false }
        guard let wanted = filter.accessGroup, let accessGroup else { return true }
        return wanted.utf8.elementsEqual(accessGroup.utf8)
    }
}

extension ItemFilter {
    /// The conditions without those on the service or server.
    fileprivate var withoutPlace: ItemFilter {
        var rest = self
        (rest.service, rest.server, rest.domain, rest.protocol, rest.port) = (nil, nil, nil, nil, nil)
        (rest.path, rest.securityDomain, rest.authenticationType) = (nil, nil, nil)
        return rest
    }
}
