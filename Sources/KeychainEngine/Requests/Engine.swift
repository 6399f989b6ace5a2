// SPDX-License-Identifier: Apache-2.0
// The meaning of add, copyMatching, update and delete: Query × AccessGroups × ItemStore → Outcome.

// Folders, from top to bottom:
//
// - Requests: requests, their rules, and their results
// - Store: the interface of stores, and a store in memory
// - Authentication: proofs of the user, how the user is asked, and when a request is over
// - Tokens: what holds keys that nothing can take out
// - Access: the access groups of a program
// - Model: items, their classes and attributes, and errors

public import Foundation

/// The semantics of Apple's four item calls, over any ``ItemStore``.
///
/// ```swift
/// let engine = Engine(store: MemoryStore())
/// var item = Query(.genericPassword, [.service: .string("example.com"), .account: .string("alice")])
/// item.value = Data("correct horse".utf8)
/// _ = try engine.add(item, accessGroups: .unrestricted)
/// ```
public struct Engine: Sendable {
    /// How request keys without a meaning are treated.
    public enum Dialect: Sendable {
        /// Like macOS: search keys in an addition, and return and match keys in an update or deletion, are ignored.
        case lenient
        /// Like iOS: they are `invalidParameter`.
        case strict
    }

    public let store: any ItemStore
    public let dialect: Dialect
    /// The clock for creation and modification dates.
    private let now: @Sendable () -> Date
    private let authenticator: @Sendable () throws(KeychainError) -> (any Authenticator)?
    /// The tokens for keys that live in hardware.
    package var tokens: KeyTokens

    /// - Parameters:
    ///   - authenticator: Returns the authenticator for requests without a context. It is called when the user has to be
    ///     asked. By default the user is not asked.
    ///   - tokens: The tokens for keys that live in hardware; by default those of the process.
    public init(
        store: any ItemStore, dialect: Dialect = .lenient,
        authenticator: @escaping @Sendable () throws(KeychainError) -> (any Authenticator)? = { nil },
        tokens: KeyTokens = .shared, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.store = store
        self.dialect = dialect
        self.authenticator = authenticator
        self.tokens = tokens
        self.now = now
    }

    /// Requests on the store. Each is a transaction of its own.
    public var requests: Requests { Requests(engine: self, items: store) }

    /// Adds one item, or the two items of an identity. Missing attributes of the primary key get their defaults. The
    /// engine sets the dates.
    ///
    /// - Throws: `duplicateItem` if an item with the same primary key exists; `noSuchAttribute`; `invalidParameter`;
    ///   `missingEntitlement`; `unsupported` for an identity in a store without transactions; `unavailable` for biometry,
    ///   and for authentication of the user if no passphrase is set; and errors of the store.
    public func add(_ query: Query, accessGroups: AccessGroups) throws(KeychainError) -> Outcome {
        let shape = OutcomeShape(returns: query.returns)
        guard !query.concernsIdentities else {
            let identity = try requests.addIdentity(query, accessGroups: accessGroups)
            return shape.added(identity, givenAccessControl: query.accessControl)
        }
        let stored = try requests.add(query, accessGroups: accessGroups)
        return shape.added(stored, givenAccessControl: query.accessControl)
    }

    /// Searches items. All conditions must match exactly. Without `synchronizable`, only items that are not
    /// synchronizable are searched.
    ///
    /// - Throws: `itemNotFound` if nothing matches, `corrupt` if the only match cannot be opened, and the errors of
    ///   ``add(_:accessGroups:)``.
    public func copyMatching(_ query: Query, accessGroups: AccessGroups) throws(KeychainError) -> Outcome {
        let (shape, limit) = (OutcomeShape(returns: query.returns), query.limit ?? .one)
        guard !query.concernsIdentities else {
            let identities = try requests.identities(query, accessGroups: accessGroups)
            guard !identities.isEmpty else { throw .noMatch }
            return shape.found(identities, limit: limit)
        }
        let found = try requests.find(query, accessGroups: accessGroups)
        guard !found.isEmpty else { throw .noMatch }
        return shape.found(found, limit: limit)
    }

    /// Changes every item that matches `query`, or none if one of them cannot be changed.
    ///
    /// - Throws: `itemNotFound`, `duplicateItem` if another item already has a changed primary key, and the errors of
    ///   ``add(_:accessGroups:)``.
    public func update(_ query: Query, with changes: Changes, accessGroups: AccessGroups) throws(KeychainError) {
        guard try requests.update(query, with: changes, accessGroups: accessGroups) > 0 else { throw .noMatch }
    }

    /// Removes every item that matches `query`. A query with only a class removes all items of the class.
    ///
    /// - Throws: `itemNotFound` if there was none, and the errors of ``add(_:accessGroups:)``.
    public func delete(_ query: Query, accessGroups: AccessGroups) throws(KeychainError) {
        guard try requests.delete(query, accessGroups: accessGroups) > 0 else { throw .noMatch }
    }

    /// Runs ``Requests/save(_:accessGroups:)`` as one transaction, if the store has transactions.
    public func save(_ query: Query, accessGroups: AccessGroups) throws(KeychainError) {
        guard store.transactional != nil else { return try requests.save(query, accessGroups: accessGroups) }
        try shortTransaction(as: query) { (requests) throws(KeychainError) in
            try requests.save(query, accessGroups: accessGroups)
        }
    }

    /// Runs all requests that `body` makes as one transaction.
    ///
    /// - Parameters:
    ///   - query: Its context, prompt and permission to ask the user apply to the whole transaction.
    ///   - body: Must use the store only through its argument. It may run again after the user was asked.
    /// - Throws: `unsupported` if the store has no transactions, and the errors of `body`.
    public func transaction<Result>(
        as query: Query, _ body: (Requests) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try transaction(authorization(query), body)
    }

    /// The same for changes of one item. `body` runs no code of the caller: a store may run it on another thread, together with
    /// changes of others.
    package func shortTransaction<Result>(
        as query: Query, _ body: (Requests) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        var authorization = authorization(query)
        (authorization.isShort, authorization.isSave) = (true, true)
        return try transaction(authorization, body)
    }

    private func transaction<Result>(
        _ authorization: Authorization, _ body: (Requests) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        guard let store = store.transactional else { throw .withoutTransactions }
        let removedKeys = RemovedTokenKeys()
        let result = try store.transaction(authorization) { (items) throws(KeychainError) in
            removedKeys.reset()
            return try body(Requests(engine: self, items: items, removedKeys: removedKeys))
        }
        requests.forget(removedKeys.all)
        return result
    }

    func authorization(_ query: Query) -> Authorization {
        var authorization = Authorization(
            query.context ?? AuthenticationContext(authenticator), allowsInteraction: query.authenticationUI == .allow,
            prompt: query.operationPrompt)
        authorization.cancellation = query.questions?.cancellation
        authorization.onQuestion = query.questions?.onQuestion
        authorization.gate = query.questions?.gate
        return authorization
    }

    func date() -> Date { now() }
}

extension KeychainError {
    /// The error of a request for items that there are none of.
    package static let noMatch = KeychainError(.itemNotFound, "No item matches.")
}

extension Query.Limit {
    /// The maximum number of items that a search returns; `nil` for no limit.
    var count: Int? {
        switch self {
        case .one: 1
        case .all: nil
        case .atMost(let count): count
        }
    }
}
