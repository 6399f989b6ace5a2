// SPDX-License-Identifier: Apache-2.0
// One who is told of values, and the end of that.

import Synchronization

/// What an observer has in hand to stop observing.
///
/// ```swift
/// observation.stopObserving()
/// ```
///
/// It takes any closure, also one that other threads must not call, so it is not `Sendable`. One that comes from an
/// ``ObservedValueStore`` may be handed over to another task.
public final class Observation {
    private let unregister: () -> Void

    /// - Parameter unregister: Called with each ``stopObserving()``.
    public init(unregister: @escaping () -> Void) { self.unregister = unregister }

    /// After this no call of the observer begins; one that runs on another thread goes on to its end. Stopping twice does
    /// nothing more.
    public func stopObserving() { unregister() }
}

/// Gets the values of a store in the order in which they come, one at a time.
///
/// `@unchecked`: what the callback holds belongs to `isolation`, and is called only there; without one it is never called by
/// two threads at a time.
final class Observer: @unchecked Sendable {
    fileprivate struct State {
        var pending: [String?] = []
        var isDelivering = false
        var isStopped = false
    }

    /// Not kept alive by being told: an actor that has the store would never go. Once it is gone, nobody else is there.
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

    /// Calls the callback with what has been noted, unless somebody is at it: who is, perhaps this very callback, goes on.
    ///
    /// - Parameter here: Where the caller runs.
    func deliver(isolation here: (any Actor)?) {
        guard let isolation, isolation !== here else { return call() }
        // At once in its queue: whoever asks the actor after setting finds it told.
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

    /// - Returns: `nil`: there is nothing more, and nobody delivers any longer.
    fileprivate mutating func next() -> String?? {
        if !pending.isEmpty { return .some(pending.removeFirst()) }
        isDelivering = false
        return nil
    }
}
