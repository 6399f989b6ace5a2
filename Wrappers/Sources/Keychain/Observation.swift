// SPDX-License-Identifier: Apache-2.0
// An observer of values, and the handle that stops it.

import Synchronization

/// A handle that stops an observer.
///
/// ```swift
/// observation.stopObserving()
/// ```
///
/// It accepts any closure, including one that other threads must not call, so it is not `Sendable`. An observation from
/// an ``ObservedValueStore`` may be sent to another task.
public final class Observation {
    private let unregister: () -> Void

    /// - Parameter unregister: Called with each ``stopObserving()``.
    public init(unregister: @escaping () -> Void) { self.unregister = unregister }

    /// Stops the observer. After this no call of the observer begins; a call on another thread runs to its end.
    /// Stopping twice has no further effect.
    public func stopObserving() { unregister() }
}

/// Passes the values of a store to a callback in the order in which they were set, one at a time.
///
/// `@unchecked`: the callback and what it captures belong to `isolation` and are used only there. Without an isolation,
/// two threads never call it at the same time.
final class Observer: @unchecked Sendable {
    fileprivate struct State {
        var pending: [String?] = []
        var isDelivering = false
        var isStopped = false
    }

    /// Weak, because an actor that owns the store would otherwise never be released. Without the actor there is no
    /// observer.
    private weak var isolation: (any Actor)?
    private let callback: (String?) -> Void
    private let state = Mutex(State())

    init(_ isolation: (any Actor)?, _ callback: @escaping (String?) -> Void) {
        (self.isolation, self.callback) = (isolation, callback)
    }

    func note(_ value: String?) {
        state.withLock { if !$0.isStopped { $0.pending.append(value) } }
    }

    func stop() {
        state.withLock { ($0.isStopped, $0.pending) = (true, []) }
    }

    /// Calls the callback with the recorded values, unless a call is in progress; that call then also delivers these
    /// values. The callback itself may be that call.
    ///
    /// - Parameter here: The isolation of the caller.
    func deliver(isolation here: (any Actor)?) {
        guard let isolation, isolation !== here else { return call() }
        // Enqueued at once: code that asks the actor after `set` then finds that it has received the value.
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            Task.immediate { await call(on: isolation) }
        } else {
            Task { await call(on: isolation) }
        }
    }

    private func call(on _: isolated any Actor) async { call() }

    private func call() {
        guard state.withLock({ $0.begin() }) else { return }
        while let value = state.withLock({ $0.next() }) { callback(value) }
    }
}

extension Observer.State {
    fileprivate mutating func begin() -> Bool {
        defer { isDelivering = true }
        return !isDelivering
    }

    /// - Returns: `nil`: there are no more values, and delivery has ended.
    fileprivate mutating func next() -> String?? {
        if !pending.isEmpty { return .some(pending.removeFirst()) }
        isDelivering = false
        return nil
    }
}
