// SPDX-License-Identifier: Apache-2.0
// The commands for a pinentry program, and the meaning of its answers.

import Foundation
import KeychainEngine
import SecretMemory

struct Pinentry {
    private static let title = "Keychain"
    /// The lower half of an error code; the upper half identifies the library.
    private static let cancelled = 99
    private static let fullyCancelled = 198
    private static let timedOut = 62
    private static let notConfirmed = 114

    let connection: AssuanConnection
    let program: Program
    let waiting: Waiting
    /// The timeout for commands that do not need the user.
    let patience: Duration
    let terminal: String?

    func answer(
        to question: AuthenticationQuestion, methods: Set<AuthenticationMethod>, timeout: Duration
    ) throws(KeychainError) -> AuthenticationAnswer {
        try begin(ok: "OK", cancel: Assuan.buttonName(question.cancelTitle ?? "Cancel"), timeout: timeout)
        let answer = try question.settle(methods: methods) { (prompt) throws(KeychainError) in
            try describe(prompt, isNew: question.isNew)
            return try entry()
        }
        try connection.send("BYE", waiting)
        return answer
    }

    func confirms(_ question: ConfirmationQuestion, timeout: Duration) throws(KeychainError) -> Bool {
        try begin(ok: "Allow", cancel: "Deny", timeout: timeout)
        try set("SETDESC " + Assuan.parameter(question.text))
        let isAllowed: Bool
        switch try connection.exchange("CONFIRM", waiting) {
        case .ok: isAllowed = true
        case .error(let code) where [Self.notConfirmed, Self.cancelled].contains(code & 0xFFFF): isAllowed = false
        case .error(let code): throw failure(code)
        case .end: throw .cancelledQuestion
        }
        try connection.send("BYE", waiting)
        return isAllowed
    }

    private func begin(ok: String, cancel: String, timeout: Duration) throws(KeychainError) {
        try greet()
        for option in options { try set(option) }
        try set("SETTITLE " + Self.title)
        try set("SETOK " + ok)
        try set("SETCANCEL " + cancel)
        try set("SETTIMEOUT \(max(1, timeout.components.seconds))")
    }

    private func greet() throws(KeychainError) {
        let reply = try withPatience { (waiting) throws(KeychainError) in try connection.reply(waiting) }
        guard case .ok = reply else { throw program.unavailable("it ended before it asked") }
    }

    private var options: [String] {
        guard let terminal else { return [] }
        let environment = ProcessEnvironment.current
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        return [("ttyname", terminal), ("ttytype", environment["TERM"]), ("lc-ctype", locale)].compactMap {
            name, value in
            value.map { "OPTION \(name)=" + Assuan.parameter($0.escapingControls()) }
        }
    }

    private func describe(_ prompt: Prompt, isNew: Bool) throws(KeychainError) {
        try set("SETDESC " + Assuan.parameter(prompt.reason))
        try set("SETPROMPT " + Assuan.parameter(prompt.label))
        // Some programs clear the error after showing it once, others do not, so it is always sent.
        if let complaint = prompt.complaint { try set("SETERROR " + Assuan.parameter(complaint)) }
        guard isNew, !prompt.isRepetition else { return }
        try set("SETREPEAT " + AuthenticationQuestion.repetition)
        try set("SETREPEATERROR " + AuthenticationQuestion.difference)
    }

    /// A program that does not know a setting can still ask.
    private func set(_ line: String) throws(KeychainError) {
        let reply = try withPatience { (waiting) throws(KeychainError) in try connection.exchange(line, waiting) }
        if case .end = reply { throw program.unavailable("it ended before it asked") }
    }

    /// A program that does not answer without the user will not ask the user either.
    private func withPatience(
        _ body: (Waiting) throws(KeychainError) -> AssuanReply
    ) throws(KeychainError) -> AssuanReply {
        do throws(KeychainError) {
            return try body(waiting.limited(to: patience))
        } catch {
            throw error.reason == .timedOut ? program.unavailable("it does not answer") : error
        }
    }

    private func entry() throws(KeychainError) -> Entry {
        switch try connection.exchange("GETPIN", waiting) {
        case .ok(let secret, let keywords): return Entry(secret: secret, wasRepeated: keywords.contains("PIN_REPEATED"))
        // Some programs just end on ^C.
        case .end: throw .cancelledQuestion
        case .error(let code): throw failure(code)
        }
    }

    private func failure(_ code: Int) -> KeychainError {
        switch code & 0xFFFF {
        case Self.cancelled, Self.fullyCancelled: return .cancelledQuestion
        case Self.timedOut: return .unanswered
        default: break
        }
        let failure = program.unavailable("it answered with error \(code)")
        // It probably needs a terminal.
        return terminal == nil ? KeychainError(.interactionNotAllowed, failure.message) : failure
    }
}
