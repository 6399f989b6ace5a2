// SPDX-License-Identifier: Apache-2.0
// Questions that are answered with yes or no.

package import KeychainEngine
import SecretMemory

/// Asks whether the user allows something.
package protocol ConfirmingAuthenticator: Sendable {
    /// - Returns: `false` if the user says no. The end of the program that asks is a no as well.
    /// - Throws: `cancelled`, `timedOut`, and the errors of `Authenticator.ask` if nobody can be asked.
    func confirms(_ question: ConfirmationQuestion) throws(KeychainError) -> Bool
}

/// A question whose answer is yes or no.
package struct ConfirmationQuestion: Sendable {
    /// Without control characters except line breaks.
    package let text: String
    /// Cancels the question.
    package let cancellation: AuthenticationCancellation

    /// - Parameter lines: Control characters in them are escaped.
    package init(
        _ lines: [String], cancellation: AuthenticationCancellation = AuthenticationCancellation()
    ) {
        text = lines.map { $0.escapingControls() }.joined(separator: "\n")
        self.cancellation = cancellation
    }

    /// The answer may be a passphrase that was typed by mistake, so it is compared in place and not copied.
    ///
    /// - Parameter words: The answers that mean yes, of small ASCII letters.
    static func isYes(_ answer: SecretBytes, _ words: [String]) -> Bool {
        answer.withUnsafeBytes { bytes in
            // In ASCII, only a letter becomes that small letter with this bit.
            words.contains { $0.utf8.count == bytes.count && zip($0.utf8, bytes).allSatisfy { $0 == $1 | 0x20 } }
        }
    }
}
