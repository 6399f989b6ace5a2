// SPDX-License-Identifier: Apache-2.0
// Ends calls whose time is up: one sleeping task for all of them, and none while there are none.

import Synchronization

/// Something that has to end at some time.
protocol Expiring: AnyObject, Sendable {
    /// As measured by the clock that it was given to.
    var deadline: Duration { get }
    func expire()
}

final class Alarm: Sendable {
    private struct State {
        var waiting: [ObjectIdentifier: any Expiring] = [:]
        var sleeper: Task<Void, Never>?
        /// When the sleeper wakes up.
        var wakesAt: Duration?
    }

    /// Some clocks do not count to the end of very long times. Who wakes up for nothing sleeps on.
    private static let longestSleep = Duration.seconds(86400)

    private let state = Mutex(State())
    private let elapsed: @Sendable () -> Duration
    private let sleep: @Sendable (Duration) async throws -> Void

    init(elapsed: @escaping @Sendable () -> Duration, sleep: @escaping @Sendable (Duration) async throws -> Void) {
        self.elapsed = elapsed
        self.sleep = sleep
    }

    /// Sees to it that `expiring` ends in time; also after its deadline has changed.
    func set(for expiring: any Expiring) {
        let deadline = expiring.deadline
        state.withLock { state in
            state.waiting[ObjectIdentifier(expiring)] = expiring
            if let wakesAt = state.wakesAt, wakesAt <= deadline { return }
            replaceSleeper(&state, deadline)
        }
    }

    /// The sleeper is left alone: calls end all the time, and waking up once for nothing costs less than a new task for each.
    func clear(for expiring: any Expiring) {
        state.withLock { $0.waiting[ObjectIdentifier(expiring)] = nil }
    }

    private func replaceSleeper(_ state: inout State, _ deadline: Duration?) {
        state.sleeper?.cancel()
        state.wakesAt = deadline
        state.sleeper = deadline.map { deadline in Task { await self.wake(at: deadline) } }
    }

    private func wake(at deadline: Duration) async {
        do {
            let remaining = deadline - elapsed()
            if remaining > .zero { try await sleep(min(remaining, Self.longestSleep)) }
        } catch {
            return  // Another sleeper has taken over.
        }
        ring()
    }

    private func ring() {
        let now = elapsed()
        let due = state.withLock { state in
            let due = state.waiting.filter { $0.value.deadline <= now }
            for id in due.keys { state.waiting[id] = nil }
            replaceSleeper(&state, state.waiting.values.map(\.deadline).min())
            return due.values
        }
        for expiring in due { expiring.expire() }
    }
}
