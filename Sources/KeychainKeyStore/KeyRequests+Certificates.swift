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
        query.attributes[.synchronizable] = .number(store.synchronizable ? 1 : 0)
        complete(&query)
        return query
    }

    // MARK: - Reading

    /// All certificates that the user need not be asked for.
    func certificates() throws(KeychainError) -> [StoredCertificate] {
        var query = certificateQuery()
        query.attributes[.accessGroup] = store.accessGroup.map { .string($0) }
        (query.returns, query.limit, query.authenticationUI) = (.value, .all, .skip)
        return try requests.find(query, accessGroups: accessGroups).compactMap { StoredCertificate($0) }
    }

    func certificates(matching search: CertificateSearch) throws(KeychainError) -> [StoredCertificate] {
        let all = try certificates()
        let contents = all.map(\.certificate.content)
        return all.filter { search.matches($0, among: contents) }
    }

    // MARK: - Writing

    func save(_ certificate: Certificate, _ label: String?) throws(KeychainError) {
        try inTransaction(certificateQuery()) { (requests) throws(KeychainError) in
            _ = try requests.put(certificate, label)
        }
    }

    /// Within a transaction.
    ///
    /// - Parameters:
    ///   - label: Also for a certificate that is there.
    ///   - nameInFile: The label of a new item if the caller gives none.
    /// - Returns: Whether it was added: `false` if it was there.
    func put(
        _ certificate: Certificate, _ label: String?, nameInFile: String? = nil
    ) throws(KeychainError) -> Bool {
        let form = CertificateForm(certificate)
        var query = certificateQuery(form.primaryKey)
        query.attributes[.accessGroup] = .string(newGroup)
        query.returns = .value
        guard let old = try requests.find(query, accessGroups: accessGroups).first else {
            try add(form, label ?? nameInFile)
            return true
        }
        guard old.item.value == form.bytes else { throw .otherCertificate }
        try change(old.id, .certificate, label)
        return false
    }

    private func add(_ form: CertificateForm, _ label: String?) throws(KeychainError) {
        var query = certificateQuery(form.attributes)
        query.attributes[.accessGroup] = .string(newGroup)
        if let label { query.attributes[.label] = .string(label) }
        // Otherwise that of certificates, which is another one than that of keys.
        if store.accessibility != nil { query.protection = protection(of: .certificate) }
        query.value = form.bytes
        try requests.add(query, accessGroups: accessGroups)
    }

    /// Gives an existing item the label and the protection that the caller asks for.
    func change(_ id: UUID, _ itemClass: ItemClass, _ label: String?) throws(KeychainError) {
        var changes = Changes()
        changes.attributes[.label] = label.map { .string($0) }
        let protection = protection(of: itemClass)
        guard label != nil || protection.accessibility != nil || protection.constraints != nil else { return }
        changes.protection = protection
        guard try requests.update(query(id, itemClass), with: changes, accessGroups: accessGroups) > 0 else {
            throw .removedMeanwhile
        }
    }

    /// A certificate is public, so the access control is for keys alone.
    private func protection(of itemClass: ItemClass) -> Protection {
        itemClass == .key ? store.protection : Protection(accessibility: store.accessibility, constraints: nil)
    }

    /// - Returns: Whether it was there.
    func remove(_ certificate: Certificate) throws(KeychainError) -> Bool {
        try inTransaction(certificateQuery()) { (requests) throws(KeychainError) in
            let same = try requests.certificates().filter { $0.certificate.content == certificate }
            for stored in same { try requests.remove(stored) }
            return !same.isEmpty
        }
    }

    func remove(_ stored: StoredCertificate) throws(KeychainError) {
        _ = try requests.delete(query(stored.id, .certificate), accessGroups: accessGroups)
    }
}
