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
    private let authenticator: @Sendable () throws(KeychainError) -> (any Authenticator)?

    /// - Parameter authenticator: Who asks the user for items that want it, in requests that bring no context of their own;
    ///   looked up when it is needed. By default nobody is asked.
    public init(
        store: any ItemStore, dialect: Dialect = .lenient,
        authenticator: @escaping @Sendable () throws(KeychainError) -> (any Authenticator)? = { nil },
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.store = store
        self.dialect = dialect
        self.authenticator = authenticator
        self.now = now
    }

    /// The calls on the store, each a transaction of its own.
    public var requests: Requests { Requests(engine: self, items: store) }

    /// Adds one item. Missing attributes of the primary key get their defaults; dates are set by the engine.
    ///
    /// - Throws: `duplicateItem` if the primary key is taken, `noSuchAttribute`, `invalidParameter`, `missingEntitlement`,
    ///   `unsupported` for object references, `unavailable` for biometry and for the user where no passphrase is set, and
    ///   whatever the store reports.
    public func add(_ query: Query, caller: Caller) throws(KeychainError) -> Outcome {
        let stored = try requests.add(query, caller: caller)
        return OutcomeShape(returns: query.returns).added(stored, givenAccessControl: query.accessControl)
    }

    /// Searches. Conditions hold exactly; without `synchronizable` only items that are not synchronizable are searched.
    ///
    /// - Throws: `itemNotFound` if nothing matches, `corrupt` if the only match cannot be opened, and as ``add(_:caller:)``.
    public func copyMatching(_ query: Query, caller: Caller) throws(KeychainError) -> Outcome {
        let found = try requests.find(query, caller: caller)
        guard !found.isEmpty else { throw Self.notFound }
        return OutcomeShape(returns: query.returns).found(found, limit: query.limit ?? .one)
    }

    /// Changes every item that matches `query`, or none if one of them cannot be changed.
    ///
    /// - Throws: `itemNotFound`, `duplicateItem` if a changed primary key is taken, and as ``add(_:caller:)``.
    public func update(_ query: Query, with changes: Changes, caller: Caller) throws(KeychainError) {
        guard try requests.update(query, with: changes, caller: caller) > 0 else { throw Self.notFound }
    }

    /// Removes every item that matches `query`; a query with a class alone removes all of that class.
    ///
    /// - Throws: `itemNotFound` if there was none, and as ``add(_:caller:)``.
    public func delete(_ query: Query, caller: Caller) throws(KeychainError) {
        guard try requests.delete(query, caller: caller) > 0 else { throw Self.notFound }
    }

    /// ``Requests/save(_:caller:)`` as one transaction, where the store has any.
    public func save(_ query: Query, caller: Caller) throws(KeychainError) {
        guard store.hasTransactions else { return try requests.save(query, caller: caller) }
        try transaction(as: query) { (requests) throws(KeychainError) in try requests.save(query, caller: caller) }
    }

    /// Makes one transaction of all requests that `body` makes.
    ///
    /// - Parameters:
    ///   - query: Whose context, prompt and leave to ask hold for all of it.
    ///   - body: Must not use the store but through what it is given; may run again after a person was asked.
    /// - Throws: `unsupported` if the store has no transactions, and what `body` throws.
    public func transaction<Result>(
        as query: Query, _ body: (Requests) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try store.transaction(authorization(query)) { (items) throws(KeychainError) in
            try body(Requests(engine: self, items: items))
        }
    }

    func authorization(_ query: Query) -> Authorization {
        var authorization = Authorization(
            query.context ?? AuthenticationContext(authenticator), mayAsk: query.authenticationUI == .allow,
            prompt: query.operationPrompt)
        authorization.cancellation = query.questions?.cancellation
        authorization.onQuestion = query.questions?.onQuestion
        authorization.gate = query.questions?.gate
        return authorization
    }

    func date() -> Date { now() }

    private static let notFound = KeychainError(.itemNotFound, "No item matches.")
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
