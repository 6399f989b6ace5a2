// SPDX-License-Identifier: Apache-2.0
// Simulated users for tests: they answer as told, and record the questions.

package import KeychainEngine
import SecretMemory
import Synchronization

/// A user who answers each question by a rule.
package final class Person: Authenticator {
    package typealias Rule = @Sendable (AuthenticationQuestion) throws(KeychainError) -> String

    package let methods: Set<AuthenticationMethod>
    private let rule: Rule
    private let asked = Mutex<[AuthenticationQuestion]>([])

    /// - Parameter methods: What they can be asked for.
    package init(
        _ methods: Set<AuthenticationMethod> = [.passphrase, .applicationPassword], _ rule: @escaping Rule
    ) {
        self.methods = methods
        self.rule = rule
    }

    /// Gives this passphrase each time, and can be asked for nothing else.
    package convenience init(passphrase: String) {
        self.init([.passphrase]) { _ in passphrase }
    }

    /// Says these, one after the other, and the last one from then on.
    package convenience init(saying first: String, _ others: String...) {
        let answers = [first] + others
        self.init { answers[min($0.attempt, answers.count) - 1] }
    }

    /// Says each of these once, whatever is asked, and then cancels.
    package convenience init(sayingOnce answers: [String]) {
        let left = Mutex(answers)
        self.init { (_) throws(KeychainError) in
            guard let next = left.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else {
                throw KeychainError(.cancelled, "No more answers.")
            }
            return next
        }
    }

    /// Fails each question.
    package convenience init(failing reason: KeychainError.Reason) {
        self.init { (_) throws(KeychainError) in throw KeychainError(reason, "A person of a test.") }
    }

    package var questions: [AuthenticationQuestion] { asked.withLock { $0 } }

    package func ask(_ question: AuthenticationQuestion) throws(KeychainError) -> AuthenticationAnswer {
        asked.withLock { $0.append(question) }
        return .secret(SecretBytes(text: try rule(question)))
    }
}
