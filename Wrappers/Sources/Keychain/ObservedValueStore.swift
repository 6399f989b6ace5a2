// SPDX-License-Identifier: Apache-2.0
// A store that reports what is set in it.

import Synchronization

/// A value store that passes each value that is set through it to its observers.
///
/// ```swift
/// let store = ObservedValueStore(valueStore: ValueKeychainStore(accountName: "api-key"))
/// let observation = store.observeChanges { value in show(value ?? "none") }
/// ```
///
/// It does not report what other programs, or other stores of this program, set. KeychainKit's `values(for:)` does.
public final class ObservedValueStore: ValueStore, Sendable {
    private let valueStore: any ValueStore & Sendable
    private let observers = Mutex<[Observer]>([])
    /// Values are set one after another, so that observers receive them in that order.
    private let turn = Mutex(())

    /// - Parameter valueStore: Where the value is kept.
    public init(valueStore: any ValueStore & Sendable) { self.valueStore = valueStore }

    // MARK: - Getting and setting

    /// The value of the underlying store.
    ///
    /// - Throws: The error of the underlying store.
    public func get() throws -> String? { try valueStore.get() }

    /// Sets the value, then passes it to the observers.
    ///
    /// - Throws: The error of the underlying store; the observers then receive nothing.
    public func set(_ value: String?, isolation: isolated (any Actor)? = #isolation) throws {
        let told = try turn.withLock { _ in
            try valueStore.set(value)
            return note(value)
        }
        for observer in told { observer.deliver(isolation: isolation) }
    }

    /// Sets the value for callers that only know the protocol.
    @_disfavoredOverload
    public func set(_ value: String?) throws { try set(value, isolation: nil) }

    private func note(_ value: String?) -> [Observer] {
        let observers = observers.withLock { $0 }
        for observer in observers { observer.note(value) }
        return observers
    }

    // MARK: - Observing

    /// Calls `callback` with each value that is set from now on; `nil` if the value is removed.
    ///
    /// ```swift
    /// let observation = store.observeChanges { value in show(value ?? "none") }
    /// ```
    ///
    /// Each observer receives all values in the order in which they were set, one call after another. The callback may
    /// use the store and may stop observing. A value that it sets is delivered after it has returned.
    ///
    /// A callback that is registered on an actor, such as the main actor, is called there: before `set` returns if
    /// `set` is called on the same actor, otherwise when the actor is free. Any other callback is called on the thread
    /// that sets, before `set` returns, unless another thread is calling it at that moment. Such a callback must not
    /// access data that other threads use at the same time.
    ///
    /// - Returns: A handle that stops observing. Releasing it does not stop the observer.
    @discardableResult
    public func observeChanges(
        isolation: isolated (any Actor)? = #isolation, callback: @escaping (String?) -> Void
    ) -> sending Observation {
        let observer = Observer(isolation, callback)
        observers.withLock { $0.append(observer) }
        return Observation { @Sendable [weak self, weak observer] in
            observer?.stop()
            self?.observers.withLock { $0.removeAll { $0 === observer } }
        }
    }

    /// The same as ``observeChanges(isolation:callback:)`` with a shorter name.
    ///
    /// ```swift
    /// let observation = store.observe { value in show(value ?? "none") }
    /// ```
    @discardableResult
    public func observe(
        isolation: isolated (any Actor)? = #isolation, _ callback: @escaping (String?) -> Void
    ) -> sending Observation {
        observeChanges(isolation: isolation, callback: callback)
    }
}
