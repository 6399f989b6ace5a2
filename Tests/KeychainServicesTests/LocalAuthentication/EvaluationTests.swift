// SPDX-License-Identifier: Apache-2.0
// Evaluating policies.

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import Testing

@Suite("LocalAuthentication: evaluations")
struct EvaluationTests {
    static let policies: [(LAPolicy, LAError.Code?)] = [
        (.deviceOwnerAuthentication, nil), (.deviceOwnerAuthenticationWithBiometrics, .biometryNotAvailable),
        (.deviceOwnerAuthenticationWithCompanion, .companionNotAvailable),
        (.deviceOwnerAuthenticationWithBiometricsOrCompanion, .biometryNotAvailable),
        (.deviceOwnerAuthenticationWithWristDetection, .companionNotAvailable),
    ]

    @Test(arguments: StoreKind.allCases, policies)
    func policy_evaluated_asksForAPassphraseOrIsNotAvailable(
        kind: StoreKind, row: (policy: LAPolicy, error: LAError.Code?)
    ) async throws {
        let keychain = try ProtectedKeychain(kind)
        #expect(keychain.context().refusal(row.policy) == row.error)
        #expect(keychain.questions.isEmpty)
        #expect(await keychain.context().outcome(row.policy) == row.error)
        #expect(keychain.questions.map(\.method) == (row.error == nil ? [.passphrase] : []))
    }

    @Test(arguments: StoreKind.allCases)
    func policy_whereNoPassphraseIsSet_isPasscodeNotSet(kind: StoreKind) async throws {
        let keychain = try ProtectedKeychain(kind)
        try keychain.store.setPassphrase(nil)
        #expect(keychain.context().refusal() == .passcodeNotSet)
        #expect(await keychain.context().outcome() == .passcodeNotSet)
        #expect(keychain.context().refusal(.deviceOwnerAuthenticationWithBiometrics) == .biometryNotAvailable)
    }

    @Test(arguments: StoreKind.allCases)
    func policy_whereNobodyCanBeAsked_isNotInteractive(kind: StoreKind) async throws {
        let keychain = try ProtectedKeychain(kind, nil)
        #expect(keychain.context().refusal() == .notInteractive)
        #expect(await keychain.context().outcome() == .notInteractive)
        let context = keychain.context(Person())
        context.interactionNotAllowed = true
        #expect(context.refusal() == .notInteractive)
        #expect(await context.outcome() == .notInteractive)
    }

    static let failures: [(KeychainError.Reason, LAError.Code)] = [
        (.cancelled, .userCancel), (.interactionNotAllowed, .notInteractive), (.timedOut, .systemCancel),
        (.unavailable, .systemCancel), (.inputOutput, .systemCancel),
    ]

    @Test(arguments: failures)
    func question_thatFails_endsTheEvaluation(reason: KeychainError.Reason, code: LAError.Code) async throws {
        let keychain = try ProtectedKeychain(.memory, Person(failing: reason))
        #expect(await keychain.context().outcome() == code)
        #expect(keychain.questions.count == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func passphrase_wrongThreeTimes_isAuthenticationFailed(kind: StoreKind) async throws {
        let keychain = try ProtectedKeychain(kind, Person(saying: "wrong"))
        #expect(await keychain.context().outcome() == .authenticationFailed)
        #expect(keychain.questions.map(\.attempt) == [1, 2, 3])
    }

    @Test func failure_ofAnEvaluation_saysWhatToDo() async throws {
        let keychain = try ProtectedKeychain(.memory, nil)
        let error = await #expect(throws: LAError.self) {
            try await keychain.context().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "x")
        }
        #expect(error?.localizedDescription == KeychainError.interactionNotAllowed.message)
    }

    // MARK: - What is proven

    @Test(arguments: StoreKind.allCases)
    func context_evaluatedOnce_asksNobodyAnyMore(kind: StoreKind) async throws {
        let keychain = try ProtectedKeychain(kind)
        try keychain.add()
        let context = keychain.context()
        #expect(await context.outcome() == nil)
        #expect(await context.outcome() == nil)
        #expect(keychain.services.find(genp(["r_Data": true, "u_AuthCtx": context])).data == secret)
        context.interactionNotAllowed = true
        #expect(context.refusal() == nil)
        #expect(await context.outcome() == nil)
        #expect(keychain.questions.count == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func context_thatReadAnItem_isEvaluatedWithoutAsking(kind: StoreKind) async throws {
        let keychain = try ProtectedKeychain(kind)
        try keychain.add()
        let context = keychain.context()
        #expect(keychain.services.find(genp(["u_AuthCtx": context])).status == errSecSuccess)
        #expect(await context.outcome() == nil)
        #expect(keychain.questions.count == 1)
    }

    // MARK: - The question

    @Test func reason_ofAnEvaluation_reachesTheUserWhateverTheContextSays() async throws {
        let keychain = try ProtectedKeychain(.memory)
        let context = keychain.context()
        context.localizedReason = "Use an item"
        context.localizedCancelTitle = "Not now"
        #expect(await context.outcome(reason: "Show your notes") == nil)
        #expect(keychain.questions.map(\.reason) == ["Show your notes"])
        #expect(keychain.questions.map(\.cancelTitle) == ["Not now"])
    }

    @Test func reason_thatIsEmpty_failsAndTrapsNothing() async throws {
        let keychain = try ProtectedKeychain(.memory)
        let control = try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [], nil))
        #expect(await keychain.context().outcome(reason: "") == .authenticationFailed)
        let ofControl = await outcome {
            try await keychain.context().evaluateAccessControl(control, operation: .useItem, localizedReason: "")
        }
        #expect(ofControl == .authenticationFailed)
        #expect(keychain.questions.isEmpty)
    }
}
