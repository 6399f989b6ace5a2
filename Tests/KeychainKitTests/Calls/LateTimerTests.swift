// SPDX-License-Identifier: Apache-2.0
// A timer that rings too late, as on a machine that has much to do.

import KeychainEngine
import Synchronization
import Testing

@testable import KeychainKit

/// A clock that advances on request and wakes no sleeper.
private struct SilentClock: Clock {
    struct Instant: InstantProtocol {
        let time: Duration
        func advanced(by duration: Duration) -> Instant { Instant(time: time + duration) }
        func duration(to other: Instant) -> Duration { other.time - time }
        static func < (lhs: Instant, rhs: Instant) -> Bool { lhs.time < rhs.time }
    }

    private final class Hand: Sendable {
        let time = Mutex(Duration.zero)
    }

    private let hand = Hand()
    var now: Instant { Instant(time: hand.time.withLock { $0 }) }
    var minimumResolution: Duration { .nanoseconds(1) }

    func advance(by duration: Duration) { hand.time.withLock { $0 += duration } }

    func sleep(until _: Instant, tolerance _: Duration?) async throws { try await Task.sleep(for: .seconds(3600)) }
}

struct LateTimerTests {
    @Test func call_whoseTimeIsOverBeforeItBegins_neverBegins() async throws {
        let clock = SilentClock()
        let hasBegun = Mutex(false)
        let call = Call<Bool>(WorkerQueue(), Timekeeper(clock), Timeout(operation: .milliseconds(200))) { _ in
            hasBegun.withLock { $0 = true }
            return true
        }
        clock.advance(by: .seconds(1))
        let ending = await withCheckedContinuation { continuation in
            call.start { continuation.resume(returning: $0) }
        }
        guard case .failure(let error) = ending else {
            Issue.record("The call has succeeded.")
            return
        }
        #expect(error.reason == .timedOut)
        #expect(!hasBegun.withLock { $0 })
    }
}
