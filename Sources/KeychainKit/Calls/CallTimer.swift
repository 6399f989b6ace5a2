// SPDX-License-Identifier: Apache-2.0
// A timer that ends calls when their time is up. One task sleeps for all calls; without calls there is none.

import SecretMemory

/// Something that must end at a given time.
protocol Expiring: AnyObject, Sendable {
    /// A time of the timer's clock, as `elapsed` measures it; not a length of time.
    var deadline: Duration { get }
    func expire()
}

final class CallTimer: Sendable {
    private struct State {
        var waiting: [ObjectIdentifier: any Expiring] = [:]
        var sleeper: Task<Void, Never>?
        /// When the sleeper wakes up.
        var wakesAt: Duration?
    }

    /// Sleep at most one day, then re-arm: some clocks overflow on very long sleeps.
    private static let longestSleep = Duration.seconds(86400)

    private let state = Guarded(State())
    private let elapsed: @Sendable () -> Duration
    private let sleepUntil: @Sendable (Duration) async throws -> Void

    /// - Parameter sleepUntil: Returns at a time as measured by `elapsed`. With a length of time the sleeper would be late by what
    ///   the clock goes on before it sleeps: a test that moves its clock just then would wait for ever.
    init(
        elapsed: @escaping @Sendable () -> Duration, sleepUntil: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.elapsed = elapsed
        self.sleepUntil = sleepUntil
    }

    /// Arms the timer for `expiring`. Call it again when the deadline of `expiring` changes.
    func set(for expiring: any Expiring) {
        let deadline = expiring.deadline
        state.withLock { state in
            state.waiting[ObjectIdentifier(expiring)] = expiring
            if let wakesAt = state.wakesAt, wakesAt <= deadline { return }
            replaceSleeper(&state, deadline)
        }
    }

    /// The sleeping task keeps running. Calls end often, and one needless wake-up costs less than a new task for each
    /// call.
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
            let now = elapsed()
            if now < deadline { try await sleepUntil(min(deadline, now + Self.longestSleep)) }
        } catch {
            // Cancelled: another sleeper has taken over.
            guard !Task.isCancelled, await pauses() else { return }
        }
        expireDue()
    }

    /// Waits a second of the system's: a clock that fails must neither leave calls waiting for ever nor be asked without pause.
    private func pauses() async -> Bool {
        do { try await Task.sleep(for: .seconds(1)) } catch { return false }
        return true
    }

    private func expireDue() {
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
