// SPDX-License-Identifier: Apache-2.0
// Persons who are asked in tests: they answer as told, and remember what they were asked.

import Foundation
import KeychainEngine
import SecretMemory
import Synchronization

func secretBytes(_ text: String) -> SecretBytes {
    var bytes = Array(text.utf8)
    return bytes.withUnsafeMutableBytes { SecretBytes(copying: UnsafeRawBufferPointer($0)) }
}

/// Somebody who answers each question by a rule.
final class Person: Authenticator {
    typealias Rule = @Sendable (AuthenticationQuestion) throws(KeychainError) -> String

    static let passphrase = "open sesame"
    static let applicationPassword = "application password"

    let methods: Set<AuthenticationMethod>
    private let rule: Rule
    private let asked = Mutex<[AuthenticationQuestion]>([])

    init(_ methods: Set<AuthenticationMethod> = [.passphrase, .applicationPassword], _ rule: @escaping Rule) {
        self.methods = methods
        self.rule = rule
    }

    /// Knows both secrets.
    convenience init() {
        self.init { $0.method == .passphrase ? Self.passphrase : Self.applicationPassword }
    }

    /// Says these, one after the other, and the last one from then on.
    convenience init(saying answers: String...) {
        self.init { answers[min($0.attempt, answers.count) - 1] }
    }

    /// Fails each question.
    convenience init(failing reason: KeychainError.Reason) {
        self.init { (_) throws(KeychainError) in throw KeychainError(reason, "A person of a test.") }
    }

    var questions: [AuthenticationQuestion] { asked.withLock { $0 } }

    func ask(_ question: AuthenticationQuestion) throws(KeychainError) -> AuthenticationAnswer {
        asked.withLock { $0.append(question) }
        return .secret(secretBytes(try rule(question)))
    }
}

/// Somebody who thinks about each question until told to answer, or until the question is cancelled.
final class SlowPerson: Authenticator {
    let methods: Set<AuthenticationMethod> = [.passphrase]
    /// Gets one element for each question.
    let questions: AsyncStream<Void>
    private let asked: AsyncStream<Void>.Continuation
    private let thinking = NSCondition()
    private let mayAnswer = Mutex(false)

    init() { (questions, asked) = AsyncStream.makeStream() }

    func ask(_ question: AuthenticationQuestion) throws(KeychainError) -> AuthenticationAnswer {
        let registration = question.cancellation.onCancel { self.wake() }
        defer { withExtendedLifetime(registration) {} }
        asked.yield()
        thinking.lock()
        while !mayAnswer.withLock({ $0 }), !question.cancellation.isCancelled { thinking.wait() }
        thinking.unlock()
        guard !question.cancellation.isCancelled else { throw KeychainError(.cancelled, "Cancelled.") }
        return .secret(secretBytes(Person.passphrase))
    }

    func answer() {
        mayAnswer.withLock { $0 = true }
        wake()
    }

    /// Returns when so many questions are open.
    func wasAsked(times: Int = 1) async {
        var count = 0
        for await _ in questions {
            count += 1
            if count == times { return }
        }
    }

    private func wake() {
        thinking.lock()
        thinking.broadcast()
        thinking.unlock()
    }
}
