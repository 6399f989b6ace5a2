// SPDX-License-Identifier: Apache-2.0
// Constrained items through the engine: what the user is asked for, and how often.

import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainTestSupport
import SecretMemory
import Testing

@testable import KeychainVault

@Suite struct ConstrainedUseTests {
    private static func item(
        _ account: String, _ flags: AccessControl.Flags, _ accessibility: Accessibility = .whenUnlocked
    ) throws -> Query {
        var item = Query.genericPassword("s", account, value: account)
        item.accessControl = try AccessControl(accessibility, flags: flags)
        return item
    }

    private static func query(_ account: String, _ context: AuthenticationContext) -> Query {
        var query = Query.genericPassword("s", account)
        query.context = context
        return query
    }

    private static func context(_ answers: [String]) -> (AuthenticationContext, Person) {
        let person = Person(sayingOnce: answers)
        return (AuthenticationContext { person }, person)
    }

    /// A secret mistyped once would close the item for good.
    @Test func update_thatGivesAnItemAPassword_asksForANewOne() throws {
        let engine = Engine(store: MemoryStore())
        try engine.add(.genericPassword("s", "a", value: "v"))
        let (context, person) = Self.context(["password"])
        var changes = Changes(value: nil)
        changes.accessControl = try AccessControl(.whenUnlocked, flags: .applicationPassword)
        try engine.update(Self.query("a", context), with: changes, accessGroups: .unrestricted)
        #expect(person.questions.map(\.isNew) == [true])
    }

    @Test func update_ofAnItemWithAPassword_asksForTheOneItHas() throws {
        let engine = Engine(store: MemoryStore())
        let (adding, _) = Self.context(["password"])
        var item = try Self.item("a", .applicationPassword)
        item.context = adding
        try engine.add(item)
        let (context, person) = Self.context(["password"])
        try engine.update(Self.query("a", context), value: "w")
        #expect(person.questions.map(\.isNew) == [false])
    }

    /// An answer that was right for one item is not a wrong one for the next.
    @Test func twoItemsWithPasswords_readInTurnWithOneContext_areEachAskedForAgain() throws {
        let engine = Engine(store: MemoryStore())
        for account in ["a", "b"] {
            var item = try Self.item(account, .applicationPassword)
            item.context = Self.context([account]).0
            try engine.add(item)
        }
        let order = ["a", "b", "a", "b", "a"]
        let (context, person) = Self.context(order)
        for account in order { #expect(try engine.text(Self.query(account, context)) == account) }
        #expect(person.questions.map(\.attempt) == [1, 1, 1, 1, 1])
    }

    @Test func password_givenWrongThreeTimes_isRefused() throws {
        let engine = Engine(store: MemoryStore())
        var item = try Self.item("a", .applicationPassword)
        item.context = Self.context(["right"]).0
        try engine.add(item)
        let (context, person) = Self.context(["x", "y", "z", "right"])
        #expect(reason { _ = try engine.text(Self.query("a", context)) } == .authenticationFailed)
        #expect(person.questions.map(\.attempt) == [1, 2, 3])
        #expect(try engine.text(Self.query("a", context)) == "a")
    }

    /// The recovery key proves the user as the passphrase does; what it can store it must be able to read.
    @Test func userItem_whereARecoveryKeyIsTheOnlySecretOfAPerson_isReadWithIt() throws {
        let test = try TestVault(.cheap)
        let text = Vault.makeRecoveryKey()
        try test.vault.addProtector(.recoveryKey(text))
        try test.engine.add(Self.item("a", .userPresence))
        let (context, _) = Self.context([String(decoding: text.bytes, as: UTF8.self)])
        #expect(try test.engine.text(Self.query("a", context)) == "a")
    }

    @Test func userItem_thatOutlivesThePassphraseByARecoveryKey_isReadWithIt() throws {
        let test = try TestVault(.cheap)
        let text = Vault.makeRecoveryKey()
        try test.vault.addProtector(.old)
        try test.vault.addProtector(.recoveryKey(text), authority: .old)
        try test.engine.add(Self.item("a", .userPresence))
        try test.vault.removeProtector(test.vault.slot(PassphraseProtector.kind), authority: .recoveryKey(text))
        let (context, _) = Self.context([String(decoding: text.bytes, as: UTF8.self)])
        #expect(try test.engine.text(Self.query("a", context)) == "a")
    }

    /// Nothing is authenticated before the first unlock; but a passphrase is set.
    @Test func alwaysOpenUserItem_addedWhileLocked_isLockedAndNotWithoutPassphrase() throws {
        let test = try TestVault.locked()
        #expect(reason { try test.another().engine.add(Self.item("a", .userPresence, .always)) } == .locked)
    }

    @Test func alwaysOpenUserItem_changedWhileLocked_isLockedAndNotWithoutPassphrase() throws {
        let test = try TestVault.locked()
        try test.another().unlock(.old)
        try test.another().engine.add(Self.item("a", .userPresence, .always))
        try test.forget()
        let (context, _) = Self.context(["the old passphrase"])
        #expect(reason { try test.another().engine.update(Self.query("a", context), value: "w") } == .locked)
    }

    /// A proof that may be used for a second is not kept for five minutes.
    @Test func recentProof_olderThanItsContextAllows_isGone() throws {
        let (one, other) = (MemoryStore(passphrase: "p"), MemoryStore(passphrase: "p"))
        weak var kept: SecretBytes?
        do {
            let key = SecretBytes.random(count: 32)
            kept = key
            RecentProof.remember(key, one, keptFor: .milliseconds(20))
        }
        try waitUntil("The end of the proof", limitedTo: .seconds(100)) {
            // Looking for another one drops what is too old.
            #expect(RecentProof.key(other, within: .seconds(300)) == nil)
            return kept == nil
        }
    }
}
