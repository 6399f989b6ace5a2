// SPDX-License-Identifier: Apache-2.0
// Searches in the keychains that a command names, or in the search list.

import Foundation
import KeychainKit

/// An item, and the keychain in which it was found.
struct FoundPassword {
    let item: KeychainItem
    let keychain: NamedKeychain

    var block: AttributeBlock { AttributeBlock(item: item, keychain: keychain) }
}

extension SecurityCall {
    static let searchFunction = "SecKeychainSearchCopyNext"

    /// The first item that matches, keychain by keychain.
    ///
    /// - Throws: Status -25300 if there is none.
    func first(
        _ attributes: PasswordAttributes, in keychains: [NamedKeychain]
    ) throws(SecurityFailure) -> FoundPassword {
        guard let first = try all(attributes, in: keychains, isFirstEnough: true).first else {
            throw SecurityFailure(Self.searchFunction, SecurityStatus.itemNotFound)
        }
        return first
    }

    /// Every item that matches; may be empty.
    ///
    /// - Parameter isFirstEnough: Whether to search no further keychain after the first match.
    func all(
        _ attributes: PasswordAttributes, in keychains: [NamedKeychain], isFirstEnough: Bool = false
    ) throws(SecurityFailure) -> [FoundPassword] {
        try naming(Self.searchFunction) { () throws(KeychainError) in
            let search = attributes.forSearch
            return try session.unlocking { () throws(KeychainError) in
                try items([attributes.itemClass], search.filter, in: keychains, isFirstEnough, search.matches).found
            }
        }
    }

    /// Every item of these classes in the keychains. Says how many cannot be read, if there are others.
    func everything(
        _ classes: [ItemClass], in keychains: [NamedKeychain]
    ) throws(SecurityFailure) -> [FoundPassword] {
        try naming(Self.searchFunction) { () throws(KeychainError) in
            let (found, isComplete) = try session.unlocking { () throws(KeychainError) in
                try items(classes, .all, in: keychains, false) { _ in true }
            }
            if !isComplete { try session.sayWhatIsMissing() }
            return found
        }
    }

    /// A damaged item is an error only if nothing else is found, since it may be the requested one.
    private func items(
        _ classes: [ItemClass], _ filter: ItemFilter, in keychains: [NamedKeychain], _ isFirstEnough: Bool,
        _ matches: (KeychainItem) -> Bool
    ) throws(KeychainError) -> (found: [FoundPassword], isComplete: Bool) {
        var (all, failure, isComplete): ([FoundPassword], KeychainError?, Bool) = ([], nil, true)
        for keychain in keychains {
            var own = filter
            own.accessGroup = keychain.group
            let found = try session.catalog.foundItems(classes, matching: own)
            all += found.items.filter(matches).map { FoundPassword(item: $0, keychain: keychain) }
            failure = failure ?? found.failure
            isComplete = isComplete && found.damaged + found.ofAnotherDevice == 0
            if isFirstEnough, !all.isEmpty { break }
        }
        if all.isEmpty, let failure { throw failure }
        return (all, isComplete)
    }

    /// The value of an item.
    func value(of found: FoundPassword, _ function: String) throws(SecurityFailure) -> Data {
        try naming(function) { () throws(KeychainError) in
            try session.unlocking { () throws(KeychainError) in
                guard let value = try session.catalog.value(of: found.item) else {
                    throw KeychainError(.itemNotFound, "The item was removed meanwhile.")
                }
                return value
            }
        }
    }
}
