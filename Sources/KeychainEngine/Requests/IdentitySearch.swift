// SPDX-License-Identifier: Apache-2.0
// Finding identities: the join of private keys and certificates.

import Foundation

/// One search for identities. At first it finds only names, for which the user is not asked.
struct IdentitySearch {
    private let requests: Requests
    private let query: Query
    private let certificates: Selection
    private let keys: Selection
    private let authorization: Authorization
    /// Whether conditions exclude private keys.
    private let excludesAll: Bool
    /// Items that may match and cannot be opened.
    private var closed = SelectedItems(items: [])
    private var criteria: CertificateCriteria

    init(_ requests: Requests, _ query: Query, certificates: Selection, keys: Selection) {
        self.requests = requests
        self.query = query
        self.certificates = certificates
        var keys = keys
        // Public keys are marked as private too, as by Apple, so the class is a condition as well.
        let ofPrivateKeys: [Attribute] = [.keyClass, .isPrivate]
        excludesAll = ofPrivateKeys.contains { keys.conditions[$0]?.matches(.number(1), as: .number) == false }
        for attribute in ofPrivateKeys { keys.conditions[attribute] = .number(1) }
        self.keys = keys
        // One context for all steps: the user is asked once.
        var query = query
        query.context = requests.engine.authorization(query).context
        authorization = requests.engine.authorization(query)
        criteria = CertificateCriteria(requests, query, groups: certificates.groups, authorization)
    }

    /// The same search within a transaction.
    func within(_ requests: Requests) -> IdentitySearch {
        IdentitySearch(requests, query, certificates: certificates, keys: keys)
    }

    /// The item, if it still is what it was selected by.
    func only(_ stored: StoredItem) -> Selection {
        var selection = stored.item.itemClass == .key ? keys : certificates
        selection.id = stored.reference
        return selection
    }

    /// All pairs, by name.
    ///
    /// - Throws: `corrupt` if there is none, and an item that may belong to one cannot be opened.
    mutating func named() throws(KeychainError) -> [StoredIdentity] {
        var found: [StoredIdentity] = []
        for key in try privateKeys() { found += try identities(of: key) }
        try checkNotOnlyClosed(found)
        return found
    }

    /// The first pairs that fulfil the criteria, with what the query wants returned.
    mutating func opened(_ limit: Int?) throws(KeychainError) -> [StoredIdentity] {
        var found: [StoredIdentity] = []
        guard limit ?? 1 > 0 else { return found }
        for key in try privateKeys() {
            for identity in try fulfilling(identities(of: key)) {
                guard let opened = try opened(identity) else { continue }
                found.append(opened)
                if found.count == limit { return found }
            }
        }
        try checkNotOnlyClosed(found)
        return found
    }

    private func checkNotOnlyClosed(_ found: [StoredIdentity]) throws(KeychainError) {
        var closed = closed
        closed.add(criteria.closed)
        if found.isEmpty, let failure = closed.failure { throw failure }
    }

    // MARK: - Joining

    /// Private keys that may have a certificate. Certificates are searched first if there are conditions for them, so
    /// that not all keys have to be opened.
    private mutating func privateKeys() throws(KeychainError) -> [StoredItem] {
        guard !excludesAll else { return [] }
        let isOfCertificates = certificates.conditions.contains { $0.attribute != .synchronizable }
        guard certificates.id != nil || isOfCertificates else { return try privateKeys(keys) }
        let found = try names(certificates)
        // Names of constrained items lack the hash.
        let needsAll = found.contains {
            !$0.item.accessControl.needs.isEmpty && $0.item.attributes[.publicKeyHash] == nil
        }
        guard !needsAll else { return try privateKeys(keys) }
        var (seen, result): (Set<[UInt8]>, [StoredItem]) = ([], [])
        for hash in found.compactMap({ $0.item.attributes[.publicKeyHash] }) {
            guard seen.insert(hash.lookupBytes(as: .data)).inserted,
                let selection = keys.adding(hash, to: .applicationLabel)
            else { continue }
            result += try privateKeys(selection)
        }
        return result.inOrder()
    }

    private mutating func privateKeys(_ selection: Selection) throws(KeychainError) -> [StoredItem] {
        try names(selection).filter { !($0.item.attributes[.applicationLabel]?.lookupBytes(as: .data) ?? []).isEmpty }
    }

    private mutating func identities(of key: StoredItem) throws(KeychainError) -> [StoredIdentity] {
        guard let hash = key.item.attributes[.applicationLabel],
            var selection = certificates.adding(hash, to: .publicKeyHash)
        else { return [] }
        selection.conditions[.synchronizable] = key.item.attributes[.synchronizable] ?? .number(0)
        return try names(selection).map { StoredIdentity(certificate: $0, key: key) }
    }

    private mutating func names(_ selection: Selection) throws(KeychainError) -> [StoredItem] {
        var selection = selection
        selection.namesConstrained = true
        return note(try requests.items.select(selection, limit: nil, includingValues: false, authorization))
    }

    private mutating func note(_ found: SelectedItems) -> [StoredItem] {
        closed.add(found)
        return found.items
    }

    // MARK: - Opening

    /// The pair with what the query wants returned; `nil` if an item has gone meanwhile.
    private mutating func opened(_ identity: StoredIdentity) throws(KeychainError) -> StoredIdentity? {
        let ofCertificate = query.returns.contains(.reference)
        guard let certificate = try opened(identity.certificate, includingValue: ofCertificate),
            let key = try opened(identity.key, includingValue: query.readsValues)
        else { return nil }
        return StoredIdentity(certificate: certificate, key: key)
    }

    private mutating func opened(
        _ stored: StoredItem, includingValue: Bool
    ) throws(KeychainError) -> StoredItem? {
        guard includingValue || !stored.item.accessControl.needs.isEmpty else { return stored }
        let found = try requests.items.select(
            only(stored), limit: 1, includingValues: includingValue, authorization)
        return note(found).first
    }

    // MARK: - Criteria

    /// The identities of one key that fulfil the criteria, the newest certificate first.
    private mutating func fulfilling(_ identities: [StoredIdentity]) throws(KeychainError) -> [StoredIdentity] {
        guard !criteria.isEmpty || identities.count > 1 else { return identities }
        var found: [(identity: StoredIdentity, date: Date, index: Int)] = []
        for (index, identity) in identities.enumerated() {
            guard try criteria.allow(identity.certificate) else { continue }
            let value = try value(of: identity.certificate)
            let content = value.flatMap { query.readCertificate?($0) }
            guard try criteria.areFulfilled(value, content) else { continue }
            found.append((identity, content?.notBefore ?? .distantPast, index))
        }
        found.sort { $0.date != $1.date ? $0.date > $1.date : $0.index < $1.index }
        return found.map(\.identity)
    }

    /// The bytes of a certificate; `nil` if the query does not say how to read them.
    private mutating func value(of certificate: StoredItem) throws(KeychainError) -> Data? {
        guard query.readCertificate != nil else { return nil }
        return try opened(certificate, includingValue: true)?.item.value
    }
}

extension Selection {
    /// The selection with a further condition; `nil` if it contradicts one that there is.
    fileprivate func adding(_ value: AttributeValue, to attribute: Attribute) -> Selection? {
        if let given = conditions[attribute], !given.matches(value, as: .data) { return nil }
        var narrower = self
        narrower.conditions[attribute] = value
        return narrower
    }
}
