// SPDX-License-Identifier: Apache-2.0
// Telling observers that something may have changed.

import Dispatch
import Synchronization

/// Keeps an observer registered for as long as it lives.
public final class StoreObservation: Sendable {
    private let end: @Sendable () -> Void

    /// - Parameter end: Runs once, when the observation goes.
    public init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }
}

/// The observers of a store, told one after another on a thread of their own.
public final class StoreObservers: Sendable {
    private struct State {
        var nextNumber = 0
        var observers: [Int: @Sendable () -> Void] = [:]
        /// Whether a call is on its way that will see what has just changed.
        var isPending = false
    }

    private let state = Mutex(State())
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
            // It goes outside the lock: with it may go observations that it held.
            _ = self?.state.withLock { $0.observers.removeValue(forKey: number) }
        }
    }

    /// Calls every observer soon; calls that are asked for meanwhile become one.
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
        // Asked for one by one: one may end the observation of the next.
        for number in numbers { state.withLock({ $0.observers[number] })?() }
    }
}
