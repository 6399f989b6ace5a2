// SPDX-License-Identifier: Apache-2.0
// All items that a program may access, of every service.

public import Foundation
import KeychainEngine

/// All items that the program may access, of every service, server and class. It is for tools that list, move and clean
/// up items.
///
/// ```swift
/// let catalog = KeychainCatalog()
/// let logins = try catalog.items(matching: ItemFilter(server: "git.example.com"))
/// ```
///
/// For an app that knows its service, use ``SecretStore``.
public struct KeychainCatalog: Sendable {
    let backing: Backing
    /// See ``SecretStore/context``.
    public var context: AuthenticationContext?
    public var allowsInteraction = true
    public var prompt: String?
    public var timeout: Timeout?

    /// - Parameters: See ``SecretStore``.
    public init(store: (any ItemStore)? = nil, accessGroups: AccessGroups? = nil) {
        self.init(Backing.of(store, accessGroups))
    }

    init(_ backing: Backing) { self.backing = backing }

    /// The items of these classes that match, class by class in the given order. Within a class they are in the order
    /// of their primary key, access group first; this order is the same in every keychain. If nothing matches, the list
    /// is empty.
    ///
    /// The user is not asked. For an item that requires authentication, only the name is included unless the context
    /// already has the proof (``KeychainItem/requiresAuthentication``). Apple's keychain cannot do that: it asks the
    /// user, or leaves such items out if ``allowsInteraction`` is `false`.
    ///
    /// ```swift
    /// let certificates = try catalog.items([.certificate])
    /// ```
    ///
    /// - Throws: `locked` if an item that matches, or may match, is locked.
    public func items(
        _ classes: [ItemClass] = ItemClass.allCases, matching filter: ItemFilter = .all
    ) throws(KeychainError) -> [KeychainItem] {
        try call { (requests) throws(KeychainError) in try requests.items(classes, filter) }
    }

    public nonisolated(nonsending) func items(
        _ classes: [ItemClass] = ItemClass.allCases, matching filter: ItemFilter = .all
    ) async throws(KeychainError) -> [KeychainItem] {
        try await call { (requests) throws(KeychainError) in try requests.items(classes, filter) }
    }

    /// The same with the number of found items that cannot be opened. It is not an error if there are only such items.
    package func foundItems(
        _ classes: [ItemClass], matching filter: ItemFilter
    ) throws(KeychainError) -> FoundItems {
        try call { (requests) throws(KeychainError) in try requests.foundItems(classes, filter) }
    }

    /// The value of an item; `nil` if the item was removed.
    ///
    /// ```swift
    /// let secret = try catalog.value(of: item)
    /// ```
    ///
    /// - Throws: `typeMismatch` if the item exists and has no value.
    public func value(of item: KeychainItem) throws(KeychainError) -> Data? {
        try call { (requests) throws(KeychainError) in try requests.value(item) }
    }

    public nonisolated(nonsending) func value(of item: KeychainItem) async throws(KeychainError) -> Data? {
        try await call { (requests) throws(KeychainError) in try requests.value(item) }
    }

    /// Removes an item. Returns whether it existed.
    ///
    /// ```swift
    /// try catalog.remove(item)
    /// ```
    @discardableResult
    public func remove(_ item: KeychainItem) throws(KeychainError) -> Bool {
        try call { (requests) throws(KeychainError) in try requests.remove(item) }
    }

    @discardableResult
    public nonisolated(nonsending) func remove(_ item: KeychainItem) async throws(KeychainError) -> Bool {
        try await call { (requests) throws(KeychainError) in try requests.remove(item) }
    }

    /// Removes every item of these classes that matches, including locked items. Returns the number of removed items.
    ///
    /// ```swift
    /// try catalog.removeAll(matching: ItemFilter(server: "git.example.com"))
    /// ```
    ///
    /// Each class is a separate step. If the call times out or is cancelled, the items of the classes that it has not
    /// reached stay. An empty filter removes every item that the program may access.
    ///
    /// - Throws: `invalidParameter` for a filter by domain, and for a filter that skips protected items. Search for
    ///   these items, then remove each of them.
    @discardableResult
    public func removeAll(
        _ classes: [ItemClass] = ItemClass.allCases, matching filter: ItemFilter
    ) throws(KeychainError) -> Int {
        try call { (requests) throws(KeychainError) in try requests.removeAll(classes, filter) }
    }

    @discardableResult
    public nonisolated(nonsending) func removeAll(
        _ classes: [ItemClass] = ItemClass.allCases, matching filter: ItemFilter
    ) async throws(KeychainError) -> Int {
        try await call { (requests) throws(KeychainError) in try requests.removeAll(classes, filter) }
    }

    // MARK: - Calls

    private func call<Output: Sendable>(
        _ body: @escaping @Sendable (CatalogRequests) throws(KeychainError) -> Output
    ) throws(KeychainError) -> Output {
        try backing.call(timeout) { (questions) throws(KeychainError) in try body(CatalogRequests(self, questions)) }
    }

    private nonisolated(nonsending) func call<Output: Sendable>(
        _ body: @escaping @Sendable (CatalogRequests) throws(KeychainError) -> Output
    ) async throws(KeychainError) -> Output {
        try await backing.call(timeout) { (questions) throws(KeychainError) in
            try body(CatalogRequests(self, questions))
        }
    }
}

/// What a search of a catalog found.
package struct FoundItems: Sendable {
    package var items: [KeychainItem] = []
    /// A search that no index narrows meets such an item once for each class.
    package var damaged = 0
    package var ofAnotherDevice = 0

    /// See ``KeychainEngine/SelectedItems/failure``.
    package var failure: KeychainError? {
        guard items.isEmpty else { return nil }
        return SelectedItems(items: [], damaged: damaged, ofAnotherDevice: ofAnotherDevice).failure
    }
}

/// The requests of one call of a catalog.
struct CatalogRequests {
    let catalog: KeychainCatalog
    let questions: Query.Questions?

    init(_ catalog: KeychainCatalog, _ questions: Query.Questions?) {
        self.catalog = catalog
        self.questions = questions
    }

    private var requests: Requests { catalog.backing.engine.requests }
    private var accessGroups: AccessGroups { catalog.backing.accessGroups }

    func items(_ classes: [ItemClass], _ filter: ItemFilter) throws(KeychainError) -> [KeychainItem] {
        var items: [KeychainItem] = []
        for itemClass in classes {
            guard let query = listing(itemClass, filter) else { continue }
            items += try requests.find(query, accessGroups: accessGroups).map { KeychainItem($0) }
        }
        return items
    }

    func foundItems(_ classes: [ItemClass], _ filter: ItemFilter) throws(KeychainError) -> FoundItems {
        var all = FoundItems()
        for itemClass in classes {
            guard let query = listing(itemClass, filter) else { continue }
            let found = try requests.select(query, accessGroups: accessGroups)
            all.items += found.items.map { KeychainItem($0) }
            all.damaged += found.damaged
            all.ofAnotherDevice += found.ofAnotherDevice
        }
        return all
    }

    private func listing(_ itemClass: ItemClass, _ filter: ItemFilter) -> Query? {
        guard var query = filter.query(itemClass) else { return nil }
        complete(&query)
        query.returns = .attributes
        query.namesProtected = true
        return query
    }

    func value(_ item: KeychainItem) throws(KeychainError) -> Data? {
        var query = Query(nil)
        query.persistentReference = item.reference
        query.returns = .value
        complete(&query)
        guard let found = try requests.find(query, accessGroups: accessGroups).first else { return nil }
        guard let value = found.item.value else { throw .noValue }
        return value
    }

    func remove(_ item: KeychainItem) throws(KeychainError) -> Bool {
        var query = Query(nil)
        query.persistentReference = item.reference
        complete(&query)
        return try requests.delete(query, accessGroups: accessGroups) > 0
    }

    func removeAll(_ classes: [ItemClass], _ filter: ItemFilter) throws(KeychainError) -> Int {
        // A deletion has only attributes as conditions. It would ignore these criteria and remove too much.
        guard filter.domain == nil, !filter.skipsProtected else { throw .removesByCriteria }
        var count = 0
        for itemClass in classes {
            guard var query = filter.query(itemClass) else { continue }
            complete(&query)
            count += try requests.delete(query, accessGroups: accessGroups)
        }
        return count
    }

    /// Every request needs it, also a deletion, which asks nobody: otherwise it would go on after the call has ended.
    private func complete(_ query: inout Query) {
        (query.context, query.operationPrompt, query.questions) = (catalog.context, catalog.prompt, questions)
        if !catalog.allowsInteraction, query.authenticationUI == .allow { query.authenticationUI = .fail }
    }
}

extension KeychainError {
    fileprivate static let removesByCriteria = KeychainError(
        .invalidParameter,
        "Items cannot be removed by domain or by authentication requirement. Search for them, then remove each one.")
}
