// SPDX-License-Identifier: Apache-2.0
// The items of the vault that an export holds, one after the other.

import Foundation
import KeychainAuthenticators
import KeychainEngine
import KeychainKit
import KeychainVault

/// Reads items with everything that belongs to them, which KeychainKit does not show. See Docs/Decisions/0036.
struct ExportSource {
    /// What became of one item.
    enum Reading {
        case item(Item)
        case unreadable(KeychainError)
        /// It was removed since it was listed.
        case removed
    }

    let vault: Vault
    /// `nil`: all groups but that of the keychain itself.
    let group: String?
    let authorization = Authorization(
        AuthenticationContext { () throws(KeychainError) in try Authenticators.forExplicitRequest() })

    /// The items but keys on tokens, without values, and without more than the name of those that require authentication.
    ///
    /// - Throws: `locked` if one of them is locked.
    func list() throws(KeychainError) -> (items: [StoredItem], closed: [UnreadableItem]) {
        var (items, isAnyClosed): ([StoredItem], Bool) = ([], false)
        for selection in selections {
            let found = try vault.select(selection, limit: nil, includingValues: false, authorization)
            // Nobody else could use the key of a token.
            items += found.items.filter { !$0.item.isOnToken }
            isAnyClosed = isAnyClosed || found.damaged + found.ofAnotherDevice > 0
        }
        return (items, isAnyClosed ? try closed() : [])
    }

    /// Items whose names cannot be read: their number is all that is known. A search meets them once for each class.
    private func closed() throws(KeychainError) -> [UnreadableItem] {
        let status = try vault.status()
        let counts: [(count: Int, words: String, failure: KeychainError)] = [
            (status.damagedCount, "damaged item(s) without a readable name", .damagedItem),
            (status.ofAnotherDeviceCount, "item(s) bound to another device", .itemOfAnotherDevice),
        ]
        return counts.filter { $0.count > 0 }
            .map { UnreadableItem(name: "\($0.count) \($0.words)", failure: $0.failure) }
    }

    func read(_ listed: StoredItem) throws(KeychainError) -> Reading {
        let reference = PersistentReference(itemClass: listed.item.itemClass, id: listed.id)
        do throws(KeychainError) {
            let found = try vault.select(
                Selection(itemClass: nil, id: reference, groups: group.map { [$0] }), limit: nil, includingValues: true,
                authorization)
            if let stored = found.items.first { return .item(stored.item) }
            return found.failure.map { .unreadable($0) } ?? .removed
        } catch {
            switch error.reason {
            case .interactionNotAllowed, .authenticationFailed, .corrupt, .ofAnotherDevice: return .unreadable(error)
            default: throw error
            }
        }
    }

    /// Whether any program has added, changed or removed one of these items since they were listed.
    func hasChanged(since listed: [StoredItem]) throws(KeychainError) -> Bool {
        let known = Dictionary(listed.map { ($0.id, $0.version) }, uniquingKeysWith: { first, _ in first })
        let differences = try vault.differences(selections, from: known)
        return differences.changed.contains { !$0.item.isOnToken } || !differences.gone.isEmpty
            || !differences.closed.isEmpty
    }

    /// How many keys on a token are not exported.
    func countOfTokenKeys() throws(KeychainError) -> Int {
        var selection = Selection(itemClass: .key, groups: group.map { [$0] })
        selection.namesConstrained = true
        return try vault.select(selection, limit: nil, includingValues: false, authorization).items
            .count(where: \.item.isOnToken)
    }

    private var selections: [Selection] {
        ItemClass.allCases.map { itemClass in
            var selection = Selection(itemClass: itemClass, groups: group.map { [$0] })
            selection.namesConstrained = true
            return selection
        }
    }
}

/// An item that an export cannot hold, and why.
struct UnreadableItem {
    let name: String
    let failure: KeychainError
}

extension KeychainItem {
    /// Its name for people, which is never its value.
    var name: String {
        let listed = ListedItem(item: self)
        let parts = [listed.service ?? listed.server, listed.account, listed.label].compactMap { part in
            part.flatMap { $0.isEmpty ? nil : "'\($0.escapingControls())'" }
        }
        return ([listed.itemClass.name] + parts).joined(separator: " ")
    }
}

extension Item {
    var displayName: String { KeychainItem(StoredItem(id: UUID(), version: 0, item: self)).name }
}
