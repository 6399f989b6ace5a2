// SPDX-License-Identifier: Apache-2.0
// Asking on the terminal that the program was started from.

public import KeychainEngine

/// Asks on `/dev/tty`, without echo.
///
/// ```swift
/// Authenticators.shared = TerminalAuthenticator()
/// ```
///
/// ^C and ^D cancel; ^Z stops the program, and the question is shown again when it goes on. For the length of a question, SIGINT,
/// SIGQUIT, SIGTERM, SIGHUP, SIGTSTP and SIGCONT are caught, and so is every other signal that would end the program and for which it
/// has no handler of its own: the terminal is restored first. Afterwards the program's handlers and masks are as they were, and it
/// is sent the SIGTERM or SIGHUP that came meanwhile. After SIGKILL the terminal shows nothing that is typed: `stty echo` helps.
///
/// Does not protect against another program of the same user that reads the terminal or shows the same prompt.
public struct TerminalAuthenticator: Authenticator {
    public let methods = Set.secrets
    private let timeout: Duration

    /// - Parameter timeout: For one question, the second entry of a new secret included.
    public init(timeout: Duration = Authenticators.timeout) { self.timeout = timeout }

    /// - Throws: `cancelled`, `timedOut`, `interactionNotAllowed` without a terminal or in its background, `tooLarge` for a
    ///   line above 4094 bytes, `unavailable`.
    public func ask(_ question: AuthenticationQuestion) throws(KeychainError) -> AuthenticationAnswer {
        try Terminal.ask(
            cancellation: question.cancellation, timeout: timeout, isPassingOn: true
        ) { (terminal) throws(KeychainError) in
            try question.settle(methods: methods) { (prompt) throws(KeychainError) in
                if let complaint = prompt.complaint { terminal.say(complaint + "\n") }
                let reason = prompt.isRepetition ? "" : prompt.reason + "\n"
                terminal.say(reason)
                return Entry(secret: try terminal.line(prompt.label + " "))
            }
        }
    }
}

extension Set<AuthenticationMethod> {
    /// What can be typed.
    static let secrets: Self = [.passphrase, .applicationPassword]
}
