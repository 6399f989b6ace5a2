// SPDX-License-Identifier: Apache-2.0
// The keychain of the user who runs the tool: what the verbs ask of the engine.

import Foundation
import KeychainAuthenticators
import KeychainEngine
import KeychainVault

/// It is unrestricted, whatever entitlements the environment names: the items of every program are the user's.
struct UserKeychain {
    let vault: Vault
    private let engine: Engine

    init() throws(KeychainError) {
        let environment = ProcessInfo.processInfo.environment
        vault = Vault.at(try .fromEnvironment(environment), try .fromEnvironment(environment))
        engine = Engine(
            store: vault,
            authenticator: { () throws(KeychainError) in
                // Whoever runs the tool asked for the item, so they may be asked for a proof.
                try Authenticators.forExplicitRequest()
            })
    }

    /// The vault, for verbs that make none.
    ///
    /// - Throws: `unavailable` if there is none yet.
    static func existingVault() throws(KeychainError) -> Vault {
        let vault = try UserKeychain().vault
        guard try !vault.protectors.isEmpty else {
            throw KeychainError(
                .unavailable, "There is no vault in '\(vault.location.folder)' yet. Make one: keychainctl init")
        }
        return vault
    }

    /// Adds the item, or changes the one that is there in place: at every moment there is the old value or the new.
    func set(
        _ options: ItemOptions, label: String?, _ accessibility: Accessibility?, value: Data
    ) throws(KeychainError) {
        var changes = Changes(value: value)
        changes.attributes[.label] = label.map { .string($0) }
        changes.attributes[.accessible] = accessibility.map { .string($0.rawValue) }
        var item = options.newItem()
        item.attributes[.label] = changes.attributes[.label]
        item.attributes[.accessible] = changes.attributes[.accessible]
        item.value = value
        // Between the two steps another process may remove the item that was in the way.
        for _ in 1...3 {
            if try add(item) { return }
            if try update(options.itemInPlace(), changes) { return }
        }
        throw KeychainError(.busy, "Another process keeps adding and removing this item. Try again.")
    }

    /// - Returns: `false` if the item is there already.
    private func add(_ item: Query) throws(KeychainError) -> Bool {
        do throws(KeychainError) {
            _ = try engine.add(item, caller: .unrestricted)
            return true
        } catch {
            guard error.reason == .duplicateItem else { throw error }
            return false
        }
    }

    /// - Returns: `false` if there is no such item.
    private func update(_ item: Query, _ changes: Changes) throws(KeychainError) -> Bool {
        do throws(KeychainError) {
            try engine.update(item, with: changes, caller: .unrestricted)
            return true
        } catch {
            guard error.reason == .itemNotFound else { throw error }
            return false
        }
    }

    /// - Throws: `itemNotFound` if there is none.
    func items(_ filter: Query) throws(KeychainError) -> [ListedItem] {
        var query = filter
        query.returns = [.attributes, .persistentReference]
        query.limit = .all
        guard let itemClass = query.itemClass,
            case .many(let results) = try engine.copyMatching(query, caller: .unrestricted)
        else { return [] }
        return results.compactMap { result in
            guard case .record(let record) = result else { return nil }
            return ListedItem(itemClass: itemClass, record)
        }
    }

    /// The one item that the options are about.
    ///
    /// - Throws: `itemNotFound`, or `duplicateItem` if there are several.
    func onlyItem(_ options: ItemOptions, label: String?) throws(KeychainError) -> PersistentReference {
        var found: [ListedItem] = []
        for itemClass in options.classes { found += try items(options.filter(itemClass, label: label)) }
        // Of one account's items with a port, a protocol or a path and one without, the latter is meant if none is given.
        let plain = found.filter(options.allowsPlace)
        if options.account != nil, plain.count == 1 { found = plain }
        guard let reference = found.first?.reference else { throw KeychainError(.itemNotFound, "No item matches.") }
        guard found.count == 1 else {
            throw KeychainError(
                .duplicateItem,
                "\(found.count) items match, and one is wanted. See which: keychainctl list, with the same options. "
                    + "Then add --account, --access-group, --protocol, --port, --path, --label or --no-synchronizable.")
        }
        return reference
    }

    /// - Returns: `nil` if the item has no value, which is not the same as an empty one.
    func value(_ reference: PersistentReference) throws(KeychainError) -> Data? {
        var query = Query(nil)
        query.persistentReference = reference
        query.returns = .value
        guard case .one(.value(let value)) = try engine.copyMatching(query, caller: .unrestricted) else { return nil }
        return value
    }

    func delete(_ reference: PersistentReference) throws(KeychainError) {
        var query = Query(nil)
        query.persistentReference = reference
        try engine.delete(query, caller: .unrestricted)
    }

    func deleteAll(_ filter: Query) throws(KeychainError) {
        try engine.delete(filter, caller: .unrestricted)
    }
}
