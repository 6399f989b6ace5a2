// SPDX-License-Identifier: Apache-2.0
// Changes as a sequence.

import KeychainEngine

/// The changes since this was asked for, by whatever program, one after another as they happen.
///
/// ```swift
/// for await change in try await store.changes(for: "alice") where change.kind == .updated { reload() }
/// ```
///
/// Who reads after asking for the changes misses nothing: what is changed later comes here. A reader that is slow finds what
/// several changes of an item come to: an item that was added and updated is added, one that was removed and made again
/// updated, one that came and went does not appear. Waiting takes no processor time and no thread.
///
/// It ends when the task that waits is cancelled, and at nothing else: while the keychain cannot be looked at, it tries
/// again from time to time, and what was missed comes then. For one loop: two that wait for the same changes get some each.
///
/// Not noticed is an item in an older copy of the vault that was put back, if before the next look it was changed as often as
/// the item that was there.
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
    /// Which items there are is looked up before this returns. Items that cannot be opened while the
    /// keychain is locked are compared when it is unlocked.
    ///
    /// - Parameter account: `nil`: all accounts.
    /// - Throws: `unsupported` if the store does not notice changes, `unavailable` if the system's limits on watching files are
    ///   reached, and what keeps items from being looked up, but for `locked`.
    public func changes(for account: String? = nil) throws(KeychainError) -> SecretChanges {
        try backing.changes([StoreRequests(self, nil).query(account)], deadline)
    }

    /// The same without blocking a thread.
    public nonisolated(nonsending) func changes(
        for account: String? = nil
    ) async throws(KeychainError) -> SecretChanges {
        try await backing.changes([StoreRequests(self, nil).query(account)], deadline)
    }
}

extension KeychainCatalog {
    /// The changes of all items of these classes, and of the lock state.
    ///
    /// ```swift
    /// for await change in try await catalog.changes() { log(change.kind.rawValue) }
    /// ```
    ///
    /// - Throws: As `SecretStore.changes(for:)`.
    public func changes(_ classes: [ItemClass] = ItemClass.allCases) throws(KeychainError) -> SecretChanges {
        try backing.changes(classes.map(Self.everything), deadline)
    }

    /// The same without blocking a thread.
    public nonisolated(nonsending) func changes(
        _ classes: [ItemClass] = ItemClass.allCases
    ) async throws(KeychainError) -> SecretChanges {
        try await backing.changes(classes.map(Self.everything), deadline)
    }

    private static func everything(_ itemClass: ItemClass) -> Query {
        var query = Query(itemClass)
        query.synchronizableAny = true
        return query
    }
}

extension Backing {
    fileprivate func changes(_ queries: [Query], _ deadline: Deadline?) throws(KeychainError) -> SecretChanges {
        try call(deadline) { (_) throws(KeychainError) in SecretChanges(feed: try ChangeFeed(self, queries)) }
    }

    fileprivate nonisolated(nonsending) func changes(
        _ queries: [Query], _ deadline: Deadline?
    ) async throws(KeychainError) -> SecretChanges {
        try await call(deadline) { (_) throws(KeychainError) in SecretChanges(feed: try ChangeFeed(self, queries)) }
    }
}
