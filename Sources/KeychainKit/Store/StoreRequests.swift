// SPDX-License-Identifier: Apache-2.0
// What a store asks of the engine: from accounts and bytes to queries, and from found items back.

import Foundation
import KeychainEngine

/// The requests of one call of a store value.
struct StoreRequests {
    let store: SecretStore
    let questions: Query.Questions?
    let engine: Engine
    let caller: Caller
    /// Of the store itself, or of a transaction.
    let requests: Requests
    let isInTransaction: Bool

    /// - Parameter requests: Those of a transaction; `nil`: each is one of its own.
    init(_ store: SecretStore, _ questions: Query.Questions?, in requests: Requests? = nil) {
        // A call on items of either kind makes several requests, and asks one person once.
        self.store = store.synchronizableAny ? store.sharingContext : store
        self.questions = questions
        (engine, caller) = (store.backing.engine, store.backing.caller)
        self.requests = requests ?? engine.requests
        isInTransaction = requests != nil
    }

    // MARK: - Queries

    /// Everything in the store's place; with an account one item, or one in each access group.
    func query(_ account: String? = nil) -> Query {
        var attributes = store.place.attributes
        if let account { attributes[.account] = .string(account) }
        if let group = store.accessGroup { attributes[.accessGroup] = .string(group) }
        if !store.synchronizableAny { attributes[.synchronizable] = .number(store.synchronizable ? 1 : 0) }
        var query = Query(store.place.itemClass, attributes)
        query.synchronizableAny = store.synchronizableAny
        query.context = store.context
        query.operationPrompt = store.prompt
        query.questions = questions
        if !store.mayAsk { query.authenticationUI = .fail }
        return query
    }

    /// The same as an item to be added or changed.
    private func newItem(_ account: String, _ value: Data, _ attributes: ItemAttributes) -> Query {
        var query = query(account)
        for (attribute, value) in attributes.given { query.attributes[attribute] = value }
        query.value = value
        query.protection = store.protection
        return query
    }

    // MARK: - Reading

    /// - Throws: `duplicateItem` if there are several in different access groups, none of them in the default one.
    func find(_ account: String, includingValue: Bool) throws(KeychainError) -> StoredItem? {
        var query = query(account)
        query.returns = includingValue ? .value : .attributes
        query.limit = .atMost(2)
        let found = try requests.find(query, caller: caller)
        guard found.count > 1 else { return found.first }
        if store.synchronizableAny { return try findOwnKindFirst(account, includingValue: includingValue) }
        // In a keychain without transactions an item is seen twice that somebody replaces meanwhile: the last is the newest.
        if Set(found.map { Array($0.item.accessGroup.utf8) }).count == 1 { return found.last }
        query.attributes[.accessGroup] = .string(caller.defaultGroup)
        guard let meant = try requests.find(query, caller: caller).first else { throw .severalItems }
        return meant
    }

    /// Asks nobody: whether an item is there is no secret to the user.
    func contains(_ account: String) throws(KeychainError) -> Bool {
        var query = query(account)
        query.authenticationUI = .fail
        // One of its own: what is wrong with the store's says nothing about the item.
        query.context = AuthenticationContext { nil }
        do throws(KeychainError) {
            return try !requests.find(query, caller: caller).isEmpty
        } catch {
            // An item is there, and it asks for somebody.
            guard error.reason == .interactionNotAllowed || error == .passcodeNotSet else { throw error }
            return true
        }
    }

    /// - Parameter isAsking: Whether the user is asked for items that want it, and all of their attributes are shown.
    func items(_ filter: ItemFilter, isAsking: Bool = false) throws(KeychainError) -> [KeychainItem] {
        guard store.mayHold(filter), var query = filter.withoutPlace.query(store.place.itemClass) else { return [] }
        let own = self.query()
        for (attribute, value) in own.attributes { query.attributes[attribute] = value }
        query.synchronizableAny = own.synchronizableAny
        query.returns = .attributes
        (query.context, query.operationPrompt, query.questions) = (own.context, own.operationPrompt, own.questions)
        if !store.mayAsk, query.authenticationUI == .allow { query.authenticationUI = .fail }
        query.namesProtected = !isAsking
        return try requests.find(query, caller: caller).map { KeychainItem($0) }
    }

    // MARK: - Writing

    func save(_ account: String, _ value: Data, _ attributes: ItemAttributes) throws(KeychainError) {
        if store.synchronizableAny { return try saveInItsKind(account, value, attributes) }
        let query = newItem(account, value, attributes)
        if isInTransaction { try requests.save(query, caller: caller) } else { try engine.save(query, caller: caller) }
    }

    /// Without a group named, an item in any other group than the default one counts as well: it would be hidden by a new one.
    func create(_ account: String, _ value: Data, _ attributes: ItemAttributes) throws(KeychainError) {
        let item = newItem(account, value, attributes)
        guard store.accessGroup == nil else { return _ = try requests.add(item, caller: caller) }
        guard !isInTransaction, engine.store.hasTransactions else { return try add(item, ifAbsent: account) }
        try engine.transaction(as: item) { (requests) throws(KeychainError) in
            try StoreRequests(store, questions, in: requests).add(item, ifAbsent: account)
        }
    }

    private func add(_ item: Query, ifAbsent account: String) throws(KeychainError) {
        guard try !isKnownToContain(account) else { throw .isThereAlready }
        try requests.add(item, caller: caller)
    }

    /// Closed and damaged items are left to the adding, which takes the place of those that are damaged.
    private func isKnownToContain(_ account: String) throws(KeychainError) -> Bool {
        do throws(KeychainError) {
            return try contains(account)
        } catch {
            guard error.reason == .locked || error.reason == .corrupt else { throw error }
            return false
        }
    }

    func remove(_ account: String) throws(KeychainError) -> Bool {
        try requests.delete(query(account), caller: caller) > 0
    }

    func removeAll() throws(KeychainError) -> Int {
        try requests.delete(query(), caller: caller)
    }

    /// Replaces what was found, if it is still there as it was.
    ///
    /// - Parameters:
    ///   - found: `nil`: there was no item.
    ///   - value: `nil`: the item is removed.
    /// - Returns: `false`, and nothing has changed, if somebody else has changed it.
    func replace(
        _ account: String, _ found: StoredItem?, by value: Data?, _ attributes: ItemAttributes = ItemAttributes()
    ) throws(KeychainError) -> Bool {
        switch (found, value) {
        case (nil, nil): return true
        case (nil, let value?): return try createIfAbsent(account, value, attributes)
        case (let found?, nil): return try requests.delete(exactly(found), caller: caller) > 0
        case (let found?, let value?):
            var changes = Changes(attributes.given, value: value)
            changes.protection = store.protection
            return try requests.update(exactly(found), with: changes, caller: caller) > 0
        }
    }

    /// Changes all items of the store.
    func changeAll(_ changes: Changes) throws(KeychainError) -> Int {
        try requests.update(query(), with: changes, caller: caller)
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

    /// The item in the state in which it was found: its digest is new with every change.
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
        .duplicateItem, "There is an item for this account. Save over it, or name the access group for a new one.")
}

extension SecretStore {
    /// Whether an item can be both in this store and what a filter wants.
    fileprivate func mayHold(_ filter: ItemFilter) -> Bool {
        if !synchronizableAny, let wanted = filter.synchronizable, wanted != synchronizable { return false }
        guard let wanted = filter.accessGroup, let accessGroup else { return true }
        return wanted.utf8.elementsEqual(accessGroup.utf8)
    }
}

extension ItemFilter {
    /// The conditions but for those on the service or server.
    fileprivate var withoutPlace: ItemFilter {
        var rest = self
        (rest.service, rest.server, rest.domain, rest.protocol, rest.port) = (nil, nil, nil, nil, nil)
        (rest.path, rest.securityDomain, rest.authenticationType) = (nil, nil, nil)
        return rest
    }
}
