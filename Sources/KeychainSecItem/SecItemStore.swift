// SPDX-License-Identifier: Apache-2.0
// A store that is the system's own keychain, through the functions that every program has.

import Foundation
public import KeychainEngine
import KeychainServices

/// An ``ItemStore`` over `SecItemAdd`, `SecItemCopyMatching`, `SecItemUpdate` and `SecItemDelete`: on Apple platforms
/// the data-protection keychain, on Linux this package's vault by way of its Keychain Services.
///
/// ```swift
/// let engine = Engine(store: SecItemStore())
/// ```
///
/// What the four functions cannot say, it refuses as `unsupported` and has changed nothing: transactions, changes that
/// differ from item to item, taking a value or an attribute away. One item is changed only if it is still the version
/// that the change was made for; several are changed in one call of the system, whatever has happened to them since
/// they were read.
///
/// Items in the group `default` are added to the group that the system has as the program's default. A search for
/// `default` looks for a group of that name, so on Apple platforms search all groups or name the program's own.
///
/// On Apple platforms the system's functions know no end of a call: after `timedOut` or a cancellation no further one begins,
/// but one that the system had been given by then may still change something. On Linux the end is carried through them.
///
/// Does not protect against other programs with the same access groups.
public final class SecItemStore: ItemStore {
    let functions: SecItemFunctions
    static let observers = StoreObservers()

    public init(_ functions: SecItemFunctions = .system) { self.functions = functions }

    /// Always `unlocked`: the system tells it only by refusing.
    public var lockState: LockState { .unlocked }

    /// Calls `body` after a change that this process has made through any ``SecItemStore``. Changes by other means,
    /// and by other processes, are not noticed: the system does not tell of them.
    public func observe(_ body: @escaping @Sendable () -> Void) throws(KeychainError) -> StoreObservation {
        Self.observers.add(body)
    }

    // MARK: - Searching

    public func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainError) -> SelectedItems {
        var found = SelectedItems(items: [])
        for search in try SystemSearch.all(selection) {
            let rest = limit.map { $0 - found.items.count }
            guard rest ?? 1 > 0 else { break }
            let (items, damaged) = try find(search, limit: rest, includingValues: includingValues, authorization)
            found.items += items.map(\.stored)
            found.damaged += damaged
        }
        return found
    }

    /// - Parameter limit: Above 0.
    func find(
        _ search: SystemSearch, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainError) -> (items: [FoundItem], damaged: Int) {
        var entries = search.entries
        // Apple's keychain shows no name without asking.
        let leavesOut = search.selection.namesConstrained && !authorization.mayAsk
        if search.selection.skipsConstrained || leavesOut {
            entries[.authenticationUI] = kSecUseAuthenticationUISkip as String
        }
        if includingValues, limit == 1, search.isExact { entries[kSecReturnData as String] = true }
        let (found, damaged) = try look(entries, search, limit, authorization)
        guard includingValues, entries[kSecReturnData as String] == nil else { return (found, damaged) }
        // Apple refuses to return the values of several passwords, so each is fetched on its own.
        var items: [FoundItem] = []
        for item in found {
            let reference: Entries = [kSecValuePersistentRef as String: item.reference, kSecReturnData as String: true]
            items += try look(reference, search, 1, authorization).items
        }
        return (items, damaged)
    }

    /// The items that the entries find and the selection means, without values unless the entries ask for them.
    private func look(
        _ entries: Entries, _ search: SystemSearch, _ limit: Int?, _ authorization: Authorization
    ) throws(KeychainError) -> (items: [FoundItem], damaged: Int) {
        var query = entries.asking(for: authorization, functions)
        query[kSecReturnAttributes as String] = true
        query[kSecReturnPersistentRef as String] = true
        // One at most has the values, and what has to be looked through has to be found whole.
        let isOne = query[kSecReturnData as String] != nil || limit == 1 && search.isExact
        query[kSecMatchLimit as String] = isOne ? kSecMatchLimitOne : kSecMatchLimitAll
        let (status, result) = functions.find(query)
        if status == errSecItemNotFound { return ([], 0) }
        guard status == errSecSuccess else { throw failure(status, query) }
        guard let list = (result as? [Entries]) ?? (result as? Entries).map({ [$0] }) else {
            throw KeychainError(.undecodableInput, "The system answered a search with something else than items.")
        }
        let found = list.map { FoundItem($0, search.itemClass) }
        let selected = found.compactMap { $0 }.filter { search.selection.matches($0.stored) }
        return (Array(selected.prefix(limit ?? .max)), found.count { $0 == nil })
    }

    /// A refusal is told apart by leaving out what asks for the user: if that helps, it was that, and else the lock.
    func failure(_ status: OSStatus, _ query: Entries) -> KeychainError {
        guard status == errSecInteractionNotAllowed else { return KeychainError(system: status) }
        var search = query
        search[.authenticationUI] = kSecUseAuthenticationUISkip as String
        search[kSecMatchLimit as String] = kSecMatchLimitAll
        for key in [kSecReturnData, kSecUseAuthenticationContext] { search[key as String] = nil }
        search[kSecReturnPersistentRef as String] = true
        let isLocked = functions.find(search).status == errSecInteractionNotAllowed
        return isLocked ? .locked : .interactionNotAllowed
    }

    // MARK: - Adding

    public func insert(_ item: Item, _ authorization: Authorization) throws(KeychainError) -> StoredItem {
        var entries = try item.entries().asking(for: authorization, functions)
        entries[kSecReturnAttributes as String] = true
        entries[kSecReturnPersistentRef as String] = true
        try authorization.gate?.check()
        let (status, result) = functions.add(entries)
        guard status == errSecSuccess else {
            let asks = status == errSecInteractionNotAllowed && !item.accessControl.needs.isEmpty
            throw asks ? .interactionNotAllowed : KeychainError(system: status)
        }
        Self.observers.announce()
        guard var stored = (result as? Entries).flatMap({ FoundItem($0, item.itemClass) })?.stored else {
            throw KeychainError(.undecodableInput, "The system added the item and answered with something else.")
        }
        // An addition returns neither.
        stored.item.accessControl = item.accessControl
        stored.item.value = item.value
        return stored
    }
}

extension Entries {
    /// With what a request may do about items that ask for the user, and in the keychain that has access groups.
    func asking(for authorization: Authorization, _ functions: SecItemFunctions) -> Entries {
        var entries = self
        entries[kSecUseDataProtectionKeychain as String] = true
        if !authorization.mayAsk, entries[.authenticationUI] == nil { entries[.authenticationUI] = String.noQuestions }
        if let prompt = authorization.prompt { entries[.operationPrompt] = prompt }
        if let context = functions.authenticationContext(authorization) {
            entries[kSecUseAuthenticationContext as String] = context
        }
        return entries
    }
}

extension String {
    fileprivate static let authenticationUI = kSecUseAuthenticationUI as String
    // Apple has marked the names of these as outdated, and not what they do: with another context than the request's
    // own, they are the only way to say it.
    fileprivate static let noQuestions = "u_AuthUIF"  // kSecUseAuthenticationUIFail
    fileprivate static let operationPrompt = "u_OpPrompt"  // kSecUseOperationPrompt
}
