// SPDX-License-Identifier: Apache-2.0
// Pairs of a private key and a certificate in one call of a store.

import Foundation
import KeychainEngine
import KeychainKeys
import KeychainKit
import SecretMemory

extension KeyRequests {
    // MARK: - Reading

    /// No private bytes are read: the public half is that of the certificate.
    ///
    /// - Throws: `invalidParameter` for an empty tag, which would be that of all keys without one.
    func identities(matching search: CertificateSearch, _ tag: String?) throws(KeychainError) -> [KeychainIdentity] {
        if let tag { try Self.check(tag) }
        let keys = try names(tag)
        guard !keys.isEmpty else { return [] }
        let stored = try certificates()
        let contents = stored.map(\.certificate.content)
        return paired(keys, with: stored).filter { search.matches($0.certificate, among: contents) }
    }

    /// Those with the newest certificates first.
    func paired(_ keys: [StoredItem], with stored: [StoredCertificate]) -> [KeychainIdentity] {
        let keys = Dictionary(grouping: keys) { $0.item.keyLabel }
        let contents = stored.map(\.certificate.content)
        return stored.flatMap { certificate in
            (keys[certificate.certificate.publicKeyHash] ?? []).map { KeychainIdentity(certificate, $0, contents) }
        }
        .sorted { $0.certificate.certificate.notBefore > $1.certificate.certificate.notBefore }
    }

    /// - Returns: `nil` if the key was removed, or replaced by another, since the identity was listed.
    func read(_ wanted: KeyType, of identity: KeychainIdentity) throws(KeychainError) -> SecretBytes? {
        // Before the user is asked.
        if let type = identity.key.type, type != wanted { throw .otherType(type, than: wanted) }
        guard let (item, bytes) = try complete(query(identity.key.id)) else { return nil }
        guard item.keyLabel == identity.certificate.certificate.publicKeyHash else { return nil }
        let form: KeyForm
        do throws(KeychainError) { form = try KeyForm(wanted, bytes) } catch { throw .notAKey }
        guard form.applicationLabel == item.keyLabel else { throw .notAKey }
        return form.bytes
    }

    /// The identity with its private key, for a file.
    func exported(_ identity: KeychainIdentity) throws(KeychainError) -> PKCS12.Identity? {
        guard let untyped = try privateKey(of: identity.key) else { return nil }
        let certificate = identity.certificate.certificate
        guard untyped.key.publicKey.applicationLabel == certificate.publicKeyHash else { return nil }
        guard untyped.isExtractable else { throw .notExported }
        return PKCS12.Identity(
            key: untyped.key, chain: identity.chain.map(\.content), name: identity.certificate.label ?? certificate.name
        )
    }

    // MARK: - Writing

    func save(
        _ form: KeyForm, _ certificate: Certificate, _ chain: [Certificate], _ tag: String, _ label: String?
    ) throws(KeychainError) {
        guard form.applicationLabel == certificate.publicKeyHash else { throw .certificateOfAnotherKey }
        try inTransaction(query(tag)) { (requests) throws(KeychainError) in
            try requests.put(form, tag, label)
            try requests.put(certificate, label)
            for issuer in chain where issuer != certificate { try requests.put(issuer, nil) }
        }
    }

    /// The certificate, and the key unless another certificate is for it.
    func remove(_ identity: KeychainIdentity) throws(KeychainError) -> IdentityRemoval {
        try inTransaction(query(identity.certificate.id, .certificate)) { (requests) throws(KeychainError) in
            let certificates = try requests.certificates().filter { $0.isCopy(of: identity.certificate) }
            guard certificates.contains(where: { $0.id == identity.certificate.id }) else { return .nothing }
            for own in certificates { try requests.remove(own) }
            let hash = identity.certificate.certificate.publicKeyHash
            guard try !requests.hasCertificate(hash) else { return .certificate }
            try requests.removeKeys(hash, in: identity.key.accessGroup)
            return .certificateAndKey
        }
    }

    /// Whether any program's certificate is for the key: in every group that can be read, marked for synchronization or
    /// not, and by its name alone if it requires authentication. A key is gone for good, so all of them count.
    ///
    /// - Throws: `corrupt` if the only one cannot be opened.
    private func hasCertificate(_ publicKeyHash: Data) throws(KeychainError) -> Bool {
        var query = Query(.certificate, [.publicKeyHash: .data(publicKeyHash)])
        query.synchronizableAny = true
        complete(&query)
        return try !names(query).isEmpty
    }

    /// Both halves of a key, under every tag.
    private func removeKeys(_ label: Data, in group: String) throws(KeychainError) {
        for keyClass in [Self.privateClass, Self.publicClass] {
            var query = query(keyClass: keyClass)
            query.attributes[.applicationLabel] = .data(label)
            query.attributes[.accessGroup] = .string(group)
            _ = try requests.delete(query, accessGroups: accessGroups)
        }
    }
}

/// What the removal of an identity has removed.
package enum IdentityRemoval: Sendable {
    /// The certificate was not there.
    case nothing
    /// Another certificate is for the key.
    case certificate
    case certificateAndKey
}

extension KeychainIdentity {
    fileprivate init(_ certificate: StoredCertificate, _ key: StoredItem, _ others: [Certificate]) {
        let content = certificate.certificate.content
        self.certificate = certificate
        self.key = StoredKey(key, publicKey: content.publicKey)
        chain = content.chain(from: others).map { KeychainCertificate($0) }
    }
}

extension Item {
    /// SHA-1 of its public key; empty for an item that does not say.
    var keyLabel: Data {
        if case .data(let label) = attributes[.applicationLabel] { label } else { Data() }
    }
}
