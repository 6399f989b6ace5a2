// SPDX-License-Identifier: Apache-2.0
// The values of an item as a sequence.

import Foundation
import KeychainEngine

/// The value of an item, and each value that it has later; `nil` while there is no item.
///
/// ```swift
/// for try await token in try await store.values(String.self, for: "alice") { connect(with: token) }
/// ```
///
/// A reader that is slow gets the latest. It comes again when anything of the item is changed, its label for instance, and not
/// when it is only locked and unlocked. While the item is locked nothing comes; what cannot be read for another reason ends the
/// sequence with that error. It ends when the task that waits is cancelled. For one loop.
public struct SecretValues<Value: Decodable & Sendable>: AsyncSequence, Sendable {
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
    /// The value of an account, and each value that it has later, by whatever program it is changed.
    ///
    /// ```swift
    /// for try await token in try await store.values(String.self, for: "alice") { connect(with: token) }
    /// ```
    ///
    /// Nothing is missed between the first value and the next. Items that ask for the user ask for each value, unless
    /// ``mayAsk`` or ``context`` say otherwise.
    ///
    /// - Throws: As `changes(for:)`.
    public func values<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, for account: String
    ) throws(KeychainError) -> SecretValues<Value> {
        SecretValues(readings: Readings(store: self, account: account, changes: try changes(for: account)))
    }

    /// The same without blocking a thread.
    public nonisolated(nonsending) func values<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, for account: String
    ) async throws(KeychainError) -> SecretValues<Value> {
        SecretValues(readings: Readings(store: self, account: account, changes: try await changes(for: account)))
    }
}

/// What reading an item gives, first now and then after each change; the same thing does not come twice in a row.
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
        /// What was there when it was read: an item in one version, none, or something that could not be read.
        private enum Seen: Equatable {
            case item(UUID, UInt64)
            case nothing
            case failure(KeychainError)

            var isLocked: Bool {
                if case .failure(let failure) = self { failure.reason == .locked } else { false }
            }
        }

        private let store: SecretStore
        private let account: String
        private var changes: SecretChanges.Iterator
        private var seen: Seen?
        private var hasBegun = false
        /// Whether a locked item is passed over, so that it comes again after unlocking only if it is another one.
        var skipsLocked = false

        init(store: SecretStore, account: String, changes: SecretChanges.Iterator) {
            (self.store, self.account, self.changes) = (store, account, changes)
        }

        mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Element? {
            while true {
                if hasBegun, await changes.next(isolation: actor) == nil { return nil }
                hasBegun = true
                let (reading, now) = await read(isolation: actor)
                // Then the failure is only that.
                if Task.isCancelled {
                    end()
                    return nil
                }
                if skipsLocked, now.isLocked { continue }
                defer { seen = now }
                if seen != now { return reading }
            }
        }

        /// Nothing comes any more, and nothing is observed.
        func end() { changes.feed.end() }

        private func read(isolation: isolated (any Actor)?) async -> (Element, Seen) {
            let account = account
            do throws(KeychainError) {
                let found = try await store.call { (requests) throws(KeychainError) in
                    try requests.find(account, includingValue: true)
                }
                guard let found else { return (.success(nil), .nothing) }
                return (found.reading(store.coder), .item(found.id, found.version))
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
