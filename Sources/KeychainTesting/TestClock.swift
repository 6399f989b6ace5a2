// SPDX-License-Identifier: Apache-2.0
// A clock that stands still until a test moves it.

public import Foundation
import Synchronization

/// A clock for tests of timeouts, dates of items, and everything that sleeps.
///
/// ```swift
/// let time = TestClock()
/// var store = SecretStore(service: "com.example.app", store: silent)  // which never answers
/// store.clock = time
/// let call = Task { [store] in try await store.read(String.self, for: "alice") }
/// await time.untilSleeping()
/// time.advance(by: .seconds(60))  // the read ends as `timedOut`
/// ```
///
/// Items get its ``date`` if the store's `now` returns it.
public final class TestClock: Clock {
    /// An instant of a test clock. It can only be compared with instants of the same clock.
    public struct Instant: InstantProtocol {
        /// How far the clock has been advanced at this instant.
        let elapsed: Swift.Duration

        public func advanced(by duration: Swift.Duration) -> Instant { Instant(elapsed: elapsed + duration) }
        public func duration(to other: Instant) -> Swift.Duration { other.elapsed - elapsed }
        public static func < (left: Instant, right: Instant) -> Bool { left.elapsed < right.elapsed }
    }

    private struct Sleeper {
        let wakesAt: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var date: Date
        var now = Instant(elapsed: .zero)
        var sleepers: [Int: Sleeper] = [:]
        /// Sleepers and waiters whose task was cancelled before they were registered.
        var cancelled: Set<Int> = []
        var nextNumber = 0
        var waiting: [Int: (count: Int, continuation: CheckedContinuation<Void, Never>)] = [:]

        /// The waiters for at most the current number of sleepers.
        mutating func takeReady() -> [CheckedContinuation<Void, Never>] {
            let ready = waiting.filter { $0.value.count <= sleepers.count }
            for number in ready.keys { waiting[number] = nil }
            return ready.values.map(\.continuation)
        }
    }

    private let state: Mutex<State>

    /// - Parameter date: The initial date. It is fixed by default, so that a test's results do not depend on when it
    ///   runs.
    public init(date: Date = Date(timeIntervalSinceReferenceDate: 700_000_000)) { state = Mutex(State(date: date)) }

    /// The date. Setting it is like setting a wall clock, also backwards: it wakes no sleeper, and ``now`` does not
    /// change.
    public var date: Date {
        get { state.withLock { $0.date } }
        set { state.withLock { $0.date = newValue } }
    }

    public var now: Instant { state.withLock { $0.now } }

    public var minimumResolution: Swift.Duration { .nanoseconds(1) }

    /// How far the clock has been advanced.
    public var elapsed: Swift.Duration { now.elapsed }

    /// The number of sleepers.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Moves date and time forward, and wakes the sleepers whose time has come, in order of their deadlines.
    ///
    /// - Parameter duration: A negative duration counts as zero: time does not go back.
    public func advance(by duration: Swift.Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: max(duration, .zero))
            state.date += max(duration, .zero).seconds
            let due = state.sleepers.filter { $0.value.wakesAt <= state.now }
            for number in due.keys { state.sleepers[number] = nil }
            return due.sorted { ($0.value.wakesAt, $0.key) < ($1.value.wakesAt, $1.key) }
        }
        for (_, sleeper) in due { sleeper.continuation.resume() }
    }

    /// Returns when the clock has been advanced to `deadline`, or at once if it already has been.
    ///
    /// - Parameter tolerance: Ignored.
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Swift.Duration? = nil) async throws {
        let number = newNumber()
        defer { _ = state.withLock { $0.cancelled.remove(number) } }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { lieDown(number, until: deadline, $0) }
        } onCancel: {
            cancel(number)
        }
    }

    /// Waits, without blocking a thread, until that many tasks sleep at the same time. It returns early if the task is
    /// cancelled, for example by a test's time limit.
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
        _ number: Int, until deadline: Instant, _ continuation: CheckedContinuation<Void, any Error>
    ) {
        let (ending, ready) = state.withLock {
            state -> (Result<Void, any Error>?, [CheckedContinuation<Void, Never>]) in
            if state.cancelled.contains(number) { return (.failure(CancellationError()), []) }
            guard deadline > state.now else { return (.success(()), []) }
            state.sleepers[number] = Sleeper(wakesAt: deadline, continuation: continuation)
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

extension Duration {
    var seconds: Double { self / .seconds(1) }
}
