// SPDX-License-Identifier: Apache-2.0
// Evaluating access controls.

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import Testing

@Suite("LocalAuthentication: access controls")
struct AccessControlEvaluationTests {
    static let controls: [(SecAccessControlCreateFlags, Needed)] = [
        ([], Needed()), (.privateKeyUsage, Needed()), (.userPresence, Needed(use: [.passphrase])),
        (.devicePasscode, Needed(use: [.passphrase])),
        (.applicationPassword, Needed(create: [.applicationPassword], use: [.applicationPassword])),
        (
            [.userPresence, .applicationPassword],
            Needed(create: [.applicationPassword], use: [.passphrase, .applicationPassword])
        ),
        (.biometryAny, Needed(error: .biometryNotAvailable)),
        ([.biometryCurrentSet, .devicePasscode, .or], Needed(error: .biometryNotAvailable)),
        (.companion, Needed(error: .companionNotAvailable)),
    ]

    struct Needed: Sendable {
        var create: [AuthenticationMethod] = []
        var use: [AuthenticationMethod] = []
        var error: LAError.Code?
    }

    @Test(arguments: controls)
    func accessControl_evaluated_asksForWhatItsItemsAskFor(
        flags: SecAccessControlCreateFlags, needed: Needed
    ) async throws {
        let control = try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, nil))
        let keychain = try ProtectedKeychain(.memory)
        let adding: [LAAccessControlOperation] = [.createItem, .createKey]
        for operation in adding + [.useItem, .useKeySign, .useKeyDecrypt, .useKeyKeyExchange] {
            let person = Person()
            #expect(await keychain.context(person).outcome(control, operation) == needed.error)
            let expected = adding.contains(operation) ? needed.create : needed.use
            #expect(person.questions.map(\.method) == expected, "\(operation)")
            #expect(person.questions.allSatisfy { $0.isNew == adding.contains(operation) })
        }
    }

    @Test(arguments: StoreKind.allCases)
    func accessControl_evaluatedBefore_sparesTheQuestionsOfTheItem(kind: StoreKind) async throws {
        let keychain = try ProtectedKeychain(kind)
        let flags: SecAccessControlCreateFlags = [.userPresence, .applicationPassword]
        let control = try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, nil))
        let context = keychain.context()
        #expect(await context.outcome(control, .createItem) == nil)
        #expect(keychain.services.add(genp(["accc": control, "u_AuthCtx": context])).status == errSecSuccess)
        #expect(keychain.questions.count == 1)
        #expect(await context.outcome(control, .useItem) == nil)
        #expect(keychain.services.find(genp(["u_AuthCtx": context])).status == errSecSuccess)
        #expect(keychain.questions.count == 2)
    }

    @Test(arguments: StoreKind.allCases, [LAAccessControlOperation.createItem, .useItem])
    func accessControl_thatNeedsAPassphraseThatIsNotSet_isPasscodeNotSet(
        kind: StoreKind, operation: LAAccessControlOperation
    ) async throws {
        let keychain = try ProtectedKeychain(kind)
        try keychain.store.setPassphrase(nil)
        let control = try #require(
            SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil))
        #expect(await keychain.context().outcome(control, operation) == .passcodeNotSet)
    }
}
