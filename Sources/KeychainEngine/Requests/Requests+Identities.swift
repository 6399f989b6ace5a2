// SPDX-License-Identifier: Apache-2.0
// Requests for identities: pairs of a private key and a certificate of its public key, which no store has as items.

extension Requests {
    /// Checks a search for identities. None are ever found.
    ///
    /// - Throws: The errors of a search for certificates or keys; `unsupported` if there is an identity.
    func findNoIdentity(_ query: Query, accessGroups: AccessGroups) throws(KeychainError) {
        let (certificates, keys) = query.dividedForIdentities
        let groups = try certificates.searchSelection(accessGroups: accessGroups, dialect: engine.dialect).groups
        _ = try keys.searchSelection(accessGroups: accessGroups, dialect: engine.dialect)
        _ = try query.searchLimit()
        try checkNoIdentity(in: groups, query)
    }

    /// The same for an update. Its query and changes must be valid for both classes.
    func updateNoIdentity(_ query: Query, with changes: Changes, accessGroups: AccessGroups) throws(KeychainError) {
        let (certificates, keys) = query.repeatedForIdentities
        let groups = try certificates.updateSelection(accessGroups: accessGroups, dialect: engine.dialect).groups
        _ = try keys.updateSelection(accessGroups: accessGroups, dialect: engine.dialect)
        for itemClass in [ItemClass.certificate, .key] {
            _ = try Edit(changes, itemClass: itemClass, accessGroups: accessGroups)
        }
        try checkNoIdentity(in: groups, query)
    }

    /// The same for a deletion. Its query must be valid for both classes.
    func deleteNoIdentity(_ query: Query, accessGroups: AccessGroups) throws(KeychainError) {
        let (certificates, keys) = query.repeatedForIdentities
        let groups = try certificates.deleteSelection(accessGroups: accessGroups, dialect: engine.dialect).groups
        _ = try keys.deleteSelection(accessGroups: accessGroups, dialect: engine.dialect)
        try checkNoIdentity(in: groups, query)
    }

    /// The user is not asked: the names of protected items are sufficient. Public keys are marked as private too, as by
    /// Apple, so the class of the key is a condition.
    ///
    /// - Throws: `unsupported` if these groups contain a private key and a certificate with the hash of its public key.
    private func checkNoIdentity(in groups: [String]?, _ query: Query) throws(KeychainError) {
        var query = query
        query.authenticationUI = .fail
        let keys = Selection(
            itemClass: .key, conditions: [.isPrivate: .number(1), .keyClass: .number(1)], groups: groups)
        for key in try names(keys, limit: nil, query) {
            guard let hash = key.item.attributes[.applicationLabel], !hash.lookupBytes(as: .data).isEmpty else {
                continue
            }
            let certificates = Selection(itemClass: .certificate, conditions: [.publicKeyHash: hash], groups: groups)
            guard try names(certificates, limit: 1, query).isEmpty else { throw .identitiesUnsupported }
        }
    }

    private func names(_ selection: Selection, limit: Int?, _ query: Query) throws(KeychainError) -> [StoredItem] {
        var selection = selection
        selection.namesConstrained = true
        let found = try items.select(
            selection, limit: limit, includingValues: false, engine.authorization(query))
        if let failure = found.failure { throw failure }
        return found.items
    }
}

extension Query {
    /// A search for certificates and a search for keys, each with the attributes of its class. An attribute that
    /// neither class has stays in both, and is refused. Requests for object references and certificate evaluation are
    /// dropped: they make no difference if nothing is found.
    fileprivate var dividedForIdentities: (certificates: Query, keys: Query) {
        var search = self
        search.returns.remove(.reference)
        search.matchCriteria.removeAll { if case .certificate = $0 { true } else { false } }
        var (certificates, keys) = search.repeatedForIdentities
        for (attribute, _) in attributes {
            let isOfCertificates = ItemClass.certificate.schema[attribute] != nil
            let isOfKeys = ItemClass.key.schema[attribute] != nil
            if isOfCertificates, !isOfKeys { keys.attributes[attribute] = nil }
            if isOfKeys, !isOfCertificates { certificates.attributes[attribute] = nil }
        }
        return (certificates, keys)
    }

    /// The same request for certificates and for keys.
    fileprivate var repeatedForIdentities: (certificates: Query, keys: Query) {
        var (certificates, keys) = (self, self)
        (certificates.itemClass, keys.itemClass) = (.certificate, .key)
        (certificates.isForIdentities, keys.isForIdentities) = (false, false)
        return (certificates, keys)
    }
}

extension KeychainError {
    static let identitiesUnsupported = KeychainError(
        .unsupported, "Identities are not supported yet. Use the certificate and the key as items of their own.")
}
