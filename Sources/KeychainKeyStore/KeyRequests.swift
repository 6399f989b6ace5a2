// SPDX-License-Identifier: Apache-2.0
// Translates tags and keys into queries of the engine, and its results back.

import Foundation
import KeychainEngine
import KeychainKeys
import KeychainKit
import SecretMemory

/// The requests of one call of a store.
struct KeyRequests {
    let store: KeyStore
    let questions: Query.Questions?
    /// Requests on the store itself, or within a transaction.
    let requests: Requests

    static let privateClass: Int64 = 1
    static let publicClass: Int64 = 0

    var accessGroups: AccessGroups { store.backing.accessGroups }

    /// - Parameter requests: The requests of a transaction. `nil`: each request is its own transaction.
    init(_ store: KeyStore, _ questions: Query.Questions?, in requests: Requests? = nil) {
        (self.store, self.questions) = (store, questions)
        self.requests = requests ?? Self.engine(store).requests
    }

    static func engine(_ store: KeyStore) -> Engine {
        var engine = store.backing.engine
        engine.tokens = store.tokens
        return engine
    }

    // MARK: - Queries

    func query(_ tag: String? = nil, keyClass: Int64 = privateClass) -> Query {
        var query = Query(.key, [.keyClass: .number(keyClass)])
        query.attributes[.applicationTag] = tag.map { .data(Data($0.utf8)) }
        query.attributes[.accessGroup] = store.accessGroup.map { .string($0) }
        setKind(of: &query)
        complete(&query)
        return query
    }

    /// Sets whether a search finds synchronizable items, or others, or both.
    func setKind(of query: inout Query) {
        query.synchronizableAny = store.coversBothKinds
        if !store.coversBothKinds { query.attributes[.synchronizable] = .number(store.synchronizable ? 1 : 0) }
    }

    func query(_ found: StoredItem) -> Query { query(found.id) }

    func query(_ id: UUID, _ itemClass: ItemClass = .key) -> Query {
        var query = Query(nil)
        query.persistentReference = PersistentReference(itemClass: itemClass, id: id)
        complete(&query)
        return query
    }

    func complete(_ query: inout Query) {
        (query.context, query.operationPrompt, query.questions) = (store.context, store.prompt, questions)
        if !store.allowsInteraction { query.authenticationUI = .fail }
    }

    // MARK: - Reading

    /// The keys without their bytes; of those that require authentication only the names.
    func names(_ tag: String?) throws(KeychainError) -> [StoredItem] { try names(query(tag)) }

    func names(_ query: Query) throws(KeychainError) -> [StoredItem] {
        try requests.find(nameQuery(query), accessGroups: accessGroups)
    }

    func nameQuery(_ query: Query) -> Query {
        var query = query
        (query.returns, query.limit, query.namesProtected) = (.attributes, .all, true)
        return query
    }

    /// The keys of a tag, in one access group.
    ///
    /// - Throws: `duplicateItem` if several groups have keys and the default group has none.
    func named(_ tag: String) throws(KeychainError) -> [StoredItem] {
        try Self.check(tag)
        let found = try names(tag)
        guard Set(found.map { Array($0.item.accessGroup.utf8) }).count > 1 else { return found }
        let own = found.filter { $0.item.accessGroup.utf8.elementsEqual(accessGroups.defaultGroup.utf8) }
        guard !own.isEmpty else { throw .severalItems }
        return own
    }

    static func check(_ tag: String) throws(KeychainError) {
        // Keys without a tag have an empty one.
        guard !tag.isEmpty else { throw KeychainError(.invalidParameter, "The tag of a key cannot be empty.") }
    }

    /// - Parameter type: Preferred if there are several keys; `nil`: any.
    func only(_ tag: String, _ type: KeyType? = nil) throws(KeychainError) -> StoredItem? {
        var found = try named(tag)
        let ofType = found.filter { KeyType($0.item) == type }
        if found.count > 1, !ofType.isEmpty { found = ofType }
        guard found.count < 2 else { throw .severalKeys }
        return found.first
    }

    func bytes(_ found: StoredItem) throws(KeychainError) -> SecretBytes? {
        try complete(query(found))?.bytes
    }

    /// - Returns: The item with all attributes and its value apart; `nil` if the item was removed meanwhile.
    func complete(_ query: Query) throws(KeychainError) -> (item: Item, bytes: SecretBytes)? {
        var query = query
        query.returns = .value
        var complete = try requests.find(query, accessGroups: accessGroups)
        guard !complete.isEmpty else { return nil }
        if let token = complete[0].item.tokenIdentifier { throw .isOnToken(token) }
        guard let bytes = complete[0].item.value?.withUnsafeBytes({ SecretBytes(copying: $0) }) else { throw .notAKey }
        complete[0].item.value?.wipe()
        complete[0].item.value = nil
        return (complete[0].item, bytes)
    }

    /// The bytes of the key of a tag.
    func read(_ wanted: KeyType, _ tag: String) throws(KeychainError) -> SecretBytes? {
        guard let found = try only(tag, wanted) else { return nil }
        let type = KeyType(found.item)
        guard type == wanted || found.item.mayBe(wanted) else { throw .otherType(type, than: wanted) }
        return try bytes(found)
    }

    func privateKey(_ tag: String) throws(KeychainError) -> UntypedKey? {
        guard let found = try only(tag) else { return nil }
        return try privateKey(query(found), KeyType(found.item))
    }

    func privateKey(of stored: StoredKey) throws(KeychainError) -> UntypedKey? {
        try privateKey(query(stored.id), stored.type)
    }

    private func privateKey(_ query: Query, _ type: KeyType?) throws(KeychainError) -> UntypedKey? {
        guard let kind = type?.kind else { throw .typeIsNotForThis }
        guard let (item, bytes) = try complete(query) else { return nil }
        do throws(KeyFailure) {
            let key = try PrivateKey(kind, externalRepresentation: bytes)
            return UntypedKey(key: key, isExtractable: item.attributes[.isExtractable] != .number(0))
        } catch {
            throw .notAKey
        }
    }

    func contains(_ tag: String) throws(KeychainError) -> Bool {
        try Self.check(tag)
        return try requests.contains(query(tag), accessGroups: accessGroups)
    }

    func key(_ tag: String) throws(KeychainError) -> StoredKey? {
        try only(tag).map { (found) throws(KeychainError) in try listed(found) }
    }

    func keys() throws(KeychainError) -> [StoredKey] {
        var keys: [StoredKey] = []
        for found in try names(nil) { keys.append(try listed(found)) }
        return keys
    }

    func listed(_ found: StoredItem) throws(KeychainError) -> StoredKey {
        guard found.item.accessControl.needs.isEmpty, found.item.value == nil, KeyType(found.item)?.kind != nil,
            !found.item.isOnToken
        else {
            return StoredKey(found, value: nil)
        }
        do throws(KeychainError) {
            return StoredKey(found, value: try bytes(found))
        } catch {
            // A list also has items that are no keys.
            guard error == .notAKey else { throw error }
            return StoredKey(found, value: nil)
        }
    }
}

extension Data {
    /// Overwrites the bytes, unless another owner still shares them.
    mutating func wipe() { resetBytes(in: startIndex..<endIndex) }
}
