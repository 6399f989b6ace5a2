// SPDX-License-Identifier: Apache-2.0
// An item that views observe.

public import Observation

/// Holds the value of an item for views, and updates it when any program changes the item.
///
/// ```swift
/// let token = ObservedSecret(String.self, for: "alice", in: SecretStore(service: "com.example.app"))
/// let title = token.isLocked ? "Locked" : token.value == nil ? "Signed out" : "Signed in"
/// ```
///
/// The value is released while it cannot be read. Otherwise it is in ordinary memory, unless `Value` is
/// ``SecretValue``.
@MainActor
@Observable
public final class ObservedSecret<Value: Decodable & Sendable> {
    /// `nil` if there is no item, if the item cannot be read (``failure`` says why), or before the first read
    /// (``isKnown``).
    public private(set) var value: Value?
    /// Why the last read failed, including `locked`.
    public private(set) var failure: KeychainError?
    /// Whether the keychain has been read at least once.
    public private(set) var isKnown = false
    /// Whether the item could be read if the keychain were unlocked.
    public var isLocked: Bool { failure?.reason == .locked }

    @ObservationIgnored private var following: Task<Void, Never>?

    /// Begins to observe the item. The keychain is read on another thread.
    ///
    /// A read that failed because the keychain was busy, unavailable or too slow is repeated after a pause, without
    /// asking the user.
    public init(_ type: Value.Type = Value.self, for account: String, in store: SecretStore) {
        following = Task { [weak self] in
            var retries = ReadRetries()
            while !Task.isCancelled {
                do throws(KeychainError) {
                    let changes = try await store.changes(for: account)
                    for await reading in Readings<Value>(store: store, account: account, changes: changes) {
                        self?.take(reading)
                    }
                    return
                } catch {
                    self?.take(.failure(error))
                    guard await retries.pause(after: error, by: store.clock) == .over else { return }
                }
            }
        }
    }

    deinit { following?.cancel() }

    private func take(_ reading: Result<Value?, KeychainError>) {
        isKnown = true
        switch reading {
        case .success(let value): (self.value, failure) = (value, nil)
        case .failure(let failure): (value, self.failure) = (nil, failure)
        }
    }
}
