// SPDX-License-Identifier: Apache-2.0
// Asking with an askpass program, as ssh does: the question is its argument, the answer its output.

import Foundation
public import KeychainEngine
import SecretMemory

/// Runs a program (such as `ssh-askpass`) with the question as its only argument, and reads the first line of its
/// output as the answer. A nonzero exit code means that the user cancelled.
///
/// ```swift
/// Authenticators.shared = AskpassAuthenticator(program: "/usr/bin/ssh-askpass")
/// ```
///
/// For a new secret the program runs twice. Other users of the machine see the question in the list of processes.
///
/// Does not protect against the program itself.
public struct AskpassAuthenticator: Authenticator {
    /// The longest answer, in bytes.
    public static let longestAnswer = 1024

    public let methods = Set.secrets
    private let program: Program
    private let timeout: Duration

    /// - Parameters:
    ///   - program: The full path; checked at each question.
    ///   - timeout: For one question, including the second entry of a new secret.
    public init(program: String, timeout: Duration = Authenticators.timeout) {
        self.program = Program(path: program)
        self.timeout = timeout
    }

    /// - Throws: `cancelled`, `timedOut`, `tooLarge` for an answer above 1024 bytes, `unavailable` if the program does
    ///   not exist, `invalidParameter` for a path that is not absolute, `unsafeLocation` if another user may change or
    ///   replace it.
    public func ask(_ question: AuthenticationQuestion) throws(KeychainError) -> AuthenticationAnswer {
        let waiting = try Waiting(question.cancellation, timeout: timeout)
        return try question.settle(methods: methods) { (prompt) throws(KeychainError) in
            try waiting.check()
            try program.check()
            return Entry(secret: try answer(to: prompt, waiting))
        }
    }

    private func answer(to prompt: Prompt, _ waiting: Waiting) throws(KeychainError) -> SecretBytes? {
        let words = [prompt.complaint, prompt.reason, prompt.label].compactMap(\.self).joined(separator: "\n") + " "
        let (line, code) = try run(words, [:], waiting)
        guard code == nil || code == 0 else { throw .cancelledQuestion }
        return line
    }

    /// - Returns: What the program wrote, and its exit code as `ChildProcess` gives it.
    private func run(
        _ question: String, _ variables: [String: String], _ waiting: Waiting
    ) throws(KeychainError) -> (line: SecretBytes?, code: Int32?) {
        let pipe = try Channel.pipe()
        let child = try ChildProcess(program, [question], output: pipe.theirs, input: nil, variables: variables)
        defer { child.end() }
        pipe.closeTheirs()
        let line = try firstLine(pipe, waiting)
        return (line, try child.exitCode(waiting))
    }

    /// The pipe stays open until the program has ended, because a program that writes to a closed pipe is killed.
    private func firstLine(_ pipe: Channel, _ waiting: Waiting) throws(KeychainError) -> SecretBytes? {
        let output = SecretBuffer(capacity: Self.longestAnswer + 1)
        // What was entered may be there from a register that was saved.
        defer { scrubStack() }
        while true {
            try waiting.wait(for: pipe.ours, POLLIN)
            let count = output.read(from: pipe.ours)
            if count < 0, errno == EAGAIN || errno == EINTR { continue }
            if let end = output.firstIndex(of: UInt8(ascii: "\n")) { return output.secret(in: 0..<end) }
            guard output.count < output.capacity else {
                throw KeychainError(
                    .tooLarge, "\(program.shown) gave an answer of more than \(Self.longestAnswer) bytes.")
            }
            if count <= 0 { return output.secret(in: 0..<output.count) }
        }
    }
}

extension AskpassAuthenticator: ConfirmingAuthenticator {
    /// As `ssh-agent` asks: the exit code is the answer. A program that does not know the variable asks for a secret;
    /// its answer must be empty or "yes".
    package func confirms(_ question: ConfirmationQuestion) throws(KeychainError) -> Bool {
        let waiting = try Waiting(question.cancellation, timeout: timeout)
        try waiting.check()
        try program.check()
        let (line, code) = try run(question.text, ["SSH_ASKPASS_PROMPT": "confirm"], waiting)
        guard code == 0 else { return false }
        return line.map { ConfirmationQuestion.isYes($0, ["yes"]) } ?? true
    }
}
