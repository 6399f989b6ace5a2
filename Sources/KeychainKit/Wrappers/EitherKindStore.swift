// SPDX-License-Identifier: Apache-2.0
// A store for wrappers that know only one item of a name, synchronizable or not.

public import KeychainEngine

/// The secrets of a store, of both kinds: synchronizable, and not. Reading prefers the store's own kind. Saving leaves
/// one item of a name in its access group. New items are of the store's own kind.
@_spi(Wrappers) public struct EitherKindStore: Sendable {
    private let store: SecretStore

    /// - Parameter store: The service or server, the kind of new items, and all other settings.
    @_spi(Wrappers) public init(_ store: SecretStore) { self.store = store }

    // MARK: - On the caller's thread

    /// Saves to the existing item, whichever kind it is, or adds one.
    @_spi(Wrappers) public func save<Value: Encodable>(_ value: Value, for account: String) throws(KeychainError) {
        let bytes = try store.coder.bytes(of: value)
        try call { (requests) throws(KeychainError) in try requests.save(account, bytes) }
    }

    @_spi(Wrappers) public func read<Value: Decodable>(
        _ type: Value.Type = Value.self, for account: String
    ) throws(KeychainError) -> Value? {
        if let again = store.readAgain(account, eitherKind: true, waits: store.timeout == nil) {
            return try again.value(type, store.coder)
        }
        let found = try call { [store] (requests) throws(KeychainError) in
            try store.findForReading(account, eitherKind: true) { () throws(KeychainError) in
                try requests.findOnce(account)
            }
        }
        return try found?.value(type, store.coder)
    }

    /// Removes the items of both kinds.
    ///
    /// - Returns: Whether there was one.
    @_spi(Wrappers) @discardableResult
    public func remove(for account: String) throws(KeychainError) -> Bool {
        try call { (requests) throws(KeychainError) in try requests.remove(account) }
    }

    @_spi(Wrappers) public func contains(for account: String) throws(KeychainError) -> Bool {
        try call { (requests) throws(KeychainError) in try requests.contains(account) }
    }

    /// Changes the value of the item that `read` finds, as `update` of ``SecretStore`` does.
    @_spi(Wrappers) @discardableResult
    public func update<Value: Codable, Result>(
        _ type: Value.Type = Value.self, for account: String, _ change: (inout Value?) throws -> Result
    ) throws -> Result {
        try store.update(type, for: account, change) { (requests) throws(KeychainError) in
            try EitherKindRequests(own: requests).find(account)
        }
    }

    // MARK: - Without blocking a thread

    @_spi(Wrappers) public nonisolated(nonsending) func save<Value: Encodable>(
        _ value: Value, for account: String
    ) async throws(KeychainError) {
        let bytes = try store.coder.bytes(of: value)
        try await call { (requests) throws(KeychainError) in try requests.save(account, bytes) }
    }

    @_spi(Wrappers) public nonisolated(nonsending) func read<Value: Decodable>(
        _ type: Value.Type = Value.self, for account: String
    ) async throws(KeychainError) -> Value? {
        if let again = store.readAgain(account, eitherKind: true, waits: false) {
            return try again.value(type, store.coder)
        }
        let found = try await call { [store] (requests) throws(KeychainError) in
            try store.findForReading(account, eitherKind: true) { () throws(KeychainError) in
                try requests.findOnce(account)
            }
        }
        return try found?.value(type, store.coder)
    }

    @_spi(Wrappers) @discardableResult
    public nonisolated(nonsending) func remove(for account: String) async throws(KeychainError) -> Bool {
        try await call { (requests) throws(KeychainError) in try requests.remove(account) }
    }

    @_spi(Wrappers) public nonisolated(nonsending) func contains(
        for account: String
    ) async throws(KeychainError) -> Bool {
        try await call { (requests) throws(KeychainError) in try requests.contains(account) }
    }

    // MARK: - Calls

    /// A call may make several requests. They share a context, so that the user is asked once.
    private func call<Output: Sendable>(
        _ body: @escaping @Sendable (EitherKindRequests) throws(KeychainError) -> Output
    ) throws(KeychainError) -> Output {
        try store.sharingContext.call { (requests) throws(KeychainError) in
            try body(EitherKindRequests(own: requests))
        }
    }

    private nonisolated(nonsending) func call<Output: Sendable>(
        _ body: @escaping @Sendable (EitherKindRequests) throws(KeychainError) -> Output
    ) async throws(KeychainError) -> Output {
        try await store.sharingContext.call { (requests) throws(KeychainError) in
            try body(EitherKindRequests(own: requests))
        }
    }
}
