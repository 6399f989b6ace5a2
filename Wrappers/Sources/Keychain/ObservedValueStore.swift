// SPDX-License-Identifier: Apache-2.0
// A store that tells of what is set in it.

import Synchronization

/// A value store that tells observers of each value that is set through it.
///
/// ```swift
/// let store = ObservedValueStore(valueStore: ValueKeychainStore(accountName: "api-key"))
/// let observation = store.observeChanges { value in show(value ?? "none") }
/// ```
///
/// It does not tell of what other programs, or other stores of this one, set. KeychainKit's `values(for:)` does.
public final class ObservedValueStore: ValueStore, Sendable {
    private let valueStore: any ValueStore & Sendable
    private let observers = Mutex<[Observer]>([])
    /// Values are set one after another, so that observers hear of them in that order.
    private let turn = Mutex(())

    /// - Parameter valueStore: Where the value is kept.
    public init(valueStore: any ValueStore & Sendable) { self.valueStore = valueStore }

    // MARK: - Getting and setting

    /// What the store has.
    ///
    /// - Throws: What it throws.
    public func get() throws -> String? { try valueStore.get() }

    /// Sets the value, then tells the observers of it.
    ///
    /// - Throws: What the store throws; then nobody is told.
    public func set(_ value: String?, isolation: isolated (any Actor)? = #isolation) throws {
        let told = try turn.withLock { _ in
            try valueStore.set(value)
            return note(value)
        }
        for observer in told { observer.deliver(isolation: isolation) }
    }

    /// Sets the value for whoever does not know that it is observed.
    @_disfavoredOverload
    public func set(_ value: String?) throws { try set(value, isolation: nil) }

    private func note(_ value: String?) -> [Observer] {
        let observers = observers.withLock { $0 }
        for observer in observers { observer.note(value) }
        return observers
    }

    // MARK: - Observing

    /// Calls `callback` with each value that is set from now on, `nil` if it is removed.
    ///
    /// ```swift
    /// let observation = store.observeChanges { value in show(value ?? "none") }
    /// ```
    ///
    /// Each observer gets all values in the order in which they were set, one call after another. It may use the store, and
    /// stop observing; what it sets comes when it has returned.
    ///
    /// Registered on an actor, the main one for instance, it is called there: before `set` returns if that is called there as
    /// well, else when the actor has time. Registered anywhere else, it is called on the thread that sets, before `set` returns,
    /// unless another thread is calling it just then. Such a callback must not touch what other threads use at the same time.
    ///
    /// - Returns: What ends it. Letting go of that does not.
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

    /// The same under a shorter name.
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
