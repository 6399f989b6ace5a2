// SPDX-License-Identifier: Apache-2.0
// Asking the user whether a key of an SSH agent may be used.

import Foundation
import KeychainAuthenticators
import KeychainEngine
import KeychainKit
import SecretMemory

enum SSHAgentConsent {
    /// How often to look whether the question is to end, in milliseconds.
    private static let lookInterval = 200

    /// Asks on a thread of its own, so that a signal for the agent, or the end of its client, ends the question.
    ///
    /// - Parameter isOver: Called again and again while the question is open; `true` cancels it.
    /// - Throws: `interactionNotAllowed` if there is no way to ask, `cancelled`, `timedOut`.
    static func ask(_ lines: [String], until isOver: () -> Bool) throws(KeychainError) -> Bool {
        guard let authenticator = try Authenticators.forConfirmations() else { throw nobody }
        let question = ConfirmationQuestion(lines)
        let answer = Guarded<Result<Bool, KeychainError>>(.success(false))
        let answered = DispatchSemaphore(value: 0)
        try WaitingThread.start {
            let result = Result { () throws(KeychainError) in try authenticator.confirms(question) }
            answer.withLock { $0 = result }
            answered.signal()
        }
        var isAbandoned = false
        while answered.wait(timeout: .now() + .milliseconds(lookInterval)) == .timedOut {
            guard isOver() else { continue }
            isAbandoned = true
            question.cancellation.cancel()
        }
        do throws(KeychainError) {
            return try answer.withLock { $0 }.get()
        } catch {
            throw isAbandoned && error.reason == .cancelled ? abandoned : error
        }
    }

    private static let abandoned = KeychainError(
        .cancelled,
        "A key that asks before each use was not used: the program that wanted it, or the agent, ended before the answer."
    )

    private static var nobody: KeychainError {
        let cause =
            ProcessEnvironment.current.value("KEYCHAIN_AUTHENTICATOR") == "none"
            ? "KEYCHAIN_AUTHENTICATOR is none. Start the agent with another value, such as pinentry."
            : "there is no way to ask. Start the agent with KEYCHAIN_AUTHENTICATOR=pinentry, or with SSH_ASKPASS or "
                + "KEYCHAIN_ASKPASS set to the full path of a program that asks."
        return KeychainError(.interactionNotAllowed, "A key that asks before each use was not used: " + cause)
    }
}
