// SPDX-License-Identifier: Apache-2.0
// Items that are protected with a password of the program's own (rules 5.2 and 5.5).

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import Testing

/// What does not depend on the store is tested on the one in memory alone: the vault takes a second for each password.
@Suite("Rules: application passwords")
struct ApplicationPasswordTests {
    private let right = Data(Person.applicationPassword.utf8)

    private func context(_ keychain: ProtectedKeychain, _ password: Data) -> LAContext {
        let context = keychain.context()
        #expect(context.setCredential(password, type: .applicationPassword))
        return context
    }

    @Test(arguments: StoreKind.allCases)
    func password_setAsACredential_isNeverAskedFor(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind)
        let item = try protected(.applicationPassword).adding(["v_Data": secret])
        let context = context(keychain, right)
        #expect(keychain.services.add(item.adding(["u_AuthCtx": context])).status == errSecSuccess)
        let query = genp(["r_Data": true, "u_AuthCtx": self.context(keychain, right)])
        #expect(keychain.services.find(query).data == secret)
        #expect(keychain.services.update(genp(["u_AuthCtx": context]), to: ["v_Data": otherSecret]) == errSecSuccess)
        #expect(keychain.services.find(query).data == otherSecret)
        #expect(keychain.questions.isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func password_setWrong_isAuthFailedAndNotAskedFor(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind)
        try keychain.add(.applicationPassword)
        let query = genp(["u_AuthCtx": context(keychain, Data("wrong".utf8))])
        #expect(keychain.services.find(query.adding(["r_Attributes": true])).status == errSecAuthFailed)
        #expect(keychain.services.update(query, to: ["labl": "l"]) == errSecAuthFailed)
        #expect(keychain.services.delete(query) == errSecSuccess)
        #expect(keychain.questions.count == 1, "adding asked")
    }

    /// As in swift-keychain-kit's own tests.
    @Test(arguments: StoreKind.allCases)
    func password_setAsACredential_isUsedBySearchesThatSkip(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind)
        let skipping = genp(["u_AuthUI": "u_AuthUIS", "r_Attributes": true, "m_Limit": "m_LimitAll"])
        let all = ["both", "plain", "protected"]
        try keychain.add([], entries: ["acct": "plain"])
        try keychain.add(.applicationPassword, entries: ["acct": "protected"])
        try keychain.add([.applicationPassword, .userPresence], entries: ["acct": "both"])
        let asked = keychain.questions.count
        func accounts(_ context: LAContext) -> [String?]? {
            keychain.services.find(skipping.adding(["u_AuthCtx": context])).dictionaries?.map { $0["acct"] as? String }
        }
        #expect(accounts(keychain.context()) == ["plain"])
        #expect(accounts(context(keychain, Data("wrong".utf8))) == ["plain"])
        let context = context(keychain, right)
        #expect(accounts(context) == ["plain", "protected"])
        #expect(keychain.questions.count == asked)
        let query = genp(["acct": "both", "u_AuthCtx": context])
        #expect(keychain.services.find(query).status == errSecSuccess)
        #expect(keychain.questions.count == asked + 1)
        #expect(accounts(context) == all)
        #expect(keychain.questions.count == asked + 1)
    }

    @Test(arguments: StoreKind.allCases)
    func password_setAsACredential_isUsedBySearchesForOneThatSkip(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind)
        try keychain.add(.applicationPassword)
        let query = genp(["u_AuthUI": "u_AuthUIS", "r_Data": true])
        #expect(keychain.services.find(query.adding(["u_AuthCtx": context(keychain, right)])).data == secret)
        let wrong = context(keychain, Data("wrong".utf8))
        #expect(keychain.services.find(query.adding(["u_AuthCtx": wrong])).status == errSecItemNotFound)
        #expect(keychain.services.find(query).status == errSecItemNotFound)
    }

    @Test func password_takenBack_isAskedFor() throws {
        let keychain = try ProtectedKeychain(.memory)
        try keychain.add(.applicationPassword)
        let context = context(keychain, Data("wrong".utf8))
        #expect(keychain.services.find(genp(["u_AuthCtx": context])).status == errSecAuthFailed)
        #expect(context.setCredential(nil, type: .applicationPassword))
        #expect(keychain.services.find(genp(["u_AuthCtx": context])).status == errSecSuccess)
        #expect(keychain.questions.count == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func password_notSet_isAskedForAsNewAndThenAsKnown(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind)
        try keychain.add(.applicationPassword)
        #expect(keychain.services.find(genp(["r_Data": true])).data == secret)
        #expect(keychain.questions.map(\.method) == [.applicationPassword, .applicationPassword])
        #expect(keychain.questions.map(\.isNew) == [true, false])
    }

    @Test(arguments: StoreKind.allCases)
    func password_thatNobodyCanBeAskedFor_isInteractionNotAllowed(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind, nil)
        let item = try protected(.applicationPassword)
        #expect(keychain.services.add(item).status == errSecInteractionNotAllowed)
        #expect(keychain.services.count(genp()) == 0)
        let context = context(keychain, right)
        #expect(keychain.services.add(item.adding(["u_AuthCtx": context])).status == errSecSuccess)
        #expect(keychain.services.find(genp()).status == errSecInteractionNotAllowed)
    }

    @Test func password_answeredWrong_isAskedForThreeTimes() throws {
        let keychain = try ProtectedKeychain(.memory)
        try keychain.add(.applicationPassword)
        let forgetful = Person(saying: "wrong", "wrong again", Person.applicationPassword)
        let context = keychain.context(forgetful)
        #expect(keychain.services.find(genp(["r_Data": true, "u_AuthCtx": context])).data == secret)
        let wrong = Person(saying: "wrong")
        #expect(keychain.services.find(genp(["u_AuthCtx": keychain.context(wrong)])).status == errSecAuthFailed)
        for person in [forgetful, wrong] { #expect(person.questions.map(\.attempt) == [1, 2, 3]) }
    }

    @Test func passwordOfAnotherItem_inTheContext_isNoWrongAnswer() throws {
        let keychain = try ProtectedKeychain(.memory, Person { $0.reason })
        for account in ["a", "b"] {
            try keychain.add(.applicationPassword, entries: ["acct": account, "u_OpPrompt": account])
        }
        let context = keychain.context()
        for account in ["a", "b", "a"] {
            let query = genp(["acct": account, "u_OpPrompt": account, "u_AuthCtx": context])
            #expect(keychain.services.find(query).status == errSecSuccess)
        }
        #expect(keychain.questions.dropFirst(2).map(\.attempt) == [1, 1, 1])
    }

    @Test(arguments: StoreKind.allCases)
    func userAndPassword_bothWanted_areBothAskedFor(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind)
        try keychain.add([.userPresence, .applicationPassword])
        #expect(keychain.questions.map(\.method) == [.applicationPassword])
        #expect(keychain.services.find(genp(["r_Data": true])).data == secret)
        #expect(Set(keychain.questions.dropFirst().map(\.method)) == [.passphrase, .applicationPassword])
        #expect(keychain.questions.count == 3)
    }

    @Test(arguments: StoreKind.allCases)
    func userAndPassword_withTheWrongOne_areAuthFailed(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind)
        try keychain.add([.userPresence, .applicationPassword])
        let wrongPassword = context(keychain, Data("wrong".utf8))
        #expect(keychain.services.find(genp(["u_AuthCtx": wrongPassword])).status == errSecAuthFailed)
        let wrongPerson = keychain.context(Person(saying: "wrong"))
        wrongPerson.setCredential(right, type: .applicationPassword)
        #expect(keychain.services.find(genp(["u_AuthCtx": wrongPerson])).status == errSecAuthFailed)
    }

    @Test(arguments: StoreKind.allCases)
    func password_addedByAnUpdate_protectsFromThenOn(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind)
        keychain.services.add(genp(["v_Data": secret]))
        let context = context(keychain, right)
        let change = try protected(.applicationPassword).without("class")
        #expect(keychain.services.update(genp(["u_AuthCtx": context]), to: change) == errSecSuccess)
        #expect(keychain.services.find(genp(["u_AuthUI": "u_AuthUIF"])).status == errSecInteractionNotAllowed)
        #expect(keychain.services.find(genp(["u_AuthCtx": context, "r_Data": true])).data == secret)
    }

    @Test(arguments: StoreKind.allCases)
    func passwordProtectedItem_withoutAPassphrase_canBeKept(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind)
        try keychain.store.setPassphrase(nil)
        try keychain.add(.applicationPassword)
        #expect(keychain.services.find(genp(["r_Data": true])).data == secret)
    }
}
