// SPDX-License-Identifier: Apache-2.0
// The reads and the changes of a transaction.

import Foundation
import KeychainEngine

/// One run of a transaction's body.
final class TransactionRecord {
    /// The name of an item, in the bytes that keychains compare. Text that looks the same is not the same name, and an
    /// empty path is the same as none.
    struct Name: Hashable {
        /// The primary key without the access group.
        let account: PrimaryKey
        /// `nil`: the store names none, so the item may be in any group.
        let group: [UInt8]?

        init(_ store: SecretStore, _ account: String) {
            var attributes = StoreRequests(store, nil).query(account).attributes
            attributes[.accessGroup] = nil
            self.account = PrimaryKey(
                Item(
                    itemClass: store.place.itemClass, attributes: attributes,
                    accessControl: AccessControl(.whenUnlocked), value: nil))
            group = store.accessGroup.map { Array($0.utf8) }
        }
    }

    /// An existing item; `bytes` is `nil` if it has no value.
    struct Content {
        let bytes: Data?
    }

    /// What is known about an item. If `content` is `nil`, the item does not exist.
    struct Known {
        let content: Content?
    }

    struct Read: Sendable {
        let store: SecretStore
        let account: String
        let found: StoredItem?
    }

    enum Change: Sendable {
        case save(SecretStore, String, Data, ItemAttributes)
        case create(SecretStore, String, Data, ItemAttributes)
        case remove(SecretStore, String)
    }

    private var readByName: [Name: Read] = [:]
    /// By account, and then by group.
    private var changed: [PrimaryKey: [[UInt8]?: Known]] = [:]
    private(set) var changes: [Change] = []
    /// The number of changes that `changed` contains. Names are computed only when something is read: they cost a tenth
    /// of a change.
    private var namedCount = 0

    var reads: [Read] { Array(readByName.values) }

    /// The state of an item in the transaction: changed by it, or read before.
    ///
    /// - Throws: `invalidParameter` if the transaction has changed the account through a store that names a group and
    ///   this store names none, or the reverse. Only the commit finds out whether both mean the same item.
    func known(_ store: SecretStore, _ account: String) throws(KeychainError) -> Known? {
        nameChanges()
        let name = Name(store, account)
        let changed = changed[name.account] ?? [:]
        guard changed.keys.allSatisfy({ ($0 == nil) == (name.group == nil) }) else { throw .mixedGroups }
        if let known = changed[name.group] { return known }
        return readByName[name].map { Known(content: $0.content) }
    }

    func remember(_ store: SecretStore, _ account: String, _ found: StoredItem?) -> Content? {
        let read = Read(store: store, account: account, found: found)
        readByName[Name(store, account)] = read
        return read.content
    }

    func add(_ change: Change) { changes.append(change) }

    func discardChanges() { (changes, changed, namedCount) = ([], [:], 0) }

    private func nameChanges() {
        for change in changes[namedCount...] {
            let name = Name(change.store, change.account)
            changed[name.account, default: [:]][name.group] = Known(content: change.content)
        }
        namedCount = changes.count
    }
}

extension TransactionRecord.Read {
    fileprivate var content: TransactionRecord.Content? {
        found.map { TransactionRecord.Content(bytes: $0.item.value) }
    }
}

extension TransactionRecord.Change {
    var store: SecretStore {
        switch self {
        case .save(let store, _, _, _), .create(let store, _, _, _), .remove(let store, _): store
        }
    }

    var account: String {
        switch self {
        case .save(_, let account, _, _), .create(_, let account, _, _), .remove(_, let account): account
        }
    }

    fileprivate var content: TransactionRecord.Content? {
        switch self {
        case .save(_, _, let bytes, _), .create(_, _, let bytes, _): TransactionRecord.Content(bytes: bytes)
        case .remove: nil
        }
    }
}

extension KeychainError {
    fileprivate static let mixedGroups = KeychainError(
        .invalidParameter,
        "A transaction has changed an account through a store with an access group and reads it through one without, or "
            + "the reverse. Name the same access group in both stores.")
}
