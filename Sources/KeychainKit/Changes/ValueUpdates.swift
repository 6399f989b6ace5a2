// SPDX-License-Identifier: Apache-2.0
// The values of an item as an asynchronous sequence.

import Foundation
import KeychainEngine

/// The current value of an item, and each later value; `nil` while there is no item.
///
/// ```swift
/// for try await token in try await store.values(String.self, for: "alice") { connect(with: token) }
/// ```
///
/// A slow reader gets the latest value. The value is repeated when any part of the item changes, for example its label,
/// but not when the item is only locked and unlocked. The sequence gives nothing while the item is locked; any other
/// error ends it. It ends when the waiting task is cancelled. Use it in one loop.
public struct ValueUpdates<Value: Decodable & Sendable>: AsyncSequence, Sendable {
    public typealias Element = Value?
    public typealias Failure = KeychainError

    let readings: Readings<Value>

    public func makeAsyncIterator() -> Iterator {
        var iterator = readings.makeAsyncIterator()
        iterator.skipsLocked = true
        return Iterator(readings: iterator)
    }

    public struct Iterator: AsyncIteratorProtocol {
        var readings: Readings<Value>.Iterator

        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(KeychainError) -> Value?? {
            guard let reading = await readings.next(isolation: actor) else { return nil }
            switch reading {
            case .success(let value): return .some(value)
            case .failure(let failure):
                readings.end()
                throw failure
            }
        }
    }
}

extension SecretStore {
    /// The current value of an account, and each later value, whichever program changes it.
    ///
    /// ```swift
    /// for try await token in try await store.values(String.self, for: "alice") { connect(with: token) }
    /// ```
    ///
    /// No change between the first value and the next one is missed. If the item requires authentication, the user
    /// is asked for each value, unless ``allowsInteraction`` or ``context`` prevent that.
    ///
    /// - Throws: The errors of `changes(for:)`.
    public func values<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, for account: String
    ) throws(KeychainError) -> ValueUpdates<Value> {
        ValueUpdates(readings: Readings(store: self, account: account, changes: try changes(for: account)))
    }

    /// The asynchronous form.
    public nonisolated(nonsending) func values<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, for account: String
    ) async throws(KeychainError) -> ValueUpdates<Value> {
        ValueUpdates(readings: Readings(store: self, account: account, changes: try await changes(for: account)))
    }
}

/// The result of reading an item: the current one, then one after each change, and after a failure that has passed.
/// Equal results are not repeated.
struct Readings<Value: Decodable & Sendable>: AsyncSequence, Sendable {
    typealias Element = Result<Value?, KeychainError>
    typealias Failure = Never

    let store: SecretStore
    let account: String
    let changes: SecretChanges

    func makeAsyncIterator() -> Iterator {
        Iterator(store: store, account: account, changes: changes.makeAsyncIterator())
    }

    struct Iterator: AsyncIteratorProtocol {
        /// The state at a read: one version of an item, no item, or a failure.
        private enum Seen: Equatable {
            case item(UUID, UInt64)
            case nothing
            case failure(KeychainError)

            var failure: KeychainError? { if case .failure(let failure) = self { failure } else { nil } }
            var isLocked: Bool { failure?.reason == .locked }
        }

        private let store: SecretStore
        private let account: String
        private var changes: SecretChanges.Iterator
        private var seen: Seen?
        private var hasBegun = false
        private var retries = ReadRetries()
        /// Whether locked items are skipped. Then, after unlocking, an item is repeated only if it has changed.
        var skipsLocked = false

        init(store: SecretStore, account: String, changes: SecretChanges.Iterator) {
            (self.store, self.account, self.changes) = (store, account, changes)
        }

        mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Element? {
            while true {
                let pause = await retries.pause(
                    after: seen?.failure, by: store.clock, endedBy: SecretChanges(feed: changes.feed))
                if hasBegun, pause == .noPause, await changes.next(isolation: actor) == nil { return nil }
                hasBegun = true
                let (reading, now) = await read(asksUser: pause != .over, isolation: actor)
                // Then cancellation is the only reason of the failure.
                if Task.isCancelled {
                    end()
                    return nil
                }
                if skipsLocked, now.isLocked { continue }
                defer { seen = now }
                if seen != now { return reading }
            }
        }

        /// Ends the sequence and the observation.
        mutating func end() {
            seen = nil
            changes.feed.end()
        }

        /// - Parameter asksUser: `false` for a repeated read, as the user may have left the question unanswered.
        private func read(asksUser: Bool, isolation: isolated (any Actor)?) async -> (Element, Seen) {
            var store = store
            if !asksUser { store.allowsInteraction = false }
            let (account, coder) = (account, store.coder)
            do throws(KeychainError) {
                let found = try await store.call { (requests) throws(KeychainError) in
                    try requests.find(account, includingValue: true)
                }
                guard let found else { return (.success(nil), .nothing) }
                return (found.reading(coder), .item(found.id, found.version))
            } catch {
                return (.failure(error), .failure(error))
            }
        }
    }
}

extension StoredItem {
    fileprivate func reading<Value: Decodable>(_ coder: any SecretCoder) -> Result<Value?, KeychainError> {
        Result { () throws(KeychainError) in try value(Value.self, coder) }
    }
}
