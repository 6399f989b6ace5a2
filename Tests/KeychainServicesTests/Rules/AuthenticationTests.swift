// SPDX-License-Identifier: Apache-2.0
// What items with access control ask for, and when (rules 5.4 and 5.5).

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import Testing

@Suite("Rules: items that ask for the user")
struct AuthenticationTests {
    static let askingFlags: [SecAccessControlCreateFlags] = [
        .userPresence, .devicePasscode, [.devicePasscode, .or], [.devicePasscode, .and],
        [.userPresence, .privateKeyUsage], [.devicePasscode, .privateKeyUsage],
    ]

    @Test(arguments: StoreKind.allCases, askingFlags)
    func item_thatAsksForTheUser_isAddedWithoutAskingAndReadByAsking(
        kind: StoreKind, flags: SecAccessControlCreateFlags
    ) throws {
        let keychain = try ProtectedKeychain(kind)
        try keychain.add(flags)
        #expect(keychain.questions.isEmpty)
        #expect(keychain.services.find(genp(["r_Data": true])).data == secret)
        #expect(keychain.questions.map(\.method) == [.passphrase])
    }

    static let returns: [Row<Void>] = [
        Row("nothing", [:], ()), Row("data", ["r_Data": true], ()), Row("attributes", ["r_Attributes": true], ()),
        Row("reference", ["r_PersistentRef": true], ()), Row("all", ["m_Limit": "m_LimitAll"], ()),
    ]

    @Test(arguments: StoreKind.allCases, returns)
    func readOfAProtectedItem_whateverIsWanted_asks(kind: StoreKind, row: Row<Void>) throws {
        let keychain = try ProtectedKeychain(kind, Person(failing: .cancelled))
        try keychain.add()
        #expect(keychain.services.find(genp(row.entries)).status == errSecUserCanceled)
        #expect(keychain.questions.count == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func update_ofAProtectedItem_asksAndKeepsItProtected(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind)
        try keychain.add()
        #expect(keychain.services.update(genp(), to: ["v_Data": otherSecret]) == errSecSuccess)
        #expect(keychain.questions.count == 1)
        #expect(keychain.services.find(genp(["r_Data": true])).data == otherSecret)
        #expect(keychain.questions.count == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func update_thatIsNotAuthenticated_changesNothing(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind, Person(failing: .cancelled))
        try keychain.add()
        #expect(keychain.services.update(genp(), to: ["v_Data": otherSecret]) == errSecUserCanceled)
        let answer = keychain.services.find(genp(["r_Data": true, "u_AuthCtx": keychain.context(Person())]))
        #expect(answer.data == secret)
    }

    @Test(arguments: StoreKind.allCases)
    func delete_ofAProtectedItem_asksNobody(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind)
        try keychain.add()
        #expect(keychain.services.delete(genp()) == errSecSuccess)
        #expect(keychain.services.count(genp()) == 0)
        #expect(keychain.questions.isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func item_withoutConstraints_asksNobody(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind)
        for flags: SecAccessControlCreateFlags in [[], .privateKeyUsage, .or] {
            try keychain.add(flags)
            #expect(keychain.services.find(genp(["r_Data": true, "u_AuthCtx": keychain.context()])).data == secret)
            #expect(keychain.services.update(genp(), to: ["labl": "l"]) == errSecSuccess)
            #expect(keychain.services.delete(genp()) == errSecSuccess)
        }
        #expect(keychain.questions.isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func severalProtectedItems_inOneSearch_askOnce(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind)
        for account in ["a", "b", "c"] { try keychain.add(.userPresence, entries: ["acct": account]) }
        try keychain.add([], entries: ["acct": "d"])
        #expect(keychain.services.find(genp(["r_Data": true, "m_Limit": "m_LimitAll"])).dataList?.count == 4)
        #expect(keychain.questions.count == 1)
    }

    // MARK: - Changing what an item asks for

    @Test(arguments: StoreKind.allCases)
    func plainItem_madeToAskByAnUpdate_asksFromThenOn(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind)
        keychain.services.add(genp(["v_Data": secret]))
        #expect(keychain.services.update(genp(), to: try accessControl(.userPresence)) == errSecSuccess)
        #expect(keychain.questions.isEmpty)
        #expect(keychain.services.find(genp(["r_Data": true])).data == secret)
        #expect(keychain.questions.count == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func protectedItem_madePlainByAnUpdate_asksForThatOnly(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind)
        try keychain.add()
        #expect(keychain.services.update(genp(), to: ["pdmn": "ck"]) == errSecSuccess)
        #expect(keychain.services.find(genp(["r_Data": true])).data == secret)
        #expect(keychain.questions.count == 1)
    }

    @Test(arguments: StoreKind.allCases, [SecAccessControlCreateFlags.biometryAny, .biometryCurrentSet, .companion])
    func item_thatAsksForWhatIsNotHere_isNotStored(kind: StoreKind, flags: SecAccessControlCreateFlags) throws {
        let keychain = try ProtectedKeychain(kind)
        #expect(keychain.services.add(try protected(flags)).status == errSecNotAvailable)
        #expect(keychain.services.add(try protected([flags, .devicePasscode, .or])).status == errSecNotAvailable)
        keychain.services.add(genp(["v_Data": secret]))
        #expect(keychain.services.update(genp(), to: try accessControl(flags)) == errSecNotAvailable)
        #expect(keychain.services.find(genp(["r_Data": true])).data == secret)
        #expect(keychain.questions.isEmpty)
    }

    private func accessControl(_ flags: SecAccessControlCreateFlags) throws -> Entries {
        try protected(flags).without("class")
    }

    // MARK: - The passcode class

    @Test("C115", arguments: StoreKind.allCases)
    func passcodeClassItem_addedAndReadWithOneContext_isReturned(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind)
        let context = keychain.context()
        let item = try protected(.userPresence, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly)
        let added = keychain.services.add(item.adding(["v_Data": secret, "u_AuthCtx": context]))
        #expect(added.status == errSecSuccess)
        let query = genp(["u_AuthCtx": context, "r_Data": true, "r_Attributes": true])
        #expect(keychain.services.find(query).dictionary?["v_Data"] as? Data == secret)
        #expect(keychain.questions.count == 1)
    }

    @Test("C116", arguments: StoreKind.allCases)
    func passcodeClassItem_thatAsksForTheUser_isDeletedWithoutAsking(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind)
        try keychain.add(.devicePasscode, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly)
        #expect(keychain.services.delete(genp()) == errSecSuccess)
        #expect(keychain.questions.isEmpty)
    }

    @Test("C112", arguments: StoreKind.allCases)
    func passcodeClassItem_whenThePassphraseIsTakenAway_isGoneForGood(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind)
        let item = genp(["pdmn": "akpu", "v_Data": secret])
        #expect(keychain.services.add(item).status == errSecSuccess)
        #expect(keychain.services.find(genp(["r_Data": true])).data == secret)
        try keychain.store.setPassphrase(nil)
        #expect(keychain.services.find(genp()).status == errSecItemNotFound)
        #expect(keychain.services.add(item).status == errSecNotAvailable)
        try keychain.store.setPassphrase("another one")
        #expect(keychain.services.find(genp()).status == errSecItemNotFound)
        #expect(keychain.services.add(item).status == errSecSuccess)
    }
}
