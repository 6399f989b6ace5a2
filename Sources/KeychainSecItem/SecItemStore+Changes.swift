// SPDX-License-Identifier: Apache-2.0
// Updates, which replace one version of an item by another, and deletions.

import Foundation
public import KeychainEngine
import KeychainServices

extension SecItemStore {
    /// How often an item is read again after another program changed it first.
    private static let tries = 50

    // MARK: - Updating

    public func update(
        _ selection: Selection, _ authorization: Authorization,
        _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        for attempt in 1...Self.tries {
            if let done = try tryToUpdate(selection, authorization, change) { return done }
            // A random pause, so that competing programs do not collide again.
            Thread.sleep(forTimeInterval: .random(in: 0...0.001) * Double(min(attempt, 10)))
        }
        throw KeychainError(.busy, "Other programs keep changing this item. Try again.")
    }

    /// - Returns: `nil` if the item has changed since `change` was computed; then nothing was written.
    private func tryToUpdate(
        _ selection: Selection, _ authorization: Authorization,
        _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems? {
        var (found, damaged): ([(search: SystemSearch, items: [FoundItem])], Int) = ([], 0)
        for search in try SystemSearch.all(selection) {
            let result = try find(search, limit: nil, includingValues: true, authorization)
            if !result.items.isEmpty { found.append((search, result.items)) }
            damaged += result.damaged
        }
        let items = found.flatMap(\.items).map(\.stored)
        var changes: [(before: Item, after: Item)] = []
        for stored in items { changes.append((stored.item, try change(stored))) }
        guard let first = changes.first, let difference = try ItemDifference.common(changes) else {
            return SelectedItems(items: [], damaged: damaged)
        }
        // One call cannot write several items without changing them.
        if changes.count > 1, difference.isEmpty { return SelectedItems(items: items, damaged: damaged) }
        var query = try changes.count == 1 ? first.before.versionEntries() : Self.entries(of: found.map(\.search))
        query = query.asking(for: authorization, functions)
        try authorization.gate?.check()
        let status = functions.update(query, to: try difference.entries(first.after))
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess else { throw failure(status, query) }
        Self.observers.announce()
        return SelectedItems(items: items, damaged: damaged)
    }

    /// The query for changing several items in one call.
    private static func entries(of searches: [SystemSearch]) throws(KeychainError) -> Entries {
        guard searches.count == 1, let only = searches.first, only.isExact else {
            throw KeychainError(
                .unsupported, "The system's keychain cannot change these items in one call. Change one at a time.")
        }
        return only.entries
    }

    // MARK: - Deleting

    /// Removes every selected item, with one call of the system for each named access group.
    ///
    /// The system does not return the number of removed items, so they are counted before. Locked items and items that
    /// require authentication are not counted. The count of a successful deletion is at least 1.
    public func delete(_ selection: Selection, _ authorization: Authorization) throws(KeychainError) -> Int {
        var count = 0
        for search in try SystemSearch.all(selection) {
            count += search.isExact ? try deleteAll(search, authorization) : try deleteEach(search, authorization)
        }
        if count > 0 { Self.observers.announce() }
        return count
    }

    private func deleteAll(_ search: SystemSearch, _ authorization: Authorization) throws(KeychainError) -> Int {
        let count = count(search)
        return try delete(search.entries, authorization) ? max(count, 1) : 0
    }

    /// For selections that a deletion cannot express: searches the items, then removes them one by one.
    private func deleteEach(_ search: SystemSearch, _ authorization: Authorization) throws(KeychainError) -> Int {
        var count = 0
        for item in try find(search, limit: nil, includingValues: false, .none).items
        where try delete([kSecValuePersistentRef as String: item.reference], authorization) {
            count += 1
        }
        return count
    }

    /// - Returns: Whether anything was removed.
    private func delete(_ entries: Entries, _ authorization: Authorization) throws(KeychainError) -> Bool {
        var query = entries
        query[kSecUseDataProtectionKeychain as String] = true
        // A deletion does not ask the user. The context only carries the end of the request.
        if authorization.gate != nil, let context = functions.authenticationContext(authorization) {
            query[kSecUseAuthenticationContext as String] = context
        }
        try authorization.gate?.check()
        let status = functions.delete(query)
        guard status == errSecSuccess || status == errSecItemNotFound else { throw KeychainError(system: status) }
        return status == errSecSuccess
    }

    private func count(_ search: SystemSearch) -> Int {
        var query = search.entries
        query[kSecUseDataProtectionKeychain as String] = true
        query[kSecUseAuthenticationUI as String] = kSecUseAuthenticationUISkip as String
        query[kSecMatchLimit as String] = kSecMatchLimitAll
        query[kSecReturnPersistentRef as String] = true
        return (functions.find(query).result as? [Any])?.count ?? 0
    }
}
