// SPDX-License-Identifier: Apache-2.0
// Asking on the program's terminal.

public import KeychainEngine

/// Asks on `/dev/tty`, without echo.
///
/// ```swift
/// Authenticators.shared = TerminalAuthenticator()
/// ```
///
/// ^C and ^D cancel. ^Z stops the program, and the question is shown again when it continues. During a question,
/// SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP and SIGCONT are caught, and so is every other signal that would end the
/// program and has no handler: the terminal is restored first. Afterwards the program's handlers and masks are
/// restored, and it gets a SIGTERM or SIGHUP that arrived meanwhile. After SIGKILL the terminal does not show input:
/// `stty echo` helps.
///
/// Does not protect against another program of the same user that reads the terminal or shows the same prompt.
public struct TerminalAuthenticator: Authenticator {
    public let methods = Set.secrets
    private let timeout: Duration

    /// - Parameter timeout: For one question, including the second entry of a new secret.
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

extension TerminalAuthenticator: ConfirmingAuthenticator {
    package func confirms(_ question: ConfirmationQuestion) throws(KeychainError) -> Bool {
        try Terminal.ask(
            cancellation: question.cancellation, timeout: timeout, isPassingOn: true
        ) { (terminal) throws(KeychainError) in
            terminal.say(question.text + "\n")
            let line = try terminal.line("To allow it, type yes: ")
            return line.map { ConfirmationQuestion.isYes($0, ["y", "yes"]) } ?? false
        }
    }
}

extension Set<AuthenticationMethod> {
    /// The secrets that can be typed.
    static let secrets: Self = [.passphrase, .applicationPassword]
}
