// SPDX-License-Identifier: Apache-2.0
// A store over the system's own keychain.

import Foundation
public import KeychainEngine
import KeychainServices

/// An ``ItemStore`` over `SecItemAdd`, `SecItemCopyMatching`, `SecItemUpdate` and `SecItemDelete`. On Apple platforms
/// that is the data-protection keychain, on Linux this package's vault through its Keychain Services.
///
/// ```swift
/// let engine = Engine(store: SecItemStore())
/// ```
///
/// Requests that the four functions cannot express fail with `unsupported` and change nothing: transactions, changes
/// that differ from item to item, removing a value or an attribute. A change of one item succeeds only if the item is
/// still the version that the change was made for. Several items are changed in one call of the system, even if they
/// were changed since they were read.
///
/// Items in the group `default` are added to the program's default group in the system. A search for `default` looks
/// for a group of that name, so on Apple platforms search all groups or name the program's own.
///
/// Items are listed in the order of ``ItemOrder``. If only one item is requested and the system understands the whole
/// selection, the system chooses the item: on Linux by the same order, on Apple platforms by its own.
///
/// On Apple platforms the system's functions cannot be cancelled. After `timedOut` or a cancellation no further call
/// begins, but a call that the system has already received may still change something. On Linux the system's functions
/// can be cancelled too.
///
/// Does not protect against other programs with the same access groups.
public final class SecItemStore: ItemStore {
    let functions: SecItemFunctions
    static let observers = StoreObservers()

    public init(_ functions: SecItemFunctions = .system) { self.functions = functions }

    /// Always `unlocked`: the system shows its lock state only by refusing calls.
    public var lockState: LockState { .unlocked }

    /// Calls `body` after a change that this process has made through any ``SecItemStore``. Other changes are not
    /// noticed, since the system does not report them.
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
        // Apple's keychain returns no name without asking the user.
        let leavesOut = search.selection.namesConstrained && !authorization.allowsInteraction
        if search.selection.skipsConstrained || leavesOut {
            entries[.authenticationUI] = kSecUseAuthenticationUISkip as String
        }
        let isOneCall = !includingValues || limit == 1 && search.isExact
        if includingValues, isOneCall { entries[kSecReturnData as String] = true }
        // An item without a readable value does not count towards the limit, so the limit is applied later.
        let found = try look(entries, search, isOneCall ? limit : nil, authorization)
        return isOneCall ? found : try values(of: found, search, limit, authorization)
    }

    /// Apple refuses to return the values of several passwords, so each value is read on its own.
    private func values(
        of found: (items: [FoundItem], damaged: Int), _ search: SystemSearch, _ limit: Int?,
        _ authorization: Authorization
    ) throws(KeychainError) -> (items: [FoundItem], damaged: Int) {
        var read: (items: [FoundItem], damaged: Int) = ([], found.damaged)
        for item in found.items where read.items.count < limit ?? .max {
            let reference: Entries = [kSecValuePersistentRef as String: item.reference, kSecReturnData as String: true]
            do throws(KeychainError) {
                read.items += try look(reference, search, 1, authorization).items
            } catch {
                guard error.reason == .corrupt, limit != nil else { throw error }
                read.damaged += 1
            }
        }
        return read
    }

    /// The items that the entries find and that match the selection, without values unless the entries request them.
    private func look(
        _ entries: Entries, _ search: SystemSearch, _ limit: Int?, _ authorization: Authorization
    ) throws(KeychainError) -> (items: [FoundItem], damaged: Int) {
        var query = entries.asking(for: authorization, functions)
        query[kSecReturnAttributes as String] = true
        query[kSecReturnPersistentRef as String] = true
        // Only one item can have its value returned. If the selection must be filtered here, the search must return all
        // items.
        let isOne = query[kSecReturnData as String] != nil || limit == 1 && search.isExact
        query[kSecMatchLimit as String] = isOne ? kSecMatchLimitOne : kSecMatchLimitAll
        let (status, result) = functions.find(query)
        if status == errSecItemNotFound { return ([], 0) }
        guard status == errSecSuccess else { throw failure(status, query) }
        guard let list = (result as? [Entries]) ?? (result as? Entries).map({ [$0] }) else {
            throw KeychainError(.undecodableInput, "The system returned something other than items for a search.")
        }
        let found = list.map { FoundItem($0, search.itemClass) }
        // Which items require more than the context has proven is known to the system alone.
        var selection = search.selection
        selection.skipsConstrained = false
        let selected = found.compactMap { $0 }.filter { selection.matches($0.stored) }.inOrder()
        return (Array(selected.prefix(limit ?? .max)), found.count { $0 == nil })
    }

    /// Finds the reason of a refusal by a search without the items that require authentication. If that works,
    /// authentication was the reason, otherwise the lock.
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
            throw KeychainError(.undecodableInput, "The system added the item, but did not return it.")
        }
        // An addition returns neither of them.
        stored.item.accessControl = item.accessControl
        stored.item.value = item.value
        return stored
    }
}

extension Entries {
    /// Adds the authentication entries of a request, and selects the keychain that has access groups.
    func asking(for authorization: Authorization, _ functions: SecItemFunctions) -> Entries {
        var entries = self
        entries[kSecUseDataProtectionKeychain as String] = true
        if !authorization.allowsInteraction, entries[.authenticationUI] == nil {
            entries[.authenticationUI] = String.noQuestions
        }
        if let prompt = authorization.prompt { entries[.operationPrompt] = prompt }
        if let context = functions.authenticationContext(authorization) {
            entries[kSecUseAuthenticationContext as String] = context
        }
        return entries
    }
}

extension String {
    fileprivate static let authenticationUI = kSecUseAuthenticationUI as String
    // Apple has deprecated the names of these keys, but not their function. With a context other than the request's
    // own, nothing else can express it.
    fileprivate static let noQuestions = "u_AuthUIF"  // kSecUseAuthenticationUIFail
    fileprivate static let operationPrompt = "u_OpPrompt"  // kSecUseOperationPrompt
}
