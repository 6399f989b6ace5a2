// SPDX-License-Identifier: Apache-2.0
// Certificates in one call of a store.

import Foundation
import KeychainEngine
import KeychainKeys
import KeychainKit

extension KeyRequests {
    /// The access group of new items.
    var newGroup: String { store.accessGroup ?? accessGroups.defaultGroup }

    private func certificateQuery(_ attributes: Attributes = [:]) -> Query {
        var query = Query(.certificate, attributes)
        setKind(of: &query)
        complete(&query)
        return query
    }

    // MARK: - Reading

    /// All certificates that the user need not be asked for.
    func certificates() throws(KeychainError) -> [StoredCertificate] {
        try requests.find(allCertificates(), accessGroups: accessGroups).compactMap { StoredCertificate($0) }
    }

    func allCertificates() -> Query {
        var query = certificateQuery()
        query.attributes[.accessGroup] = store.accessGroup.map { .string($0) }
        (query.returns, query.limit, query.authenticationUI) = (.value, .all, .skip)
        return query
    }

    func certificates(matching search: CertificateSearch) throws(KeychainError) -> [StoredCertificate] {
        let all = try certificates()
        let contents = all.map(\.certificate.content)
        return all.filter { search.matches($0, among: contents) }
    }

    // MARK: - Writing

    func save(_ certificate: Certificate, _ label: String?) throws(KeychainError) {
        try inTransaction(certificateQuery()) { (requests) throws(KeychainError) in
            guard let old = try requests.put(certificate, label) else { return }
            try requests.change(old.id, label)
        }
    }

    /// Adds a certificate within a transaction. One that is there stays as it is: other programs and keys may need it so.
    ///
    /// - Returns: The item that was there; `nil` if it was added.
    @discardableResult
    func put(_ certificate: Certificate, _ label: String?) throws(KeychainError) -> StoredItem? {
        let form = CertificateForm(certificate)
        var query = certificateQuery(form.primaryKey)
        query.attributes[.accessGroup] = .string(newGroup)
        query.returns = .value
        guard let old = try requests.find(query, accessGroups: accessGroups).first else {
            try add(form, label)
            return nil
        }
        guard old.item.value == form.bytes else { throw .otherCertificate }
        return old
    }

    private func add(_ form: CertificateForm, _ label: String?) throws(KeychainError) {
        var query = certificateQuery(form.attributes)
        query.attributes[.accessGroup] = .string(newGroup)
        if let label { query.attributes[.label] = .string(label) }
        // Otherwise that of certificates, which is another one than that of keys.
        if store.accessibility != nil { query.protection = protection }
        query.value = form.bytes
        try requests.add(query, accessGroups: accessGroups)
    }

    /// Gives a certificate that is there the label and the accessibility that the caller asks for.
    private func change(_ id: UUID, _ label: String?) throws(KeychainError) {
        guard label != nil || store.accessibility != nil else { return }
        var changes = Changes()
        changes.attributes[.label] = label.map { .string($0) }
        changes.protection = protection
        guard try requests.update(query(id, .certificate), with: changes, accessGroups: accessGroups) > 0 else {
            throw .removedMeanwhile
        }
    }

    /// A certificate is public, so the access control is for keys alone.
    private var protection: Protection { Protection(accessibility: store.accessibility, constraints: nil) }

    /// The user is not asked, as by `SecItemDelete`.
    ///
    /// - Returns: Whether it was there.
    func remove(_ certificate: Certificate) throws(KeychainError) -> Bool {
        try inTransaction(certificateQuery()) { (requests) throws(KeychainError) in
            let same = try requests.items(of: certificate)
            for id in same { try requests.remove(id) }
            return !same.isEmpty
        }
    }

    /// The items of a certificate. One that requires authentication cannot be compared: its name identifies it.
    private func items(of certificate: Certificate) throws(KeychainError) -> [UUID] {
        let form = CertificateForm(certificate)
        var query = certificateQuery(form.primaryKey)
        query.attributes[.accessGroup] = store.accessGroup.map { .string($0) }
        let names = try names(query)
        (query.returns, query.limit, query.authenticationUI) = (.value, .all, .skip)
        let readable = try requests.find(query, accessGroups: accessGroups)
        let others = Set(readable.filter { $0.item.value != form.bytes }.map(\.id))
        return names.map(\.id).filter { !others.contains($0) }
    }

    func remove(_ stored: StoredCertificate) throws(KeychainError) { try remove(stored.id) }

    private func remove(_ id: UUID) throws(KeychainError) {
        _ = try requests.delete(query(id, .certificate), accessGroups: accessGroups)
    }
}
