// SPDX-License-Identifier: Apache-2.0
// Asking the user whether a key of an SSH agent may be used.

import Foundation
import KeychainAuthenticators
import KeychainEngine
import KeychainKit
import SecretMemory

enum SSHAgentConsent {
    /// How often to look whether the agent is to end, in milliseconds.
    private static let lookInterval = 200

    /// Asks on a thread of its own, so that a signal for the agent ends the question.
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
        while answered.wait(timeout: .now() + .milliseconds(lookInterval)) == .timedOut {
            if isOver() { question.cancellation.cancel() }
        }
        return try answer.withLock { $0 }.get()
    }

    private static let nobody = KeychainError(
        .interactionNotAllowed,
        "A key that asks before each use was not used: there is no way to ask. Start the agent with SSH_ASKPASS or "
            + "KEYCHAIN_ASKPASS set to the full path of a program that asks.")
}
