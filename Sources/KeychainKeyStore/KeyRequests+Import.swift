// SPDX-License-Identifier: Apache-2.0
// Storing the keys and certificates of a file, all of them or none.

import Foundation
import KeychainEngine
import KeychainKeys
import KeychainKit

/// What a file has, each key and each certificate once.
private struct NewItems {
    private(set) var keys: [(key: PrivateKey, name: String?)] = []
    private(set) var certificates: [(certificate: Certificate, name: String?)] = []
    let labels: Set<Data>

    /// - Throws: `unsupported` for a public key; `undecodableInput` for nothing.
    init(_ content: KeyFileContent) throws(KeychainError) {
        guard content.publicKeys.isEmpty else { throw .publicKeyInFile }
        guard !content.isEmpty else { throw .nothingInFile }
        var labels = Set<Data>()
        for entry in content.privateKeys where labels.insert(entry.content.publicKey.applicationLabel).inserted {
            keys.append((entry.content, entry.name))
        }
        var seen = Set<Certificate>()
        for entry in content.certificates where seen.insert(entry.content).inserted {
            certificates.append((entry.content, entry.name))
        }
        self.labels = labels
    }

    /// Whether the label of the caller is for this certificate: it is that of a key, or the only one of the file.
    func isNamed(_ certificate: Certificate) -> Bool {
        labels.isEmpty || labels.contains(certificate.publicKeyHash)
    }

    /// - Throws: `invalidParameter` for a name that several items would get.
    func check(_ tag: String?, _ label: String?) throws(KeychainError) {
        guard tag == nil || keys.count == 1 else { throw .tagForSeveral(keys.count) }
        guard label == nil || keys.count == 1 || keys.isEmpty && certificates.count == 1 else { throw .labelForSeveral }
    }
}

extension KeyRequests {
    /// - Parameters:
    ///   - tag: The tag of the only private key of the file; `nil`: keys that are added have none.
    ///   - isExact: Whether a key that is there, or its certificate, must have the label and the accessibility that the
    ///     caller asks for.
    func importAll(
        _ content: KeyFileContent, _ tag: String?, _ label: String?, isExact: Bool = false
    ) throws(KeychainError) -> ImportedItems {
        let new = try NewItems(content)
        try new.check(tag, label)
        return try inTransaction(query(tag)) { (requests) throws(KeychainError) in
            let old = try requests.put(new, tag, label)
            if isExact, !old.named.allSatisfy({ requests.isAsAskedFor($0, label) }) { throw .otherOptions }
            return try requests.imported(new, existing: old.named.count + old.issuers)
        }
    }

    /// - Returns: What was there, and stays as it is: the items that the label is for, and the number of others.
    private func put(
        _ new: NewItems, _ tag: String?, _ label: String?
    ) throws(KeychainError) -> (named: [StoredItem], issuers: Int) {
        var old: (named: [StoredItem], issuers: Int) = ([], 0)
        for (key, name) in new.keys {
            if let item = try put(key, tag, label, name) { old.named.append(item) }
        }
        for (certificate, name) in new.certificates {
            let isNamed = new.isNamed(certificate)
            guard let item = try put(certificate, (isNamed ? label : nil) ?? name) else { continue }
            if isNamed { old.named.append(item) } else { old.issuers += 1 }
        }
        return old
    }

    private func isAsAskedFor(_ old: StoredItem, _ label: String?) -> Bool {
        let (item, accessibility) = (old.item, store.accessibility)
        return (label.map { item.attributes[.label] == .string($0) } ?? true)
            && (accessibility == nil || accessibility == item.accessControl.accessibility)
    }

    /// - Returns: The item that was there, and stays as it is; `nil` if the key was added.
    private func put(
        _ key: PrivateKey, _ tag: String?, _ label: String?, _ name: String?
    ) throws(KeychainError) -> StoredItem? {
        let form = KeyForm(key)
        if let old = try existing(key, form, tag) { return old }
        try add(form, tag, label ?? name)
        return nil
    }

    /// The item that has this key already: that of the tag, or without a tag any in the group of new items.
    ///
    /// - Throws: `duplicateItem` if the item has another key.
    private func existing(_ key: PrivateKey, _ form: KeyForm, _ tag: String?) throws(KeychainError) -> StoredItem? {
        var found: [StoredItem]
        if let tag {
            found = try named(tag)
            guard found.allSatisfy({ $0.item.keyLabel == form.applicationLabel }) else { throw .otherKeyOfTag }
        } else {
            var query = query()
            query.attributes[.applicationLabel] = .data(form.applicationLabel)
            query.attributes[.accessGroup] = .string(newGroup)
            found = try names(query)
        }
        guard let old = found.first else { return nil }
        try check(old, key)
        return old
    }

    /// Any program may have stored other bytes under the name of a key. Of a key that requires the user, the name has to
    /// be sufficient.
    private func check(_ old: StoredItem, _ key: PrivateKey) throws(KeychainError) {
        guard old.item.accessControl.needs.isEmpty, let bytes = try bytes(old) else { return }
        let stored = try? PrivateKey(key.kind, externalRepresentation: bytes)
        guard stored?.publicKey == key.publicKey else { throw .otherBytesOfKey }
    }

    private func imported(_ new: NewItems, existing: Int) throws(KeychainError) -> ImportedItems {
        let contents = Set(new.certificates.map(\.certificate))
        let identities = try identities(matching: CertificateSearch(), nil).filter { identity in
            new.labels.contains(identity.key.applicationLabel)
                || contents.contains(identity.certificate.certificate.content)
        }
        let publicKeys = Dictionary(
            new.keys.map { ($0.key.publicKey.applicationLabel, $0.key.publicKey) },
            uniquingKeysWith: { first, _ in first })
        let keys = try names(query()).filter { new.labels.contains($0.item.keyLabel) }
            .map { StoredKey($0, publicKey: publicKeys[$0.item.keyLabel]) }
        return ImportedItems(
            identities: identities, keys: keys,
            certificates: try certificates().filter { contents.contains($0.certificate.content) },
            addedCount: new.keys.count + new.certificates.count - existing, existingCount: existing)
    }
}
