// SPDX-License-Identifier: Apache-2.0
// Slows down attackers that guess.

import SecretMemory

/// Delays attempts after wrong answers. Three are free, then each one delays the next attempt by 1, 2, 4 … up to 60
/// seconds.
///
/// ```swift
/// try limit.check()
/// if isRight(answer) { limit.succeeded() } else { limit.failed() }
/// ```
///
/// Does not protect against an attacker who has the files, restarts the program, or makes several attempts at the same
/// moment. It counts in memory, and only the answers that are reported to it.
public final class RateLimit: Sendable {
    private static let freeFailures = 3
    private static let longestDelay = Duration.seconds(60)

    private struct State {
        var failures = 0
        var nextTry: ContinuousClock.Instant?
    }

    private let state = Guarded(State())
    private let now: @Sendable () -> ContinuousClock.Instant

    /// - Parameter now: A clock that never goes back and continues while the machine sleeps.
    public init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) { self.now = now }

    /// - Throws: `authenticationFailed` while a delay runs.
    public func check() throws(KeychainError) {
        guard let nextTry = state.withLock({ $0.nextTry }) else { return }
        let left = nextTry - now()
        guard left > .zero else { return }
        let seconds = Int((left / .seconds(1)).rounded(.up))
        throw KeychainError(
            .authenticationFailed,
            "There were too many wrong answers: wait \(seconds) \(seconds == 1 ? "second" : "seconds") and try again.")
    }

    /// The answer was wrong.
    public func failed() {
        let now = now()
        state.withLock { state in
            state.failures += 1
            guard state.failures > Self.freeFailures else { return }
            state.nextTry = now + Self.delay(afterPaidFailures: state.failures - Self.freeFailures)
        }
    }

    /// The answer was right: counting starts again.
    public func succeeded() {
        state.withLock { $0 = State() }
    }

    private static func delay(afterPaidFailures number: Int) -> Duration {
        // 2⁶ is above the longest delay already. A larger shift would eventually overflow.
        min(.seconds(1 << min(number - 1, 6)), longestDelay)
    }
}

extension UserVerifier {
    /// Counts the answer.
    ///
    /// - Returns: `nil` if the secret is wrong.
    func userKey(ifProvenBy secret: SecretBytes) throws(KeychainError) -> SecretBytes? {
        do throws(KeychainError) {
            let key = try userKey(provenBy: secret)
            rateLimit.succeeded()
            return key
        } catch {
            guard error.reason == .authenticationFailed else { throw error }
            rateLimit.failed()
            return nil
        }
    }
}
