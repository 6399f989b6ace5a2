// SPDX-License-Identifier: Apache-2.0
// Requests for identities: pairs of a private key and a certificate of its public key, which no store has as items.

extension Requests {
    /// The identities that match: in the order of their keys, and of one key the newest certificate first.
    ///
    /// Both items must be in groups that the caller may read, and either both or neither must be synchronizable. The
    /// user is asked only for items that are returned, or whose certificate a criterion has to read.
    ///
    /// - Throws: `corrupt` if there is none and an item that may belong to one cannot be opened; `unsupported` for
    ///   criteria that this program cannot decide, if there is an identity; the errors of
    ///   ``Engine/copyMatching(_:accessGroups:)``.
    public func identities(_ query: Query, accessGroups: AccessGroups) throws(KeychainError) -> [StoredIdentity] {
        try query.checkIsWanted()
        if query.persistentReference?.id != nil, !query.dropping(engine.dialect).attributes.isEmpty {
            throw KeychainError(.invalidParameter, "A search by persistent reference takes no attributes.")
        }
        let limit = try query.searchLimit()
        let parts = try query.dividedForIdentities()
        var search = IdentitySearch(
            self, query,
            certificates: try parts.certificates.searchSelection(accessGroups: accessGroups, dialect: engine.dialect),
            keys: try parts.keys.searchSelection(accessGroups: accessGroups, dialect: engine.dialect))
        return try search.opened(limit)
    }

    /// Adds the certificate and the private key of `query.identity`, or the one of them that is not there. Either both
    /// are there at the end, or nothing has happened.
    ///
    /// - Throws: `duplicateItem` if both are there, or an item with the primary key of one that is another one;
    ///   `unsupported` if the store has no transactions; the errors of ``Engine/add(_:accessGroups:)``.
    @discardableResult
    public func addIdentity(_ query: Query, accessGroups: AccessGroups) throws(KeychainError) -> StoredIdentity {
        try query.checkIsWanted()
        guard query.identity != nil else { throw .identityIsTwoItems }
        guard query.value == nil else { throw .identityHasItsBytes }
        let date = engine.date()
        let parts = try query.repeatedForIdentities()
        let certificate = try parts.certificates.newItem(accessGroups: accessGroups, dialect: engine.dialect, at: date)
        let key = try parts.keys.newItem(accessGroups: accessGroups, dialect: engine.dialect, at: date)
        return try together(query) { (requests) throws(KeychainError) in
            let placedCertificate = try requests.placed(certificate, [.publicKeyHash], query)
            let placedKey = try requests.placed(key, [.isPrivate], query)
            guard placedCertificate.isNew || placedKey.isNew else {
                throw KeychainError(.duplicateItem, "This identity exists: both its certificate and its key.")
            }
            return StoredIdentity(certificate: placedCertificate.stored, key: placedKey.stored)
        }
    }

    /// The errors are those of an update of certificates and of keys: attributes must be valid for both.
    func updateIdentities(
        _ query: Query, with changes: Changes, accessGroups: AccessGroups
    ) throws(KeychainError) -> Int {
        guard query.persistentReference?.isOfIdentity != true else { throw .identityReferenceInUpdate }
        let search = try changingSearch(query) { (part) throws(KeychainError) in
            try part.updateSelection(accessGroups: accessGroups, dialect: engine.dialect)
        }
        guard changes.value == nil else { throw .identityHasItsBytes }
        let ofCertificates = try Edit(changes, itemClass: .certificate, accessGroups: accessGroups)
        let ofKeys = try Edit(changes, itemClass: .key, accessGroups: accessGroups)
        return try changed(search, query) { (requests, pairs) throws(KeychainError) in
            for certificate in pairs.certificates {
                try requests.applyToFound(ofCertificates, search.only(certificate), query)
            }
            for key in pairs.keys { try requests.applyToFound(ofKeys, search.only(key), query) }
        }
    }

    /// Removes the certificate of each pair, and its key unless another certificate needs it. The errors are those of a
    /// deletion of certificates and of keys.
    func deleteIdentities(_ query: Query, accessGroups: AccessGroups) throws(KeychainError) -> Int {
        let search = try changingSearch(query) { (part) throws(KeychainError) in
            try part.deleteSelection(accessGroups: accessGroups, dialect: engine.dialect)
        }
        let groups = try accessGroups.readableGroups()
        return try changed(search, query) { (requests, pairs) throws(KeychainError) in
            let authorization = engine.authorization(query)
            for certificate in pairs.certificates {
                _ = try requests.items.delete(search.only(certificate), authorization)
            }
            for key in pairs.keys {
                guard try !requests.hasCertificate(key, in: groups, authorization) else { continue }
                _ = try requests.removing(search.only(key), query)
            }
        }
    }
}

// MARK: - Several items in one transaction

extension Requests {
    private typealias Pairs = (certificates: [StoredItem], keys: [StoredItem])

    /// Checks a change, and finds what it selects. A group that it names is that of both items.
    private func changingSearch(
        _ query: Query, _ selection: (Query) throws(KeychainError) -> Selection
    ) throws(KeychainError) -> IdentitySearch {
        let checked = try query.repeatedForIdentities(withObject: false)
        _ = try selection(checked.certificates)
        _ = try selection(checked.keys)
        let parts = try query.dividedForIdentities(groupOfBoth: true)
        return IdentitySearch(
            self, query, certificates: try selection(parts.certificates), keys: try selection(parts.keys))
    }

    /// Runs `body` with the items that are selected when the transaction has begun, each once.
    ///
    /// - Returns: The number of pairs. If there is none, no transaction was begun.
    private func changed(
        _ search: IdentitySearch, _ query: Query, _ body: (Requests, Pairs) throws(KeychainError) -> Void
    ) throws(KeychainError) -> Int {
        var search = search
        guard try !search.named().isEmpty else { return 0 }
        return try together(query) { (requests) throws(KeychainError) in
            var current = search.within(requests)
            let pairs = try current.named()
            try body(requests, (Self.eachOnce(pairs.map(\.certificate)), Self.eachOnce(pairs.map(\.key))))
            return pairs.count
        }
    }

    private static func eachOnce(_ items: [StoredItem]) -> [StoredItem] {
        var seen: Set<PersistentReference> = []
        return items.filter { seen.insert($0.reference).inserted }
    }

    /// Runs `body` in the transaction of these requests, or in one of its own.
    private func together<Result>(
        _ query: Query, _ body: (Requests) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        guard items is any ItemStore else { return try body(self) }
        return try engine.transaction(as: query, body)
    }

    /// - Throws: `corrupt` if the item cannot be opened. Then nothing of the transaction happens.
    private func applyToFound(_ edit: Edit, _ selection: Selection, _ query: Query) throws(KeychainError) {
        let changed = try apply(edit, selection, query)
        guard !changed.items.isEmpty else { throw changed.failure ?? .noMatch }
    }

    /// Inserts an item, or finds the one that is in its place.
    ///
    /// - Parameter joining: The attributes by which the item belongs to its other half.
    /// - Throws: `duplicateItem` if the item in its place belongs to another one.
    private func placed(
        _ item: Item, _ joining: [Attribute], _ query: Query
    ) throws(KeychainError) -> (stored: StoredItem, isNew: Bool) {
        let authorization = engine.authorization(query)
        let (schema, key) = (item.itemClass.schema, PrimaryKey(item))
        var selection = Selection(itemClass: item.itemClass, groups: [item.accessGroup])
        for rule in [schema.major, schema.minor] {
            selection.conditions[rule.attribute] = item.attributes[rule.attribute]
        }
        selection.namesConstrained = true
        let others = try items.select(selection, limit: nil, includingValues: false, authorization).items
        guard others.contains(where: { PrimaryKey($0.item) == key }) else {
            return (try inserted(item, authorization), true)
        }
        for attribute in joining { selection.conditions[attribute] = item.attributes[attribute] }
        selection.namesConstrained = query.returns.isSubset(of: .persistentReference)
        let found = try items.select(selection, limit: nil, includingValues: query.readsValues, authorization).items
        guard let stored = found.first(where: { PrimaryKey($0.item) == key }) else {
            let name = item.itemClass == .key ? "key" : "certificate"
            throw KeychainError(.duplicateItem, "Another \(name) is in the place of this one. Remove it first.")
        }
        return (stored, false)
    }

    /// Whether a certificate of the key is left.
    ///
    /// - Throws: `corrupt` or `ofAnotherDevice` if the only one cannot be opened: the key may be needed with it.
    private func hasCertificate(
        _ key: StoredItem, in groups: [String]?, _ authorization: Authorization
    ) throws(KeychainError) -> Bool {
        var selection = Selection(itemClass: .certificate, groups: groups)
        selection.conditions[.publicKeyHash] = key.item.attributes[.applicationLabel]
        selection.namesConstrained = true
        let found = try items.select(selection, limit: 1, includingValues: false, authorization)
        if let failure = found.failure { throw failure }
        return !found.items.isEmpty
    }
}

extension KeychainError {
    static let identityIsTwoItems = KeychainError(
        .invalidParameter,
        "An identity is two items. Give it as an object (kSecValueRef), or name its certificate and its key.")
    fileprivate static let identityHasItsBytes = KeychainError(
        .invalidParameter, "The bytes of an identity are those of its certificate and its key. Give no others.")
    /// Apple's code.
    fileprivate static let identityReferenceInUpdate = KeychainError(
        .invalidParameter, "The persistent reference of an identity cannot be used in an update. Name its attributes.",
        status: -26276)
}
