// SPDX-License-Identifier: Apache-2.0
// Questions that are answered with yes or no: by askpass and pinentry programs, and how the program that asks is chosen.

import Foundation
import KeychainAuthenticators
import KeychainEngine
import KeychainTestSupport
import Synchronization
import Testing

@Suite("confirmation", .serialized)
struct ConfirmationTests {
    private let scripts: Scripts

    init() throws { scripts = try Scripts() }

    enum Outcome: Equatable {
        case answer(Bool)
        case failure(KeychainError.Reason)
    }

    private func outcome(
        _ authenticator: some ConfirmingAuthenticator, _ lines: [String] = ["Allow it?"]
    ) -> Outcome { Self.outcome(authenticator, ConfirmationQuestion(lines)) }

    private static func outcome(
        _ authenticator: some ConfirmingAuthenticator, _ question: ConfirmationQuestion
    ) -> Outcome {
        do throws(KeychainError) {
            return .answer(try authenticator.confirms(question))
        } catch {
            return .failure(error.reason)
        }
    }

    @Test(arguments: [
        (":", true), ("echo", true), ("echo yes", true), ("echo YES", true), ("echo yEs", true), ("exit 1", false),
        ("echo no", false), ("echo yes; exit 1", false), ("echo y e s", false), ("echo ye", false),
        ("echo yess", false), ("printf 'ye\\323'", false), ("echo 'correct horse'", false), ("kill -9 $$", false),
    ])
    func askpass_byItsExitCodeAndAnswer_isYesOrNo(body: String, answer: Bool) throws {
        #expect(outcome(AskpassAuthenticator(program: try scripts.script(body))) == .answer(answer))
    }

    @Test func askpass_whenRun_isToldThatItIsAConfirmation() throws {
        let path = try scripts.script("printf '%s' \"$SSH_ASKPASS_PROMPT|$#|$HOME|$1\" >\(scripts.folder.path)/asked")
        #expect(outcome(AskpassAuthenticator(program: path), ["a\u{7}b\nc", "d"]) == .answer(true))
        let home = ProcessInfo.processInfo.environment["HOME"] ?? ""
        #expect(try scripts.contents("asked") == "confirm|1|\(home)|a\\u{7}b\\nc\nd")
    }

    @Test func askpass_thatIsMissing_isUnavailable() {
        #expect(outcome(AskpassAuthenticator(program: "/nowhere/askpass")) == .failure(.unavailable))
    }

    @Test func askpass_thatHangs_endsWithTheTimeout() throws {
        let path = try scripts.script("exec sleep 1000")
        #expect(outcome(AskpassAuthenticator(program: path, timeout: .milliseconds(300))) == .failure(.timedOut))
    }

    @Test func askpass_cancelledWhileItAsks_isCancelledAndEnds() throws {
        let path = try scripts.script(
            "echo $$ >\(scripts.folder.path)/new; cd \(scripts.folder.path); mv new begun; exec sleep 1000")
        let question = ConfirmationQuestion(["Allow it?"])
        let asked = Mutex<Outcome?>(nil)
        let over = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let outcome = Self.outcome(AskpassAuthenticator(program: path), question)
            asked.withLock { $0 = outcome }
            over.signal()
        }
        let begun = scripts.folder.appendingPathComponent("begun").path
        try waitUntil("the program asks") { FileManager.default.fileExists(atPath: begun) }
        question.cancellation.cancel()
        try waitUntil("the question ends") { over.wait(timeout: .now()) == .success }
        #expect(asked.withLock { $0 } == .failure(.cancelled))
        let asker = try #require(pid_t(try scripts.contents("begun").trimmingCharacters(in: .newlines)))
        #expect(kill(asker, 0) == -1 && errno == ESRCH)
    }

    @Test(
        arguments: [
            ("echo OK", .answer(true)), ("echo ERR 83886194 not confirmed", .answer(false)),
            ("echo ERR 83886179 canceled", .answer(false)), ("echo ERR 83886142 timeout", .failure(.timedOut)),
            ("exit 0", .failure(.cancelled)), ("echo what", .failure(.unavailable)),
        ] as [(String, Outcome)])
    func pinentry_byItsAnswer_isYesOrNo(answer: String, expected: Outcome) throws {
        let path = try scripts.script(
            """
            echo OK ready
            while read -r line; do
                echo "$line" >>\(scripts.folder.path)/lines
                case $line in CONFIRM) \(answer) ;; *) echo OK ;; esac
            done
            """)
        let authenticator = PinentryAuthenticator(program: path, timeout: .testLimit, patience: .testLimit)
        #expect(outcome(authenticator, ["Allow 100%?", "now"]) == expected)
        #expect(try scripts.contents("lines").contains("SETDESC Allow 100%25?%0Anow\n"))
    }

    @Test(arguments: [
        (["KEYCHAIN_AUTHENTICATOR": "none", "SSH_ASKPASS": "/bin/sh"], "nobody"),
        (["SSH_ASKPASS": "/bin/sh"], "AskpassAuthenticator"),
        (["KEYCHAIN_ASKPASS": "/bin/sh"], "AskpassAuthenticator"),
        (["KEYCHAIN_AUTHENTICATOR": "terminal", "SSH_ASKPASS": "/bin/sh"], "TerminalAuthenticator"),
        (
            ["KEYCHAIN_AUTHENTICATOR": "pinentry", "KEYCHAIN_PINENTRY": "/bin/sh", "SSH_ASKPASS": "/bin/sh"],
            "PinentryAuthenticator"
        ),
    ])
    func environment_withAWord_choosesWhoAsks(environment: [String: String], expected: String) throws {
        let found = try Authenticators.confirming(by: environment)
        #expect(found.map { "\(type(of: $0))" } ?? "nobody" == expected)
    }
}
