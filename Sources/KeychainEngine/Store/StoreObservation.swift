// SPDX-License-Identifier: Apache-2.0
// Notifies observers that something may have changed.

import Dispatch
import SecretMemory

/// Keeps an observer registered for as long as it lives.
public final class StoreObservation: Sendable {
    private let end: @Sendable () -> Void

    /// - Parameter end: Runs once, when the observation is released.
    public init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }
}

/// The observers of a store, called one after another on a separate thread.
public final class StoreObservers: Sendable {
    private struct State {
        var nextNumber = 0
        var observers: [Int: @Sendable () -> Void] = [:]
        /// Whether a notification is scheduled that will see the latest change.
        var isPending = false
    }

    private let state = Guarded(State())
    private let queue = DispatchQueue(label: "swift-keychain.observers")

    public init() {}

    public var isEmpty: Bool { state.withLock { $0.observers.isEmpty } }

    public func add(_ body: @escaping @Sendable () -> Void) -> StoreObservation {
        let number = state.withLock { state in
            state.nextNumber += 1
            state.observers[state.nextNumber] = body
            return state.nextNumber
        }
        return StoreObservation { [weak self] in
            // The observer is released outside the lock, since it may hold other observations.
            _ = self?.state.withLock { $0.observers.removeValue(forKey: number) }
        }
    }

    /// Calls every observer soon. Requests that arrive before the call are merged into one.
    public func announce() {
        let isFirst = state.withLock { state in
            guard !state.isPending, !state.observers.isEmpty else { return false }
            state.isPending = true
            return true
        }
        guard isFirst else { return }
        queue.async { self.callAll() }
    }

    private func callAll() {
        let numbers = state.withLock { state in
            state.isPending = false
            return state.observers.keys.sorted()
        }
        // The observers are looked up one by one, since one may end the observation of the next.
        for number in numbers { state.withLock({ $0.observers[number] })?() }
    }
}
