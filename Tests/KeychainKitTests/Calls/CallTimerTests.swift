// SPDX-License-Identifier: Apache-2.0
// When the calls of a store are looked at because their time may be up.

import KeychainTestSupport
import Synchronization
import Testing

@testable import KeychainKit

@Suite("Call timer", .timeLimit(.minutes(60)))
struct CallTimerTests {
    @Test func sleeper_whileTheClockGoesOn_sleepsUntilTheDeadline() async throws {
        let clock = RestlessClock()
        let deadline = Duration.seconds(60)
        Timekeeper(clock).timer.set(for: Waiting(deadline: deadline))
        try await yieldUntil("A sleeper") { clock.sleepsUntil != nil }
        #expect(clock.sleepsUntil == RestlessClock.start.advanced(by: deadline))
    }

    @Test func call_onAClockThatLetsNobodySleep_ends() async throws {
        let call = Waiting(deadline: .seconds(2))
        Timekeeper(RestlessClock()).timer.set(for: call)
        try await yieldUntil("The end of the call") { call.isExpired }
    }
}

/// A clock that advances by a second each time it is read, and on which sleeping never ends.
private final class RestlessClock: Clock {
    static let start = ContinuousClock.now

    private let state = Mutex(State())

    private struct State {
        var looks = 0
        var sleepsUntil: ContinuousClock.Instant?
    }

    var sleepsUntil: ContinuousClock.Instant? { state.withLock { $0.sleepsUntil } }
    var minimumResolution: Swift.Duration { .nanoseconds(1) }

    var now: ContinuousClock.Instant {
        state.withLock { state in
            defer { state.looks += 1 }
            return Self.start.advanced(by: .seconds(state.looks))
        }
    }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Swift.Duration?) async throws {
        state.withLock { $0.sleepsUntil = deadline }
        throw CancellationError()
    }
}

private final class Waiting: Expiring {
    let deadline: Duration

    private let expired = Mutex(false)

    var isExpired: Bool { expired.withLock { $0 } }

    init(deadline: Duration) { self.deadline = deadline }

    func expire() { expired.withLock { $0 = true } }
}
