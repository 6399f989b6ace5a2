// SPDX-License-Identifier: Apache-2.0
// The meaning of add, copyMatching, update and delete: Query × Caller × ItemStore → Outcome.

public import Foundation

/// The semantics of Apple's four item calls, over any ``ItemStore``.
///
/// ```swift
/// let engine = Engine(store: MemoryStore())
/// var item = Query(.genericPassword, [.service: .string("example.com"), .account: .string("alice")])
/// item.value = Data("correct horse".utf8)
/// _ = try engine.add(item, caller: .unrestricted)
/// ```
public struct Engine: Sendable {
    /// How much of a request that has no meaning is let pass.
    public enum Dialect: Sendable {
        /// As macOS: searching keys in an addition, return and match keys in an update or deletion are dropped.
        case lenient
        /// As iOS: they are `invalidParameter`.
        case strict
    }

    public let store: any ItemStore
    public let dialect: Dialect
    /// The time that creation and modification dates are taken from.
    private let now: @Sendable () -> Date
    private let authenticator: @Sendable () throws(KeychainFailure) -> (any Authenticator)?

    /// - Parameter authenticator: Who asks the user for items that want it, in requests that bring no context of their own;
    ///   looked up when it is needed. By default nobody is asked.
    public init(
        store: any ItemStore, dialect: Dialect = .lenient,
        authenticator: @escaping @Sendable () throws(KeychainFailure) -> (any Authenticator)? = { nil },
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.store = store
        self.dialect = dialect
        self.authenticator = authenticator
        self.now = now
    }

    /// Adds one item. Missing attributes of the primary key get their defaults; dates are set by the engine.
    ///
    /// - Throws: `duplicateItem` if the primary key is taken, `noSuchAttribute`, `invalidParameter`, `missingEntitlement`,
    ///   `unsupported` for object references, `unavailable` for biometry and for the user where no passphrase is set, and
    ///   whatever the store reports.
    public func add(_ query: Query, caller: Caller) throws(KeychainFailure) -> Outcome {
        let item = try query.newItem(caller: caller, dialect: dialect, at: now())
        let stored = try store.insert(item, authorization(query))
        return OutcomeShape(returns: query.returns).added(stored, givenAccessControl: query.accessControl)
    }

    /// Searches. Conditions hold exactly; without `synchronizable` only items that are not synchronizable are searched.
    ///
    /// - Throws: `itemNotFound` if nothing matches, `corrupt` if the only match cannot be opened, and as ``add(_:caller:)``.
    public func copyMatching(_ query: Query, caller: Caller) throws(KeychainFailure) -> Outcome {
        let selection = try query.searchSelection(caller: caller, dialect: dialect)
        let limit = query.limit ?? .one
        if let count = limit.count, count < 0 {
            throw KeychainFailure(.invalidParameter, "A search cannot be limited to less than no result.")
        }
        let found = try store.select(
            selection, limit: limit.count, includingValues: query.returns.contains(.value), authorization(query))
        try Self.checkFound(found)
        return OutcomeShape(returns: query.returns).found(found.items, limit: limit)
    }

    /// Changes every item that matches `query`, or none if one of them cannot be changed.
    ///
    /// - Throws: `itemNotFound`, `duplicateItem` if a changed primary key is taken, and as ``add(_:caller:)``.
    public func update(_ query: Query, with changes: Changes, caller: Caller) throws(KeychainFailure) {
        let selection = try query.updateSelection(caller: caller, dialect: dialect)
        let edit = try Edit(changes, itemClass: query.resolvedClass(), caller: caller)
        let date = now()
        let updated = try store.update(selection, authorization(query)) {
            (stored: StoredItem) throws(KeychainFailure) -> Item in
            edit.applied(to: stored.item, at: date)
        }
        try Self.checkFound(updated)
    }

    /// Removes every item that matches `query`; a query with a class alone removes all of that class.
    ///
    /// - Throws: `itemNotFound` if there was none, and as ``add(_:caller:)``.
    public func delete(_ query: Query, caller: Caller) throws(KeychainFailure) {
        let selection = try query.deleteSelection(caller: caller, dialect: dialect)
        guard try store.delete(selection) > 0 else { throw Self.notFound }
    }

    private func authorization(_ query: Query) -> Authorization {
        Authorization(
            query.context ?? AuthenticationContext(authenticator), mayAsk: query.authenticationUI == .allow,
            prompt: query.operationPrompt)
    }

    private static func checkFound(_ found: SelectedItems) throws(KeychainFailure) {
        guard found.items.isEmpty else { return }
        guard found.damaged == 0 else { throw .damagedItem }
        throw notFound
    }

    private static let notFound = KeychainFailure(.itemNotFound, "No item matches.")
}

extension Query.Limit {
    /// The most items that a search returns; `nil` for no limit.
    var count: Int? {
        switch self {
        case .one: 1
        case .all: nil
        case .atMost(let count): count
        }
    }
}
