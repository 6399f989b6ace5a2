// SPDX-License-Identifier: Apache-2.0
// Application passwords that the program changes while a request derives the key of the old one (rule 5.5).

import KeychainEngine
import KeychainTestSupport
import SecretMemory
import Synchronization
import Testing

@Suite("Rules: application passwords that change during a request")
struct PasswordChangeTests {
    /// Opens an item whose password is "right", as a store does.
    private func open(_ context: AuthenticationContext, _ verifier: ChangingVerifier) throws {
        try Authorization(context).satisfying(verifier) {
            (proofs) throws(KeychainError) -> KeychainEngine.Attempt<Void> in
            guard let key = proofs.applicationKey else { return .needs(.applicationPassword) }
            let isRight = key.withUnsafeBytes { $0.elementsEqual("right".utf8) }
            return isRight ? .done(()) : .refused(.applicationPassword)
        }
    }

    private func context(_ password: String, _ person: Person? = nil) -> AuthenticationContext {
        let context = AuthenticationContext { person }
        context.setApplicationPassword(SecretBytes(text: password))
        return context
    }

    @Test func password_takenBackWhileItsKeyIsDerived_opensNothing() {
        let context = context("right")
        let verifier = ChangingVerifier { context.setApplicationPassword(nil) }
        _ = try? open(context, verifier)
        #expect(throws: KeychainError.interactionNotAllowed) { try open(context, verifier) }
    }

    @Test func password_takenBackWhileItsKeyIsDerived_isAskedForAsIfForTheFirstTime() throws {
        let person = Person(saying: "right")
        let context = context("right", person)
        try open(context, ChangingVerifier { context.setApplicationPassword(nil) })
        #expect(person.questions.map(\.attempt) == [1])
    }

    @Test func password_replacedWhileItsKeyIsDerived_opensWithTheNewOne() {
        let context = context("wrong")
        let verifier = ChangingVerifier { context.setApplicationPassword(SecretBytes(text: "right")) }
        #expect(throws: Never.self) { try open(context, verifier) }
    }

    @Test func password_setWhileTheUserIsAsked_opensWithTheOneThatWasSet() {
        let box = Mutex<AuthenticationContext?>(nil)
        let person = Person { _ in
            box.withLock { $0?.setApplicationPassword(SecretBytes(text: "right")) }
            return "wrong"
        }
        let context = AuthenticationContext { person }
        box.withLock { $0 = context }
        defer { box.withLock { $0 = nil } }
        #expect(throws: Never.self) { try open(context, ChangingVerifier(times: 0) {}) }
    }

    @Test func password_replacedEachTimeItsKeyIsDerived_isAuthenticationFailed() {
        let context = context("right")
        let verifier = ChangingVerifier(times: .max) { context.setApplicationPassword(SecretBytes(text: "right")) }
        let error = #expect(throws: KeychainError.self) { try open(context, verifier) }
        #expect(error?.reason == .authenticationFailed)
    }
}

/// Takes a password as its key, after something has happened meanwhile.
private final class ChangingVerifier: UserVerifier {
    let rateLimit = RateLimit()
    private let left: Mutex<Int>
    private let change: @Sendable () -> Void

    /// - Parameter times: How many derivations are disturbed.
    init(times: Int = 1, _ change: @escaping @Sendable () -> Void) {
        left = Mutex(times)
        self.change = change
    }

    func isPasscodeSet() -> Bool { false }

    func userKey(provenBy secret: SecretBytes) throws(KeychainError) -> SecretBytes { throw .passcodeNotSet }

    func applicationKey(from password: SecretBytes) -> SecretBytes {
        let isDisturbed = left.withLock { left in
            defer { left = max(left - 1, 0) }
            return left > 0
        }
        if isDisturbed { change() }
        return password
    }
}
