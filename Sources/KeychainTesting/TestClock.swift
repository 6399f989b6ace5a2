// SPDX-License-Identifier: Apache-2.0
// A time that stands still until a test moves it.

public import Foundation
public import KeychainKit
import Synchronization

/// A clock for tests of what depends on time: dates of items, deadlines, whatever sleeps.
///
/// ```swift
/// let time = TestClock()
/// var store = SecretStore(service: "com.example.app", store: silent)  // which never answers
/// store.clock = time.clock
/// let call = Task { [store] in try await store.read(String.self, for: "alice") }
/// await time.untilSleeping()
/// time.advance(by: .seconds(60))  // the read ends as `timedOut`
/// ```
public final class TestClock: Sendable {
    private struct Sleeper {
        let wakesAt: Duration
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now: Date
        var elapsed = Duration.zero
        var sleepers: [Int: Sleeper] = [:]
        /// Those whose task was cancelled before they slept, or waited for sleepers.
        var cancelled: Set<Int> = []
        var nextNumber = 0
        var waiting: [Int: (count: Int, continuation: CheckedContinuation<Void, Never>)] = [:]

        /// Those who have waited for as many sleepers as there are now.
        mutating func takeReady() -> [CheckedContinuation<Void, Never>] {
            let ready = waiting.filter { $0.value.count <= sleepers.count }
            for number in ready.keys { waiting[number] = nil }
            return ready.values.map(\.continuation)
        }
    }

    private let state: Mutex<State>

    /// - Parameter now: The date at first; a fixed one, so that a test's results do not depend on when it runs.
    public init(now: Date = Date(timeIntervalSinceReferenceDate: 700_000_000)) { state = Mutex(State(now: now)) }

    /// The date. Setting it is like setting a wall clock, also backwards: nobody wakes up, and ``elapsed`` stays.
    public var now: Date {
        get { state.withLock { $0.now } }
        set { state.withLock { $0.now = newValue } }
    }

    /// By how much the clock has been advanced.
    public var elapsed: Duration { state.withLock { $0.elapsed } }

    /// How many sleep now.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// What a store, or anything else that takes a clock, is given.
    public var clock: KeychainClock {
        KeychainClock(now: { self.now }, elapsed: { self.elapsed }, sleep: { try await self.sleep(for: $0) })
    }

    /// Moves date and time forward, and wakes those whose time has come, in the order of their times.
    ///
    /// - Parameter duration: Negative ones are taken for zero: time does not go back.
    public func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.elapsed += max(duration, .zero)
            state.now += max(duration, .zero).seconds
            let due = state.sleepers.filter { $0.value.wakesAt <= state.elapsed }
            for number in due.keys { state.sleepers[number] = nil }
            return due.sorted { ($0.value.wakesAt, $0.key) < ($1.value.wakesAt, $1.key) }
        }
        for (_, sleeper) in due { sleeper.continuation.resume() }
    }

    /// Returns when the clock has been advanced by `duration` from now; at once if that is not above zero.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func sleep(for duration: Duration) async throws {
        let number = newNumber()
        defer { _ = state.withLock { $0.cancelled.remove(number) } }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { lieDown(number, for: duration, $0) }
        } onCancel: {
            cancel(number)
        }
    }

    /// Waits, without blocking a thread, until that many sleep at the same time; no longer once the task is cancelled, as it
    /// is when a test's time is over.
    public func untilSleeping(_ count: Int = 1) async {
        let number = newNumber()
        defer { _ = state.withLock { $0.cancelled.remove(number) } }
        await withTaskCancellationHandler {
            await withCheckedContinuation { wait(number, for: count, $0) }
        } onCancel: {
            cancel(number)
        }
    }

    private func newNumber() -> Int {
        state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
    }

    private func wait(_ number: Int, for count: Int, _ continuation: CheckedContinuation<Void, Never>) {
        let isOver = state.withLock { state in
            guard state.sleepers.count < count, !state.cancelled.contains(number) else { return true }
            state.waiting[number] = (count, continuation)
            return false
        }
        if isOver { continuation.resume() }
    }

    // MARK: - Sleepers

    private func lieDown(
        _ number: Int, for duration: Duration, _ continuation: CheckedContinuation<Void, any Error>
    ) {
        let (ending, ready) = state.withLock {
            state -> (Result<Void, any Error>?, [CheckedContinuation<Void, Never>]) in
            if state.cancelled.contains(number) { return (.failure(CancellationError()), []) }
            guard duration > .zero else { return (.success(()), []) }
            state.sleepers[number] = Sleeper(wakesAt: state.elapsed + duration, continuation: continuation)
            return (nil, state.takeReady())
        }
        if let ending { continuation.resume(with: ending) }
        for waiter in ready { waiter.resume() }
    }

    private func cancel(_ number: Int) {
        let (sleeper, waiter) = state.withLock { state in
            state.cancelled.insert(number)
            return (state.sleepers.removeValue(forKey: number), state.waiting.removeValue(forKey: number))
        }
        sleeper?.continuation.resume(throwing: CancellationError())
        waiter?.continuation.resume()
    }
}
