// SPDX-License-Identifier: Apache-2.0
// Asking with a pinentry program, as GnuPG does.

import Foundation
public import KeychainEngine
import SecretMemory

/// Asks with a pinentry program, in a window or on the terminal.
///
/// ```swift
/// Authenticators.shared = PinentryAuthenticator(program: "/usr/bin/pinentry-gnome3")
/// ```
///
/// If the program has a terminal, ^C there cancels the question, and signals are handled as by `TerminalAuthenticator`.
/// ^Z stops both programs.
///
/// Does not protect against the pinentry program itself.
public struct PinentryAuthenticator: Authenticator {
    public let methods = Set.secrets
    private let program: Program
    private let timeout: Duration
    private let patience: Duration

    /// - Parameters:
    ///   - program: The full path; checked at each question.
    ///   - timeout: For one question, including the second entry of a new secret.
    public init(program: String, timeout: Duration = Authenticators.timeout) {
        self.init(program: program, timeout: timeout, patience: .seconds(10))
    }

    /// - Parameter patience: The timeout for commands that do not need the user.
    package init(program: String, timeout: Duration, patience: Duration) {
        self.program = Program(path: program)
        self.timeout = timeout
        self.patience = patience
    }

    /// - Throws: `cancelled`, `timedOut`, `interactionNotAllowed` if the program needs a terminal and cannot use one,
    ///   `unavailable` if it cannot be run or does not follow the protocol, `invalidParameter` for a path that is not
    ///   absolute, `unsafeLocation` if another user may change or replace it.
    public func ask(_ question: AuthenticationQuestion) throws(KeychainError) -> AuthenticationAnswer {
        try inTurn(question.cancellation) { (pinentry) throws(KeychainError) in
            try pinentry.answer(to: question, methods: methods, timeout: timeout)
        }
    }

    private func inTurn<Answer>(
        _ cancellation: AuthenticationCancellation, _ body: (Pinentry) throws(KeychainError) -> Answer
    ) throws(KeychainError) -> Answer {
        let waiting = try Waiting(cancellation, timeout: timeout)
        return try Turn.taken(waiting) { () throws(KeychainError) in
            guard let terminal = usableTerminal() else { return try converse(waiting, terminal: nil, body) }
            return try HeldSignals.during(isPassingOn: true) { (signals) throws(KeychainError) in
                try terminal.restoring { () throws(KeychainError) in
                    try converse(waiting.breaking(for: signals), terminal: ControllingTerminal.path, body)
                }
            }
        }
    }

    /// In the background a program may still show a window, but must not use the terminal.
    private func usableTerminal() -> ControllingTerminal? {
        do throws(KeychainError) {
            let terminal = try ControllingTerminal()
            return terminal.isForeground ? terminal : nil
        } catch {
            return nil
        }
    }

    private func converse<Answer>(
        _ waiting: Waiting, terminal: String?, _ body: (Pinentry) throws(KeychainError) -> Answer
    ) throws(KeychainError) -> Answer {
        try program.check()
        let channel = try Channel.socket()
        let child = try ChildProcess(program, [], output: channel.theirs, input: channel.theirs)
        channel.closeTheirs()
        let pinentry = Pinentry(
            connection: AssuanConnection(channel, program), program: program, waiting: waiting, patience: patience,
            terminal: terminal)
        let answer: Answer
        do throws(KeychainError) {
            answer = try body(pinentry)
        } catch {
            child.end()
            throw error
        }
        child.end(grace: .seconds(1))
        return answer
    }
}

extension PinentryAuthenticator: ConfirmingAuthenticator {
    package func confirms(_ question: ConfirmationQuestion) throws(KeychainError) -> Bool {
        try inTurn(question.cancellation) { (pinentry) throws(KeychainError) in
            try pinentry.confirms(question, timeout: timeout)
        }
    }
}
