// SPDX-License-Identifier: Apache-2.0
// What contexts, prompts and the keys that forbid asking do to items that ask for the user (rules 5.5 and 5.7).

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import Testing

@Suite("Rules: contexts and prompts")
struct AuthenticationContextTests {
    @Test(arguments: StoreKind.allCases)
    func context_givenAgain_asksNobody(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind)
        try keychain.add()
        let query = genp(["u_AuthCtx": keychain.context(), "r_Data": true])
        #expect(keychain.services.find(query).data == secret)
        #expect(keychain.services.find(query).data == secret)
        #expect(keychain.services.update(query.without("r_Data"), to: ["labl": "l"]) == errSecSuccess)
        #expect(keychain.questions.count == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func context_thatIsFreshOrAbsent_asksEachTime(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind)
        try keychain.add()
        for count in 1...2 {
            #expect(keychain.services.find(genp(["u_AuthCtx": keychain.context()])).status == errSecSuccess)
            #expect(keychain.services.find(genp()).status == errSecSuccess)
            #expect(keychain.questions.count == 2 * count)
        }
    }

    @Test(arguments: [
        Row("text", ["u_AuthCtx": "x"], ()), Row("null", ["u_AuthCtx": NSNull()], ()),
        Row("another object", ["u_AuthCtx": NSObject()], ()),
    ])
    func context_thatIsSomethingElse_isRefused(row: Row<Void>) throws {
        for call in Call.allCases {
            #expect(try call.status(.memory, genp(row.entries)) == errSecParam, "\(call)")
        }
    }

    @Test func context_togetherWithACredentialReference_isRefused() throws {
        for call in Call.allCases {
            let entries = genp(["u_AuthCtx": LAContext(), "u_CredRef": Data([1])])
            #expect(try call.status(.memory, entries) == errSecParam, "\(call)")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func context_thatIsInvalidated_failsWhereItWouldHaveToAsk(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind)
        try keychain.add(.userPresence, entries: ["acct": "asking"])
        try keychain.add([], entries: ["acct": "plain"])
        let context = keychain.context()
        #expect(keychain.services.find(genp(["acct": "asking", "u_AuthCtx": context])).status == errSecSuccess)
        context.invalidate()
        #expect(keychain.services.find(genp(["acct": "asking", "u_AuthCtx": context])).status == errSecAuthFailed)
        #expect(keychain.services.find(genp(["acct": "plain", "u_AuthCtx": context])).status == errSecSuccess)
        #expect(keychain.questions.count == 1)
    }

    // MARK: - Without asking

    static let silent: [Row<OSStatus>] = [
        Row("fail", ["u_AuthUI": "u_AuthUIF"], errSecInteractionNotAllowed),
        Row("no UI", ["u_NoAuthUI": true], errSecInteractionNotAllowed),
        Row("skip", ["u_AuthUI": "u_AuthUIS"], errSecItemNotFound),
        Row("the newer key wins", ["u_NoAuthUI": true, "u_AuthUI": "u_AuthUIA"], errSecSuccess),
    ]

    @Test(arguments: StoreKind.allCases, silent)
    func protectedItem_whenAskingIsForbidden_isNotShown(kind: StoreKind, row: Row<OSStatus>) throws {
        let keychain = try ProtectedKeychain(kind)
        try keychain.add()
        #expect(keychain.services.find(genp(row.entries)).status == row.expected)
        #expect(keychain.questions.count == (row.expected == errSecSuccess ? 1 : 0))
    }

    @Test(arguments: StoreKind.allCases, silent)
    func plainItem_whenAskingIsForbidden_isShown(kind: StoreKind, row: Row<OSStatus>) throws {
        let keychain = try ProtectedKeychain(kind)
        try keychain.add([])
        #expect(keychain.services.find(genp(row.entries)).status == errSecSuccess)
    }

    @Test(arguments: StoreKind.allCases, silent)
    func protectedItem_withAnAuthenticatedContext_isShownWithoutAsking(kind: StoreKind, row: Row<OSStatus>) throws {
        let keychain = try ProtectedKeychain(kind)
        try keychain.add()
        let context = keychain.context()
        #expect(keychain.services.find(genp(["u_AuthCtx": context])).status == errSecSuccess)
        let query = genp(row.entries).adding(["u_AuthCtx": context])
        #expect(keychain.services.find(query).status == errSecSuccess)
        #expect(keychain.services.find(query.adding(["r_Data": true])).data == secret)
        #expect(keychain.questions.count == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func skip_amongSeveral_leavesOutWhatAsks(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind)
        try keychain.add(.userPresence, entries: ["acct": "asking"])
        try keychain.add([], entries: ["acct": "plain"])
        let query = genp(["u_AuthUI": "u_AuthUIS", "r_Attributes": true, "m_Limit": "m_LimitAll"])
        #expect(keychain.services.find(query).dictionaries?.map { $0["acct"] as? String } == ["plain"])
    }

    @Test("C109", arguments: StoreKind.allCases, [Call.add, .update, .delete])
    func skip_inAnyCallButASearch_isRefused(kind: StoreKind, call: Call) throws {
        let keychain = try ProtectedKeychain(kind)
        if call != .add { try keychain.add() }
        let entries = call == .add ? try protected(.userPresence) : genp()
        #expect(call.status(keychain.services, entries.adding(["u_AuthUI": "u_AuthUIS"])) == errSecParam)
        #expect(keychain.questions.isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func context_thatForbidsAsking_isInteractionNotAllowedUntilItAllowsIt(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind)
        try keychain.add()
        let context = keychain.context()
        context.interactionNotAllowed = true
        #expect(keychain.services.find(genp(["u_AuthCtx": context])).status == errSecInteractionNotAllowed)
        #expect(keychain.services.update(genp(["u_AuthCtx": context]), to: [:]) == errSecInteractionNotAllowed)
        context.interactionNotAllowed = false
        #expect(keychain.services.find(genp(["u_AuthCtx": context])).status == errSecSuccess)
        context.interactionNotAllowed = true
        #expect(keychain.services.find(genp(["u_AuthCtx": context])).status == errSecSuccess)
    }

    @Test(arguments: StoreKind.allCases)
    func protectedItem_whereNobodyCanBeAsked_isInteractionNotAllowed(kind: StoreKind) throws {
        let passwordOnly = Person([.applicationPassword]) { _ in "x" }
        for person in [nil, passwordOnly] {
            let keychain = try ProtectedKeychain(kind, person)
            try keychain.add()
            #expect(keychain.services.find(genp()).status == errSecInteractionNotAllowed)
            #expect(
                keychain.services.find(genp(["u_AuthCtx": keychain.context()])).status == errSecInteractionNotAllowed)
            #expect(keychain.questions.isEmpty)
        }
    }
}
