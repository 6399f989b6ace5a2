// SPDX-License-Identifier: Apache-2.0
// The criteria of a search that are about the content of certificates, and about those that issued them.

import Foundation

/// What a search demands of certificates beyond their attributes. One value is for a whole search: it remembers issuers.
struct CertificateCriteria {
    private let requests: Requests
    private let query: Query
    private let wanted: [Query.CertificateCriterion]
    /// The access groups in which issuers are looked for.
    private let groups: [String]?
    private let authorization: Authorization
    /// Issuers that may fulfil a criterion and cannot be opened.
    private(set) var closed = SelectedItems(items: [])
    /// The names of issuers in the certificates of a subject.
    private var issuers: [[UInt8]: [AttributeValue]] = [:]
    /// Whether a certificate of an issuer fulfils the criteria for issuers.
    private var verdicts: [[UInt8]: Bool] = [:]

    init(_ requests: Requests, _ query: Query, groups: [String]?, _ authorization: Authorization) {
        (self.requests, self.query, self.groups, self.authorization) = (requests, query, groups, authorization)
        wanted = query.certificateCriteria
    }

    var isEmpty: Bool { wanted.isEmpty }

    /// Whether the bytes of certificates are needed.
    var needValues: Bool {
        wanted.contains { if case .issuers = $0 { false } else { true } }
    }

    /// Whether the criteria for issuers are fulfilled. For these the name of the item suffices.
    ///
    /// - Throws: `unsupported` for a criterion that this program cannot decide, also of other kinds.
    mutating func allow(_ certificate: StoredItem) throws(KeychainError) -> Bool {
        try query.checkDecidesCriteria()
        let names = wanted.compactMap { if case .issuers(let names) = $0 { names } else { nil } }
        guard !names.isEmpty else { return true }
        guard let issuer = certificate.item.attributes[.issuer] else { return false }
        let key = issuer.lookupBytes(as: .data)
        if let known = verdicts[key] { return known }
        var isIssued = true
        for names in names where isIssued { isIssued = try self.isIssued(below: issuer, by: names) }
        verdicts[key] = isIssued
        return isIssued
    }

    /// Whether the other criteria are fulfilled.
    ///
    /// - Parameters:
    ///   - value: The bytes; `nil` if the item has none.
    ///   - content: What ``Query/readCertificate`` read in them; `nil` if they are not a certificate.
    func areFulfilled(_ value: Data?, _ content: CertificateContent?) throws(KeychainError) -> Bool {
        for criterion in wanted {
            let isFulfilled =
                switch criterion {
                case .issuers: true
                case .policy, .trustedOnly: try isJudged(criterion, content == nil ? nil : value)
                case .validOnDate(let date): content?.isValid(at: date ?? requests.engine.date()) ?? false
                case .emailAddress(let address): content?.hasAddress(address) ?? false
                }
            guard isFulfilled else { return false }
        }
        return true
    }

    private func isJudged(
        _ criterion: Query.CertificateCriterion, _ certificate: Data?
    ) throws(KeychainError) -> Bool {
        guard let certificate, let judge = query.judgeCertificate else { return false }
        return try judge(criterion, certificate)
    }

    /// Apple's limit.
    private static let longestChain = 10

    /// Whether one of the names is the issuer of a certificate in the chain. The chain is that of the names; no signature
    /// is verified.
    ///
    /// - Parameter issuer: That of the first certificate of the chain.
    private mutating func isIssued(below issuer: AttributeValue, by names: [Data]) throws(KeychainError) -> Bool {
        var seen: Set<[UInt8]> = [[]]
        var next = [issuer]
        for _ in 1...Self.longestChain {
            let found = next.filter { seen.insert($0.lookupBytes(as: .data)).inserted }
            if found.contains(where: { name in names.contains { .data($0) == name } }) { return true }
            next = []
            for name in found { next += try issuers(ofSubject: name) }
        }
        return false
    }

    /// Each name once: many certificates of one subject may have the same issuer.
    private mutating func issuers(ofSubject name: AttributeValue) throws(KeychainError) -> [AttributeValue] {
        let key = name.lookupBytes(as: .data)
        if let known = issuers[key] { return known }
        var selection = Selection(itemClass: .certificate, conditions: [.subject: name], groups: groups)
        selection.namesConstrained = true
        let stored = try requests.items.select(selection, limit: nil, includingValues: false, authorization)
        closed.add(stored)
        var seen: Set<[UInt8]> = []
        let found = stored.items.compactMap { $0.item.attributes[.issuer] }
            .filter { seen.insert($0.lookupBytes(as: .data)).inserted }
        issuers[key] = found
        return found
    }
}

// MARK: - Searching certificates

extension Requests {
    /// The certificates that fulfil the criteria of a search. They are opened one by one, so that the user is asked only
    /// for those that are returned or that a criterion has to read.
    func certificates(_ query: Query, _ selection: Selection) throws(KeychainError) -> SelectedItems {
        let limit = try query.searchLimit() ?? .max
        guard limit > 0 else { return SelectedItems(items: []) }
        // One context for all steps: the user is asked once.
        let authorization = engine.authorization(query)
        var criteria = CertificateCriteria(self, query, groups: selection.groups, authorization)
        var names = selection
        names.namesConstrained = true
        var found = try items.select(names, limit: nil, includingValues: false, authorization)
        let candidates = found.items
        found.items = []
        for candidate in candidates where found.items.count < limit {
            guard try criteria.allow(candidate) else { continue }
            var only = selection
            only.id = candidate.reference
            let opened = try items.select(
                only, limit: 1, includingValues: criteria.needValues || query.readsValues, authorization)
            found.add(opened)
            guard var stored = opened.items.first else { continue }
            let content = stored.item.value.flatMap { query.readCertificate?($0) }
            guard try criteria.areFulfilled(stored.item.value, content) else { continue }
            if !query.readsValues { stored.item.value = nil }
            found.items.append(stored)
        }
        found.add(criteria.closed)
        return found
    }
}

extension SelectedItems {
    /// Counts the items of another selection that cannot be opened.
    mutating func add(_ others: SelectedItems) {
        damaged += others.damaged
        ofAnotherDevice += others.ofAnotherDevice
    }
}

extension CertificateContent {
    fileprivate func isValid(at date: Date) -> Bool { date.isBetween(notBefore, and: notAfter) }

    fileprivate func hasAddress(_ address: String) -> Bool {
        emailAddresses.contains { $0.lowercased() == address.lowercased() }
    }
}

extension Query {
    fileprivate var certificateCriteria: [CertificateCriterion] {
        matchCriteria.compactMap { if case .certificate(let wanted) = $0 { wanted } else { nil } }
    }

    /// Whether a search for certificates has to look into them.
    var hasCertificateCriteria: Bool { !certificateCriteria.isEmpty }

    /// - Throws: `unsupported` for a criterion that needs what this program does not have.
    func checkDecidesCriteria() throws(KeychainError) {
        for criterion in certificateCriteria {
            switch criterion {
            case .issuers: break
            case .validOnDate, .emailAddress: guard readCertificate != nil else { throw .undecided }
            case .policy, .trustedOnly:
                guard readCertificate != nil, judgeCertificate != nil else { throw .undecided }
            }
        }
    }
}

extension KeychainError {
    fileprivate static let undecided = KeychainError(
        .unsupported,
        "This match key needs the evaluation of certificates, which this program does not have. Search by attributes.")
}
