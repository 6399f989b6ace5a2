// SPDX-License-Identifier: Apache-2.0
// Adding, replacing and removing keys in one call of a store.

import Foundation
import KeychainEngine
import KeychainKit
import SecretMemory

extension KeyRequests {
    func save(_ form: KeyForm, _ tag: String, _ label: String?) throws(KeychainError) {
        try inTransaction(query(tag)) { (requests) throws(KeychainError) in try requests.put(form, tag, label) }
    }

    /// Within a transaction.
    func put(_ form: KeyForm, _ tag: String, _ label: String?) throws(KeychainError) {
        let found = try named(tag)
        guard found.count < 2 else { throw .severalKeys }
        guard let old = found.first else {
            try add(form, tag, label)
            return
        }
        guard !old.item.isOnToken else { return try replaceTokenKey(old, by: form, tag, label) }
        try replace(old, by: form, tag, label)
    }

    @discardableResult
    func create(_ form: KeyForm, _ tag: String, _ label: String?) throws(KeychainError) -> StoredItem {
        try inTransaction(query(tag)) { (requests) throws(KeychainError) in
            guard try requests.named(tag).isEmpty else { throw .keyExists }
            return try requests.add(form, tag, label)
        }
    }

    /// - Parameter check: Takes the keys of the tag, in the transaction that removes them. If it throws, nothing is removed.
    func remove(
        _ tag: String, if check: (([StoredKey]) throws(KeychainError) -> Void)? = nil
    ) throws(KeychainError) -> Bool {
        try Self.check(tag)
        return try inTransaction(query(tag)) { (requests) throws(KeychainError) in
            try check?(requests.names(tag).map { StoredKey($0, publicKey: nil) })
            let count = try [Self.privateClass, Self.publicClass].map { (keyClass) throws(KeychainError) in
                try requests.requests.delete(requests.query(tag, keyClass: keyClass), accessGroups: accessGroups)
            }
            return count.contains { $0 > 0 }
        }
    }

    /// A keychain without transactions, such as Apple's, makes the changes one by one.
    func inTransaction<Result>(
        _ query: Query, _ body: (KeyRequests) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        guard store.backing.engine.store.transactional != nil else { return try body(self) }
        return try Self.engine(store).transaction(as: query) { (requests) throws(KeychainError) in
            try body(KeyRequests(store, questions, in: requests))
        }
    }

    /// - Parameter old: The item whose group and protection the new one takes over, if the store does not say.
    @discardableResult
    func add(
        _ form: KeyForm, _ tag: String?, _ label: String?, insteadOf old: Item? = nil
    ) throws(KeychainError) -> StoredItem {
        var query = query(tag)
        for (attribute, value) in form.attributes { query.attributes[attribute] = value }
        query.attributes[.label] = label.map { .string($0) }
        query.protection = store.protection
        if let old {
            query.attributes[.label] = query.attributes[.label] ?? old.attributes[.label]
            query.attributes[.accessGroup] = .string(old.accessGroup)
            query.protection?.accessibility = store.accessibility ?? old.accessControl.accessibility
            query.protection?.constraints = store.accessControl ?? old.accessControl.flags
        }
        query.value = form.bytes.withUnsafeBytes { Data($0) }
        defer { query.value?.wipe() }
        return try requests.add(query, accessGroups: accessGroups)
    }

    /// An item is on its token for good.
    private func replaceTokenKey(
        _ old: StoredItem, by form: KeyForm, _ tag: String, _ label: String?
    ) throws(KeychainError) {
        _ = try requests.delete(query(old), accessGroups: accessGroups)
        try add(form, tag, label, insteadOf: old.item)
    }

    private func replace(
        _ old: StoredItem, by form: KeyForm, _ tag: String, _ label: String?
    ) throws(KeychainError) {
        var changes = Changes(form.changes(from: old.item), value: form.bytes.withUnsafeBytes { Data($0) })
        defer { changes.value?.wipe() }
        changes.attributes[.label] = label.map { .string($0) }
        changes.protection = store.protection
        guard try requests.update(query(old), with: changes, accessGroups: accessGroups) > 0 else {
            try add(form, tag, label)
            return
        }
        let oldLabel = old.item.attributes[.applicationLabel]
        guard let oldLabel, oldLabel != form.attributes[.applicationLabel] else { return }
        var half = query(tag, keyClass: Self.publicClass)
        half.attributes[.applicationLabel] = oldLabel
        half.attributes[.accessGroup] = .string(old.item.accessGroup)
        _ = try requests.delete(half, accessGroups: accessGroups)
    }
}
