// SPDX-License-Identifier: Apache-2.0
// The items that the harness stores: one service, accounts and values as words.

import Foundation
import KeychainEngine
import KeychainVault

/// Requests on the items of the harness.
enum Items {
    static func query(_ account: String) -> Query {
        Query(.genericPassword, [.service: .string("fault"), .account: .string(account)])
    }

    static func sharedQuery(_ account: String) -> Query {
        var query = query(account)
        query.attributes[.synchronizable] = .bool(true)
        return query
    }

    static func sharedItem(_ account: String, _ value: String) -> Query {
        var query = sharedQuery(account)
        query.value = Data(value.utf8)
        return query
    }

    static func item(_ account: String, _ value: String, _ accessibility: Accessibility = .whenUnlocked) -> Query {
        var query = query(account)
        query.attributes[.accessible] = .string(accessibility.rawValue)
        query.value = Data(value.utf8)
        return query
    }

    static func changes(_ value: String) -> Changes { Changes(value: Data(value.utf8)) }

    /// Accounts and values of all items.
    static func all(_ vault: Vault) throws -> [String: String] {
        var query = Query(.genericPassword, [.service: .string("fault")])
        query.synchronizableAny = true
        return try all(query, vault)
    }

    /// The same of those that the machines of a ring share.
    static func shared(_ vault: Vault) throws -> [String: String] {
        try all(Query(.genericPassword, [.service: .string("fault"), .synchronizable: .bool(true)]), vault)
    }

    private static func all(_ query: Query, _ vault: Vault) throws -> [String: String] {
        var query = query
        (query.returns, query.limit) = (.value, .all)
        let found = try Engine(store: vault).requests.find(query, accessGroups: .unrestricted)
        return Dictionary(found.compactMap(entry)) { first, _ in first }
    }

    private static func entry(_ found: StoredItem) -> (String, String)? {
        guard case .string(let account) = found.item.attributes[.account], let value = found.item.value else {
            return nil
        }
        return (account, String(decoding: value, as: UTF8.self))
    }
}

extension Vault {
    func add(_ account: String, _ value: String, _ accessibility: Accessibility = .whenUnlocked) throws {
        _ = try Engine(store: self).add(Items.item(account, value, accessibility), accessGroups: .unrestricted)
    }

    func update(_ account: String, _ value: String) throws {
        try Engine(store: self).update(Items.query(account), with: Items.changes(value), accessGroups: .unrestricted)
    }

    func delete(_ account: String) throws {
        try Engine(store: self).delete(Items.query(account), accessGroups: .unrestricted)
    }

    func addShared(_ account: String, _ value: String) throws {
        _ = try Engine(store: self).add(Items.sharedItem(account, value), accessGroups: .unrestricted)
    }

    func updateShared(_ account: String, _ value: String) throws {
        let query = Items.sharedQuery(account)
        try Engine(store: self).update(query, with: Items.changes(value), accessGroups: .unrestricted)
    }

    func deleteShared(_ account: String) throws {
        try Engine(store: self).delete(Items.sharedQuery(account), accessGroups: .unrestricted)
    }

    func slot(_ kind: ProtectorKind) throws -> UUID {
        guard let slot = try protectors.first(where: { $0.kind == kind }) else {
            throw KeychainError(.itemNotFound, "The harness's vault has no \(kind.name).")
        }
        return slot.id
    }
}
