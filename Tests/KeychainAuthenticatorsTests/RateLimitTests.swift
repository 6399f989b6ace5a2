// SPDX-License-Identifier: Apache-2.0
// How long an attacker who guesses has to wait.

import KeychainEngine
import Synchronization
import Testing

@Suite("rate limit")
struct RateLimitTests {
    /// A clock that moves when it is told to.
    private final class Clock: Sendable {
        private let instant = Mutex(ContinuousClock.now)

        func now() -> ContinuousClock.Instant { instant.withLock { $0 } }
        func advance(_ duration: Duration) { instant.withLock { $0 += duration } }
    }

    private let clock = Clock()
    private let limit: RateLimit

    init() { limit = RateLimit(now: clock.now) }

    private func refusal() -> KeychainError? {
        do throws(KeychainError) {
            try limit.check()
            return nil
        } catch {
            return error
        }
    }

    private func fail(times: Int) { for _ in 0..<times { limit.failed() } }

    @Test(arguments: 0...3)
    func firstTries_wrong_areFree(failures: Int) {
        fail(times: failures)
        #expect(refusal() == nil)
    }

    @Test(arguments: [(4, 1), (5, 2), (6, 4), (7, 8), (8, 16), (9, 32), (10, 60), (11, 60), (1000, 60)])
    func furtherTries_wrong_takeLongerAndLonger(failures: Int, seconds: Int) {
        fail(times: failures)
        #expect(refusal()?.reason == .authenticationFailed)
        #expect(refusal()?.message.contains("wait \(seconds) second") == true)
        clock.advance(.seconds(seconds) - .milliseconds(1))
        #expect(refusal()?.message.contains("wait 1 second and") == true)
        clock.advance(.milliseconds(1))
        #expect(refusal() == nil)
    }

    @Test func rightAnswer_afterWrongOnes_beginsAgain() {
        fail(times: 5)
        limit.succeeded()
        #expect(refusal() == nil)
        fail(times: 3)
        #expect(refusal() == nil)
    }
}
