// SPDX-License-Identifier: Apache-2.0
// All items that a program may see, of whatever service.

public import Foundation
import KeychainEngine

/// All items that the program may see, of every service, server and class: for tools that list, move and tidy up.
///
/// ```swift
/// let catalog = KeychainCatalog()
/// let logins = try catalog.items(matching: ItemFilter(server: "git.example.com"))
/// ```
///
/// An app that knows its service is better served by a ``SecretStore``.
public struct KeychainCatalog: Sendable {
    let backing: Backing
    /// As in ``SecretStore``.
    public var context: AuthenticationContext?
    public var mayAsk = true
    public var prompt: String?
    public var deadline: Deadline?

    /// - Parameters: As in ``SecretStore``.
    public init(store: (any ItemStore)? = nil, caller: Caller? = nil) {
        self.init(Backing.of(store, caller))
    }

    init(_ backing: Backing) { self.backing = backing }

    /// The items of these classes that match; none is no error. Nobody is asked: of an item that asks for the user or a password, and
    /// for which the context has proven neither, nothing but the name is there (``KeychainItem/requiresAuthentication``). Apple's
    /// keychain cannot do that: it asks, or leaves such items out if ``mayAsk`` is false.
    ///
    /// ```swift
    /// let certificates = try catalog.items([.certificate])
    /// ```
    ///
    /// - Throws: `locked` if one of them is, or may be, meant and closed.
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

    /// The value of an item; `nil` if the item is gone.
    ///
    /// ```swift
    /// let secret = try catalog.value(of: item)
    /// ```
    ///
    /// - Throws: `typeMismatch` if it is there and has no value.
    public func value(of item: KeychainItem) throws(KeychainError) -> Data? {
        try call { (requests) throws(KeychainError) in try requests.value(item) }
    }

    public nonisolated(nonsending) func value(of item: KeychainItem) async throws(KeychainError) -> Data? {
        try await call { (requests) throws(KeychainError) in try requests.value(item) }
    }

    /// Removes an item, and tells whether it was there.
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

    /// Removes every item of these classes that matches, also while they are locked, and tells how many there were.
    ///
    /// ```swift
    /// try catalog.removeAll(matching: ItemFilter(server: "git.example.com"))
    /// ```
    ///
    /// Each class is one step. An empty filter removes everything that the program may use.
    ///
    /// - Throws: `invalidParameter` for a filter by domain, and for one that leaves out protected items: look for these, then
    ///   remove each.
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
        try backing.call(deadline) { (questions) throws(KeychainError) in try body(CatalogRequests(self, questions)) }
    }

    private nonisolated(nonsending) func call<Output: Sendable>(
        _ body: @escaping @Sendable (CatalogRequests) throws(KeychainError) -> Output
    ) async throws(KeychainError) -> Output {
        try await backing.call(deadline) { (questions) throws(KeychainError) in
            try body(CatalogRequests(self, questions))
        }
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
    private var caller: Caller { catalog.backing.caller }

    func items(_ classes: [ItemClass], _ filter: ItemFilter) throws(KeychainError) -> [KeychainItem] {
        var items: [KeychainItem] = []
        for itemClass in classes {
            guard var query = filter.query(itemClass) else { continue }
            complete(&query)
            query.returns = .attributes
            query.namesProtected = true
            items += try requests.find(query, caller: caller).map { KeychainItem($0) }
        }
        return items
    }

    func value(_ item: KeychainItem) throws(KeychainError) -> Data? {
        var query = Query(nil)
        query.persistentReference = item.reference
        query.returns = .value
        complete(&query)
        guard let found = try requests.find(query, caller: caller).first else { return nil }
        guard let value = found.item.value else { throw .noValue }
        return value
    }

    func remove(_ item: KeychainItem) throws(KeychainError) -> Bool {
        var query = Query(nil)
        query.persistentReference = item.reference
        return try requests.delete(query, caller: caller) > 0
    }

    func removeAll(_ classes: [ItemClass], _ filter: ItemFilter) throws(KeychainError) -> Int {
        // A removal knows no criteria beyond attributes: it would pass them over, and remove too much.
        guard filter.domain == nil, !filter.skipsProtected else { throw .removesByCriteria }
        var count = 0
        for itemClass in classes {
            guard let query = filter.query(itemClass) else { continue }
            count += try requests.delete(query, caller: caller)
        }
        return count
    }

    private func complete(_ query: inout Query) {
        (query.context, query.operationPrompt, query.questions) = (catalog.context, catalog.prompt, questions)
        if !catalog.mayAsk, query.authenticationUI == .allow { query.authenticationUI = .fail }
    }
}

extension KeychainError {
    fileprivate static let removesByCriteria = KeychainError(
        .invalidParameter,
        "Items cannot be removed by domain, nor those alone that ask for nobody. Look for them, then remove each.")
}
