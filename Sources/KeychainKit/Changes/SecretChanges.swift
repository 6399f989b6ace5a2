// SPDX-License-Identifier: Apache-2.0
// Changes as an asynchronous sequence.

import KeychainEngine

/// The changes made by any program since the sequence was created, in order.
///
/// ```swift
/// for await change in try await store.changes(for: "alice") where change.kind == .updated { reload() }
/// ```
///
/// Create the sequence first and read the items afterwards: then no change is missed. For a slow reader, several
/// changes of one item are merged. An item that was added and then updated is reported as added. An item that was
/// removed and created again is reported as updated. An item that was added and removed is not reported. Waiting uses
/// no thread and no processor time.
///
/// The sequence ends only when the waiting task is cancelled. While the keychain cannot be read, it retries from time
/// to time, and then reports what was missed. Use it in one loop: two loops over the same sequence each get some of the
/// changes.
///
/// When an older copy of the vault is restored, an item counts as unchanged if its version at the next read is the one
/// that was last seen.
public struct SecretChanges: AsyncSequence, Sendable {
    public typealias Element = SecretChange
    public typealias Failure = Never

    let feed: ChangeFeed

    public func makeAsyncIterator() -> Iterator { Iterator(feed: feed) }

    public struct Iterator: AsyncIteratorProtocol {
        let feed: ChangeFeed

        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> SecretChange? {
            await feed.next(isolation: actor)
        }
    }
}

extension SecretStore {
    /// The changes of one account, or of all items of this service or server, and of the lock state.
    ///
    /// ```swift
    /// let changes = try await store.changes(for: "alice")
    /// show(try await store.read(String.self, for: "alice"))
    /// for await _ in changes { show(try await store.read(String.self, for: "alice")) }
    /// ```
    ///
    /// The current items are read before this returns. Items that cannot be opened while the keychain is locked are
    /// compared when it is unlocked.
    ///
    /// - Parameter account: `nil`: all accounts.
    /// - Throws: `unsupported` if the store does not notice changes; `unavailable` if the system's limits on watching
    ///   files are reached; any error of reading the items except `locked`.
    public func changes(for account: String? = nil) throws(KeychainError) -> SecretChanges {
        try backing.changes([StoreRequests(self, nil).query(account)], timeout)
    }

    /// The asynchronous form.
    public nonisolated(nonsending) func changes(
        for account: String? = nil
    ) async throws(KeychainError) -> SecretChanges {
        try await backing.changes([StoreRequests(self, nil).query(account)], timeout)
    }
}

extension KeychainCatalog {
    /// The changes of all items of these classes, and of the lock state.
    ///
    /// ```swift
    /// for await change in try await catalog.changes() { log(change.kind.rawValue) }
    /// ```
    ///
    /// - Throws: The errors of `SecretStore.changes(for:)`.
    public func changes(_ classes: [ItemClass] = ItemClass.allCases) throws(KeychainError) -> SecretChanges {
        try backing.changes(classes.map(Self.everything), timeout)
    }

    /// The asynchronous form.
    public nonisolated(nonsending) func changes(
        _ classes: [ItemClass] = ItemClass.allCases
    ) async throws(KeychainError) -> SecretChanges {
        try await backing.changes(classes.map(Self.everything), timeout)
    }

    private static func everything(_ itemClass: ItemClass) -> Query {
        var query = Query(itemClass)
        query.synchronizableAny = true
        return query
    }
}

extension Backing {
    fileprivate func changes(_ queries: [Query], _ timeout: Timeout?) throws(KeychainError) -> SecretChanges {
        try call(timeout) { (_) throws(KeychainError) in SecretChanges(feed: try ChangeFeed(self, queries)) }
    }

    fileprivate nonisolated(nonsending) func changes(
        _ queries: [Query], _ timeout: Timeout?
    ) async throws(KeychainError) -> SecretChanges {
        try await call(timeout) { (_) throws(KeychainError) in SecretChanges(feed: try ChangeFeed(self, queries)) }
    }
}
