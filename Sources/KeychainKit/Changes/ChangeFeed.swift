// SPDX-License-Identifier: Apache-2.0
// Follows the items of some queries and collects their changes.

import Dispatch
import KeychainEngine
import SecretMemory

/// The items as last seen, and the changes that have not been taken yet.
///
/// It reads the store on the thread on which the store notifies observers, which does not belong to Swift's cooperative
/// thread pool. The store makes one notification at a time, and merges several changes into one, so reads neither
/// overlap nor queue up.
final class ChangeFeed: Sendable {
    private typealias Waiting = CheckedContinuation<SecretChange?, Never>
    private typealias Signal = AsyncStream<Void>.Continuation

    private struct State {
        var pending = PendingChanges()
        var waiting: [Waiting] = []
        /// Of those who wait for a change without taking it.
        var signals: [Int: Signal] = [:]
        var signalCount = 0
        var observation: StoreObservation?
        var isEnded = false
    }

    private let backing: Backing
    private let queries: [Query]
    private let state = Guarded(State())
    private let retries = Retries()
    /// Held while reading: the first read is on the caller's thread, and a read after a failure is on another one.
    private let known = Guarded(KnownItems())

    /// Begins to observe, then reads the current items. Everything that changes from then on is reported.
    init(_ backing: Backing, _ queries: [Query]) throws(KeychainError) {
        (self.backing, self.queries) = (backing, queries)
        let observation = try backing.engine.store.observe { [weak self] in self?.look() }
        state.withLock { $0.observation = observation }
        try known.withLock { (known) throws(KeychainError) in try begin(&known) }
    }

    // MARK: - Taking changes

    /// The next change; `nil` once the feed has ended. Cancelling the waiting task ends the feed.
    func next(isolation: isolated (any Actor)?) async -> SecretChange? {
        await withTaskCancellationHandler {
            // As in `Call.ending(isolation:)`.
            _ = isolation
            return await withCheckedContinuation { wait($0) }
        } onCancel: {
            end()
        }
    }

    /// Waits until there is a change to take, or the feed has ended. Cancelling the task ends only this wait.
    func untilPending() async {
        let (signals, signal) = AsyncStream.makeStream(of: Void.self)
        let number: Int? = state.withLock { state in
            guard !state.isEnded, state.pending.isEmpty else { return nil }
            state.signalCount += 1
            state.signals[state.signalCount] = signal
            return state.signalCount
        }
        guard let number else { return }
        for await _ in signals { break }
        state.withLock { $0.signals[number] = nil }
    }

    /// Takes the first change, if there is one.
    ///
    /// - Returns: `false` if the feed has ended.
    func takeIfPending() -> Bool {
        state.withLock { state in
            _ = state.pending.takeFirst()
            return !state.isEnded
        }
    }

    private func wait(_ waiting: Waiting) {
        let (isKnown, change): (Bool, SecretChange?) = state.withLock { state in
            if state.isEnded { return (true, nil) }
            if let change = state.pending.takeFirst() { return (true, change) }
            state.waiting.append(waiting)
            return (false, nil)
        }
        if isKnown { waiting.resume(returning: change) }
    }

    /// Releases the store and ends all waiting.
    func end() {
        // The old state is released outside the lock.
        let before = state.withLock { state in
            defer {
                state = State()
                state.isEnded = true
            }
            return state
        }
        for waiting in before.waiting { waiting.resume(returning: nil) }
        for signal in before.signals.values { signal.finish() }
    }

    // MARK: - Looking

    private func look() {
        known.withLock { known in
            do throws(KeychainError) {
                try compare(&known)
                retries.reset()
            } catch {
                // The store does not notify when it answers again.
                lookLater()
            }
        }
    }

    /// The first comparison. A store that does not notify about unlocking is polled.
    private func begin(_ known: inout KnownItems) throws(KeychainError) {
        do throws(KeychainError) {
            try compare(&known)
        } catch {
            guard error.reason == .locked else { throw error }
            lookLater()
        }
    }

    private func lookLater() { retries.schedule { [weak self] in self?.look() } }

    private func compare(_ known: inout KnownItems) throws(KeychainError) {
        let engine = backing.engine
        let lockState = try engine.store.lockState
        deliver(known.changes(lockState))
        do throws(KeychainError) {
            let differences = try engine.differences(queries, from: known.versions, accessGroups: backing.accessGroups)
            deliver(known.changes(differences))
        } catch {
            // The items are compared when the store is unlocked; the store notifies about that.
            guard error.reason == .locked, lockState != .unlocked else { throw error }
        }
    }

    private func deliver(_ changes: [KnownChange]) {
        let (deliveries, signals) = state.withLock { state -> ([(Waiting, SecretChange)], [Signal]) in
            guard !state.isEnded else { return ([], []) }
            for change in changes { state.pending.add(change) }
            var deliveries: [(Waiting, SecretChange)] = []
            while !state.waiting.isEmpty, let change = state.pending.takeFirst() {
                deliveries.append((state.waiting.removeFirst(), change))
            }
            return (deliveries, state.pending.isEmpty ? [] : Array(state.signals.values))
        }
        for (waiting, change) in deliveries { waiting.resume(returning: change) }
        for signal in signals { signal.yield() }
    }
}

/// Retries after failures, with growing pauses.
private final class Retries: Sendable {
    private static let (shortest, longest) = (1, 64)
    /// Concurrent, so that a store that does not answer does not block the retries of others.
    private static let queue = DispatchQueue(label: "swift-keychain.retries", attributes: .concurrent)

    private struct State {
        var pause = shortest
        var isScheduled = false
    }

    private let state = Guarded(State())

    func reset() { state.withLock { $0.pause = Self.shortest } }

    func schedule(_ body: @escaping @Sendable () -> Void) {
        let pause: Int? = state.withLock { state in
            guard !state.isScheduled else { return nil }
            defer { state = State(pause: min(state.pause * 2, Self.longest), isScheduled: true) }
            return state.pause
        }
        guard let pause else { return }
        Self.queue.asyncAfter(deadline: .now() + .seconds(pause)) { [weak self] in
            self?.state.withLock { $0.isScheduled = false }
            body()
        }
    }
}
