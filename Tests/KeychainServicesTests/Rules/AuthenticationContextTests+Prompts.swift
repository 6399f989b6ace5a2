// SPDX-License-Identifier: Apache-2.0
// Questions to the user: what ends them, what they say, and when they are spared.

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import Testing

extension AuthenticationContextTests {
    @Test(arguments: StoreKind.allCases)
    func passphrase_wrongThreeTimes_isAuthFailed(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind, Person(saying: "wrong"))
        try keychain.add()
        #expect(keychain.services.find(genp()).status == errSecAuthFailed)
        #expect(keychain.questions.map(\.attempt) == [1, 2, 3])
    }

    @Test(arguments: StoreKind.allCases)
    func passphrase_wrongAndThenRight_isAccepted(kind: StoreKind) throws {
        let tooLong = String(repeating: "x", count: 5000)
        let keychain = try ProtectedKeychain(kind, Person(saying: "wrong", tooLong, Person.passphrase))
        try keychain.add()
        #expect(keychain.services.find(genp(["r_Data": true])).data == secret)
        #expect(keychain.questions.count == 3)
    }

    @Test(arguments: StoreKind.allCases)
    func passphrase_wrongTooOften_isNotEvenAskedFor(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind, Person(saying: "wrong"))
        try keychain.add()
        for _ in 1...2 { #expect(keychain.services.find(genp()).status == errSecAuthFailed) }
        // Three are free; after the fourth there is a delay, for contexts of others too.
        #expect(keychain.questions.count == 4)
        let right = Person()
        #expect(keychain.services.find(genp(["u_AuthCtx": keychain.context(right)])).status == errSecAuthFailed)
        #expect(right.questions.isEmpty)
    }

    static let failures: [(KeychainError.Reason, OSStatus)] = [
        (.cancelled, errSecUserCanceled), (.interactionNotAllowed, errSecInteractionNotAllowed),
        (.timedOut, errSecNotAvailable), (.unavailable, errSecNotAvailable),
    ]

    @Test(arguments: StoreKind.allCases, failures)
    func question_thatFails_isNotRepeatedAndHasItsStatus(
        kind: StoreKind, row: (reason: KeychainError.Reason, status: OSStatus)
    ) throws {
        let keychain = try ProtectedKeychain(kind, Person(failing: row.reason))
        try keychain.add()
        #expect(keychain.services.find(genp()).status == row.status)
        #expect(keychain.questions.count == 1)
    }

    // MARK: - What the user sees

    @Test(arguments: [
        Row("the prompt", ["u_OpPrompt": "Show your notes"], "Show your notes"),
        Row("no text", ["u_OpPrompt": ""], "use an item of your keychain"),
        Row("something else", ["u_OpPrompt": 5], "use an item of your keychain"),
        Row("nothing", [:], "use an item of your keychain"),
    ])
    func prompt_ofARequest_reachesTheUser(row: Row<String>) throws {
        let keychain = try ProtectedKeychain(.memory)
        try keychain.add()
        #expect(keychain.services.find(genp(row.entries)).status == errSecSuccess)
        #expect(keychain.questions.map(\.reason) == [row.expected])
    }

    @Test func prompt_besideTheReasonOfAContext_wins() throws {
        let keychain = try ProtectedKeychain(.memory)
        try keychain.add()
        let context = keychain.context()
        context.localizedReason = "Show your diary"
        let query = genp(["u_AuthCtx": context, "u_OpPrompt": "Show your notes"])
        #expect(keychain.services.find(query).status == errSecSuccess)
        #expect(keychain.questions.map(\.reason) == ["Show your notes"])
    }

    @Test func titlesOfAContext_reachTheUser() throws {
        let keychain = try ProtectedKeychain(.memory)
        try keychain.add()
        let context = keychain.context()
        context.localizedCancelTitle = "Not now"
        context.localizedFallbackTitle = "Type it"
        #expect(keychain.services.find(genp(["u_AuthCtx": context])).status == errSecSuccess)
        #expect(keychain.questions.map(\.cancelTitle) == ["Not now"])
        #expect(keychain.questions.map(\.fallbackTitle) == ["Type it"])
    }

    // MARK: - Reuse

    @Test(arguments: StoreKind.allCases)
    func reuseDuration_ofTwoContexts_sparesTheSecondQuestion(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind)
        try keychain.add()
        for _ in 1...2 {
            let context = keychain.context()
            context.touchIDAuthenticationAllowableReuseDuration = 300
            #expect(keychain.services.find(genp(["u_AuthCtx": context])).status == errSecSuccess)
        }
        #expect(keychain.questions.count == 1)
        #expect(keychain.services.find(genp(["u_AuthCtx": keychain.context()])).status == errSecSuccess)
        #expect(keychain.questions.count == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func reuseDuration_ofTheSecondContextOnly_sparesNothing(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind)
        try keychain.add()
        for duration in [0.0, 300] {
            let context = keychain.context()
            context.touchIDAuthenticationAllowableReuseDuration = duration
            #expect(keychain.services.find(genp(["u_AuthCtx": context])).status == errSecSuccess)
        }
        #expect(keychain.questions.count == 2)
    }
}
