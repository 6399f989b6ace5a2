// SPDX-License-Identifier: Apache-2.0
// Which way of asking is chosen, and asking from asynchronous code.

import Foundation
import KeychainAuthenticators
import KeychainEngine
import SecretMemory
import Synchronization
import Testing

@Suite("the choice of who asks")
struct AuthenticatorsTests {
    private func configured(_ environment: [String: String]) -> Result<String, KeychainError> {
        Result { () throws(KeychainError) in
            guard let authenticator = try Authenticators.configured(by: environment) else { return "nobody" }
            return "\(type(of: authenticator))"
        }
    }

    @Test(arguments: [
        ([:], "nobody"),
        (["KEYCHAIN_AUTHENTICATOR": ""], "nobody"),
        (["KEYCHAIN_AUTHENTICATOR": "none"], "nobody"),
        (["KEYCHAIN_AUTHENTICATOR": "terminal"], "TerminalAuthenticator"),
        (["KEYCHAIN_AUTHENTICATOR": "pinentry", "KEYCHAIN_PINENTRY": "/bin/sh"], "PinentryAuthenticator"),
        (["KEYCHAIN_PINENTRY": "/bin/sh"], "nobody"),
        (["KEYCHAIN_AUTHENTICATOR": "askpass", "KEYCHAIN_ASKPASS": "/bin/sh"], "AskpassAuthenticator"),
        (["KEYCHAIN_ASKPASS": "/bin/sh"], "AskpassAuthenticator"),
        (["KEYCHAIN_AUTHENTICATOR": "terminal", "KEYCHAIN_ASKPASS": "/bin/sh"], "TerminalAuthenticator"),
        (["KEYCHAIN_AUTHENTICATOR": "none", "KEYCHAIN_ASKPASS": "/bin/sh"], "nobody"),
    ])
    func environment_withAWord_choosesIt(environment: [String: String], expected: String) {
        #expect(configured(environment) == .success(expected))
    }

    @Test(arguments: [
        (
            ["KEYCHAIN_AUTHENTICATOR": "window"], KeychainError.Reason.invalidParameter,
            "terminal, pinentry, askpass, none"
        ),
        (["KEYCHAIN_AUTHENTICATOR": "askpass"], .invalidParameter, "KEYCHAIN_ASKPASS"),
        (["KEYCHAIN_ASKPASS": "askpass"], .invalidParameter, "full path"),
        (["KEYCHAIN_ASKPASS": "/nowhere/askpass"], .unavailable, "/nowhere/askpass"),
        (["KEYCHAIN_AUTHENTICATOR": "pinentry", "KEYCHAIN_PINENTRY": "/nowhere/p"], .unavailable, "/nowhere/p"),
    ])
    func environment_withAMistake_isRefused(
        environment: [String: String], reason: KeychainError.Reason, words: String
    ) {
        guard case .failure(let failure) = configured(environment) else {
            Issue.record("accepted")
            return
        }
        #expect(failure.reason == reason)
        #expect(failure.message.contains(words))
    }

    @Test func shared_whenSet_winsOverTheEnvironment() throws {
        defer { Authenticators.shared = nil }
        Authenticators.shared = ClosureAuthenticator(methods: []) { _ throws(KeychainError) in
            throw KeychainError(.cancelled, "A test.")
        }
        let none = ["KEYCHAIN_AUTHENTICATOR": "none"]
        #expect(try Authenticators.current(environment: none) is ClosureAuthenticator)
        #expect(try Authenticators.forExplicitRequest(environment: none) is ClosureAuthenticator)
    }
}

@Suite("a closure that asks", .timeLimit(.minutes(60)))
struct ClosureAuthenticatorTests {
    private static let answer = AuthenticationAnswer.secret(SecretBytes.random(count: 4))

    @Test func closure_forAMethodItHasNot_isNotCalled() {
        let authenticator = ClosureAuthenticator(methods: [.passphrase]) { _ throws(KeychainError) in
            Issue.record("called")
            return Self.answer
        }
        #expect(throws: KeychainError.self) {
            try authenticator.ask(AuthenticationQuestion(.biometry(.touch), reason: "A test"))
        }
    }

    @Test func questions_aHundredOutstanding_leaveOtherTasksRunning() async throws {
        let (starts, started) = AsyncStream.makeStream(of: Void.self)
        let open = DispatchSemaphore(value: 0)
        let authenticator = ClosureAuthenticator(methods: [.passphrase]) { _ throws(KeychainError) in
            started.yield()
            guard open.wait(timeout: .now() + 600) == .success else {
                throw KeychainError(.timedOut, "The test has not let go of the question.")
            }
            return Self.answer
        }
        let answers = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    do {
                        _ = try await authenticator.askDetached(AuthenticationQuestion(.passphrase, reason: "A test"))
                        return true
                    } catch {
                        return false
                    }
                }
            }
            // This task continues while all of them wait; it only then lets them finish.
            var outstanding = starts.makeAsyncIterator()
            for _ in 0..<100 { _ = await outstanding.next() }
            for _ in 0..<100 { open.signal() }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(answers == 100)
    }

    @Test func task_whenCancelled_cancelsTheQuestion() async {
        let (starts, started) = AsyncStream.makeStream(of: Void.self)
        let authenticator = ClosureAuthenticator(methods: [.passphrase]) { question throws(KeychainError) in
            let ended = DispatchSemaphore(value: 0)
            let registration = question.cancellation.onCancel { ended.signal() }
            started.yield()
            _ = withExtendedLifetime(registration) { ended.wait(timeout: .now() + 600) }
            throw KeychainError(.cancelled, "Cancelled.")
        }
        let task = Task { () -> KeychainError.Reason? in
            do throws(KeychainError) {
                _ = try await authenticator.askDetached(AuthenticationQuestion(.passphrase, reason: "A test"))
                return nil
            } catch {
                return error.reason
            }
        }
        for await _ in starts.prefix(1) { task.cancel() }
        #expect(await task.value == .cancelled)
    }
}
