// SPDX-License-Identifier: Apache-2.0
// A user who answers slowly.

import Foundation
package import KeychainEngine
import SecretMemory
import Synchronization

/// A user who waits at each question until told what to answer, or until the question is cancelled.
package final class SlowPerson: Authenticator {
    package let methods: Set<AuthenticationMethod> = [.passphrase]
    /// Gets one element for each question.
    private let questions: AsyncStream<Void>
    private let asked: AsyncStream<Void>.Continuation
    private let thinking = NSCondition()
    private let state = Mutex(State())

    private struct State {
        var answer: String?
        var wasCancelled = false
    }

    package init() { (questions, asked) = AsyncStream.makeStream() }

    /// Whether a question was taken back.
    package var wasCancelled: Bool { state.withLock { $0.wasCancelled } }

    /// Answers all questions, from now on.
    package func answer(_ text: String) {
        state.withLock { $0.answer = text }
        wake()
    }

    /// Returns when so many questions have come since it returned last.
    package func wasAsked(times: Int = 1) async {
        var count = 0
        for await _ in questions {
            count += 1
            if count == times { return }
        }
    }

    package func ask(_ question: AuthenticationQuestion) throws(KeychainError) -> AuthenticationAnswer {
        let registration = question.cancellation.onCancel { [self] in
            state.withLock { $0.wasCancelled = true }
            wake()
        }
        defer { withExtendedLifetime(registration) {} }
        asked.yield()
        guard let answer = answer(to: question) else {
            throw KeychainError(.cancelled, "The question was taken back.")
        }
        return .secret(SecretBytes(text: answer))
    }

    /// `nil` if the question is cancelled, or if there was no answer for so long that the test is over.
    private func answer(to question: AuthenticationQuestion) -> String? {
        let end = Date(timeIntervalSinceNow: 600)
        return thinking.withLock {
            while !question.cancellation.isCancelled {
                if let answer = state.withLock({ $0.answer }) { return answer }
                guard thinking.wait(until: end) else { return nil }
            }
            return nil
        }
    }

    private func wake() { thinking.withLock { thinking.broadcast() } }
}
