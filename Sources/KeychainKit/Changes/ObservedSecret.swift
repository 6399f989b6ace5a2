// SPDX-License-Identifier: Apache-2.0
// An item that views follow.

public import Observation

/// Holds the value of an item for views, and follows it as any program changes it.
///
/// ```swift
/// let token = ObservedSecret(String.self, for: "alice", in: SecretStore(service: "com.example.app"))
/// let title = token.isLocked ? "Locked" : token.value == nil ? "Signed out" : "Signed in"
/// ```
///
/// The value is dropped while it cannot be read. It is in ordinary memory meanwhile, unless `Value` is ``SecretValue``.
@MainActor
@Observable
public final class ObservedSecret<Value: Decodable & Sendable> {
    /// `nil` if there is no item, if it cannot be read (then ``failure`` says why), or before the first look (``isKnown``).
    public private(set) var value: Value?
    /// Why the item could not be read when it was last tried, `locked` included.
    public private(set) var failure: KeychainError?
    /// Whether the keychain has been looked at.
    public private(set) var isKnown = false
    /// Whether the item could be read if the keychain were unlocked.
    public var isLocked: Bool { failure?.reason == .locked }

    @ObservationIgnored private var following: Task<Void, Never>?

    /// Begins to follow; the keychain is looked at on another thread.
    public init(_ type: Value.Type = Value.self, for account: String, in store: SecretStore) {
        following = Task { [weak self] in
            let readings: Readings<Value>
            do throws(KeychainError) {
                let changes = try await store.changes(for: account)
                readings = Readings(store: store, account: account, changes: changes)
            } catch {
                self?.take(.failure(error))
                return
            }
            for await reading in readings { self?.take(reading) }
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
