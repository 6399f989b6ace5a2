// SPDX-License-Identifier: Apache-2.0
// Changes of items besides setting a value: adding, attributes, names, the expiry date, and values that depend on the current one.

import Foundation
import KeychainAuthenticators
import KeychainEngine
import KeychainKit

extension UserKeychain {
    /// Adds an item.
    ///
    /// - Throws: `duplicateItem` if it exists.
    func create(
        _ options: ItemOptions, _ attributes: ItemAttributes, _ accessibility: Accessibility?, value: Data
    ) throws(KeychainError) {
        var store = try location(of: options, in: store)
        store.accessibility = accessibility
        store.context = context
        try store.create(value, for: options.account ?? "", attributes: attributes)
    }

    /// Changes the value of an item, based on its current one. `change` runs again if another process changes the item
    /// meanwhile.
    ///
    /// - Throws: The errors of `change`; `itemNotFound` if the item was removed.
    func update<Result>(
        _ item: KeychainItem, _ change: (inout Data) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        let store = try store(of: item)
        do {
            return try store.update(Data.self, for: item.account ?? "") { value in
                guard var current = value else { throw KeychainError.isGone }
                let result = try change(&current)
                value = current
                return result
            }
        } catch let failure as KeychainError {
            throw failure
        } catch {
            throw KeychainError(.inputOutput, "The item could not be changed.")
        }
    }

    /// Changes attributes of an item, and keeps its value.
    func change(
        _ item: KeychainItem, _ attributes: ItemAttributes, _ protection: Protection
    ) throws(KeychainError) {
        var store = try store(of: item)
        (store.accessibility, store.accessControl) = (protection.accessibility, protection.constraints)
        let account = item.account ?? ""
        try inTransaction(store) { transaction in
            guard let value = try transaction.read(Data.self, for: account) else { throw KeychainError.isGone }
            try transaction.save(value, for: account, attributes: attributes)
        }
    }

    /// Gives an item another name, in one step. Its value, its other attributes and its protection stay.
    ///
    /// - Parameter target: The new place; `nil`: the current one.
    /// - Throws: `duplicateItem` if there is an item of the new name.
    func move(
        _ item: KeychainItem, to target: SecretStore?, account: String?, accessGroup: String?
    ) throws(KeychainError) {
        let source = try store(of: item)
        let old = item.account ?? ""
        // A list has only the name of an item that requires authentication.
        guard let complete = try source.item(for: old) else { throw .isGone }
        var new = target ?? source
        new.accessGroup = accessGroup ?? item.accessGroup
        new.synchronizable = item.synchronizable
        (new.accessibility, new.accessControl) = (complete.accessibility, complete.accessControl)
        try create(new, account ?? old, insteadOf: old, source, complete.itemAttributes)
    }

    private func create(
        _ target: SecretStore, _ account: String, insteadOf old: String, _ source: SecretStore,
        _ attributes: ItemAttributes
    ) throws(KeychainError) {
        do throws(KeychainError) {
            try inTransaction(source) { transaction in
                guard let value = try transaction.read(Data.self, for: old) else { throw KeychainError.isGone }
                try transaction.in(target).create(value, for: account, attributes: attributes)
                transaction.remove(for: old)
            }
        } catch {
            guard error.reason == .duplicateItem else { throw error }
            throw KeychainError(.duplicateItem, "There is an item of the new name already. Nothing was changed.")
        }
    }

    private func inTransaction(
        _ store: SecretStore, _ body: (SecretTransaction) throws -> Void
    ) throws(KeychainError) {
        do {
            try store.transaction(body)
        } catch let failure as KeychainError {
            throw failure
        } catch {
            throw KeychainError(.inputOutput, "The item could not be changed.")
        }
    }

    /// The store of one item, with every part of its name.
    private func store(of item: KeychainItem) throws(KeychainError) -> SecretStore {
        guard item.account != nil, let store = place(of: item) else {
            throw KeychainError(
                .unsupported, "The name of the item is not text. Change it with the program that made it.")
        }
        var complete = store
        complete.accessGroup = item.accessGroup
        complete.synchronizable = item.synchronizable
        complete.context = context
        return complete
    }

    private func place(of item: KeychainItem) -> SecretStore? {
        if item.itemClass == .genericPassword, let service = item.service {
            return SecretStore(service: service, store: store, accessGroups: .unrestricted)
        }
        guard item.itemClass == .internetPassword, let host = item.server else { return nil }
        let server = SecretStore.Server(
            host, protocol: item.protocol, port: item.port, path: item.path, securityDomain: item.securityDomain,
            authenticationType: item.authenticationType)
        return SecretStore(server: server, store: store, accessGroups: .unrestricted)
    }
}

extension UserKeychain {
    /// - Parameter date: `nil`: none.
    /// - Throws: `itemNotFound` if the item was removed meanwhile.
    func setExpiry(_ date: Date?, of item: KeychainItem) throws(KeychainError) {
        let changed = try store.update(
            Selection(itemClass: nil, id: item.reference, groups: [item.accessGroup]), Authorization(context)
        ) { (stored) throws(KeychainError) in
            var new = stored.item
            new.attributes[.expiry] = date.map { .date($0.timeIntervalSinceReferenceDate) }
            new.attributes.renew(after: stored.item)
            return new
        }
        guard !changed.items.isEmpty else { throw changed.failure ?? .isGone }
    }
}

extension KeychainError {
    fileprivate static let isGone = KeychainError(
        .itemNotFound, "The item was removed meanwhile. Nothing was changed.")
}
