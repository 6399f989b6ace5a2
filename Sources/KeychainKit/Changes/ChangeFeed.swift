// SPDX-License-Identifier: Apache-2.0
// Follows the items of some queries, for one who waits for changes.

import Dispatch
import KeychainEngine
import Synchronization

/// What was seen when it began, and the changes since that nobody has taken yet.
///
/// It looks on the thread on which the store tells it of changes, which is none of Swift's own pool. The store makes one call
/// at a time and one of many changes, so looks neither overlap nor pile up.
final class ChangeFeed: Sendable {
    private typealias Waiting = CheckedContinuation<SecretChange?, Never>

    private struct State {
        var known = KnownItems()
        var pending = PendingChanges()
        var waiting: [Waiting] = []
        var observation: StoreObservation?
        var isEnded = false
    }

    private let backing: Backing
    private let queries: [Query]
    private let state = Mutex(State())
    private let retries = Retries()
    /// Held during a look: the first is on the caller's thread, and one after a failure on another.
    private let looking = Mutex(())

    /// Begins to observe, and then sees what there is: what changes from then on is a change.
    init(_ backing: Backing, _ queries: [Query]) throws(KeychainError) {
        (self.backing, self.queries) = (backing, queries)
        let observation = try backing.engine.store.observe { [weak self] in self?.look() }
        state.withLock { $0.observation = observation }
        try looking.withLock { (_) throws(KeychainError) in try begin() }
    }

    // MARK: - Taking changes

    /// The next change; `nil` once the feed has ended, which it does when the task is cancelled that waits.
    func next(isolation: isolated (any Actor)?) async -> SecretChange? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { wait($0) }
        } onCancel: {
            end()
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

    /// Lets go of the store; nobody waits any longer.
    func end() {
        // All of it goes outside the lock.
        let before = state.withLock { state in
            defer {
                state = State()
                state.isEnded = true
            }
            return state
        }
        for waiting in before.waiting { waiting.resume(returning: nil) }
    }

    // MARK: - Looking

    private func look() {
        looking.withLock { _ in
            do throws(KeychainError) {
                try compare()
                retries.reset()
            } catch {
                // Nobody will tell when the store answers again.
                lookLater()
            }
        }
    }

    /// The first comparison. A store that does not tell of its unlocking is asked from time to time.
    private func begin() throws(KeychainError) {
        do throws(KeychainError) {
            try compare()
        } catch {
            guard error.reason == .locked else { throw error }
            lookLater()
        }
    }

    private func lookLater() { retries.schedule { [weak self] in self?.look() } }

    private func compare() throws(KeychainError) {
        let engine = backing.engine
        let lockState = try engine.store.lockState
        deliver { $0.changes(lockState) }
        let versions = state.withLock { $0.known.versions }
        do throws(KeychainError) {
            let differences = try engine.differences(queries, from: versions, caller: backing.caller)
            deliver { $0.changes(differences) }
        } catch {
            // It is compared with what is known now when the store is unlocked, of which the store tells.
            guard error.reason == .locked, lockState != .unlocked else { throw error }
        }
    }

    private func deliver(_ changes: (inout KnownItems) -> [KnownChange]) {
        let deliveries = state.withLock { state -> [(Waiting, SecretChange)] in
            guard !state.isEnded else { return [] }
            for change in changes(&state.known) { state.pending.add(change) }
            var deliveries: [(Waiting, SecretChange)] = []
            while !state.waiting.isEmpty, let change = state.pending.takeFirst() {
                deliveries.append((state.waiting.removeFirst(), change))
            }
            return deliveries
        }
        for (waiting, change) in deliveries { waiting.resume(returning: change) }
    }
}

/// Tries again after failures, less and less often.
private final class Retries: Sendable {
    private static let (shortest, longest) = (1, 64)
    /// Concurrent: a store that does not answer keeps nobody else from trying.
    private static let queue = DispatchQueue(label: "swift-keychain.retries", attributes: .concurrent)

    private struct State {
        var pause = shortest
        var isScheduled = false
    }

    private let state = Mutex(State())

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
