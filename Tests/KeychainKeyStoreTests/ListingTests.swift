// SPDX-License-Identifier: Apache-2.0
// What tools list: both kinds of items in one read, and how many locked items are missing.

import Crypto
import Foundation
import KeychainEngine
import KeychainKeyStore
import KeychainKit
import KeychainTestSupport
import KeychainTesting
import Testing

@Suite("Lists of tools")
struct ListingTests {
    private struct Subject {
        let keys: KeyStore
        let store: any ItemStore
        let setLockState: (LockState) throws -> Void
    }

    private static func subject(isVault: Bool) throws -> Subject {
        guard isVault else {
            let store = MemoryStore()
            return Subject(keys: KeyStore(store: store), store: store, setLockState: { store.lockState = $0 })
        }
        let vault = try LockableVault()
        return Subject(
            keys: KeyStore(store: vault.vault), store: vault.vault, setLockState: { try vault.setLockState($0) })
    }

    @Test(arguments: [true, false])
    func openCertificate_besideALockedOne_isListedAndTheOtherCounted(isVault: Bool) throws {
        let subject = try Self.subject(isVault: isVault)
        var closing = subject.keys
        closing.accessibility = .whenUnlocked
        try subject.keys.save(TestCertificate.root)
        try closing.save(TestCertificate.renewed)
        try subject.setLockState(.locked)
        let found = try subject.keys.listedCertificates()
        #expect(try found.entries.map(\.certificate) == [TestCertificate.root])
        #expect(found.locked == 1 && found.others == 0)
        #expect(reason { try subject.keys.certificates() } == .locked)
        try subject.setLockState(.unlocked)
        let all = try subject.keys.listedCertificates()
        #expect(all.entries.count == 2 && all.locked == 0)
    }

    @Test(arguments: [true, false])
    func lockedCertificate_alone_isLocked(isVault: Bool) throws {
        let subject = try Self.subject(isVault: isVault)
        var closing = subject.keys
        closing.accessibility = .whenUnlocked
        try closing.save(TestCertificate.root)
        try subject.setLockState(.locked)
        #expect(reason { try subject.keys.listedCertificates() } == .locked)
        try subject.setLockState(.unlocked)
        #expect(try subject.keys.listedCertificates().entries.count == 1)
    }

    /// Any program may store items of the class. Without this, the list would be empty.
    @Test(arguments: [true, false])
    func lockedCertificate_besideAnItemThatIsNone_isLocked(isVault: Bool) throws {
        let subject = try Self.subject(isVault: isVault)
        var closing = subject.keys
        closing.accessibility = .whenUnlocked
        try closing.save(TestCertificate.root)
        var other = Query(.certificate, [.label: .string("none"), .accessible: .string("dk")])
        other.value = Data([1])
        try Engine(store: subject.store).requests.add(other, accessGroups: .unrestricted)
        try subject.setLockState(.locked)
        #expect(reason { try subject.keys.listedCertificates() } == .locked)
        try subject.setLockState(.unlocked)
        let all = try subject.keys.listedCertificates()
        #expect(all.entries.count == 1 && all.others == 1)
    }

    /// No digest of a vault says that a closed row is a key.
    @Test func openCertificate_besideALockedKey_isListedAndTheKeyCounted() throws {
        let subject = try Self.subject(isVault: true)
        try subject.keys.save(TestCertificate.root)
        try subject.keys.save(P256.Signing.PrivateKey(), tag: "tag")
        try subject.setLockState(.locked)
        let found = try subject.keys.listedCertificates()
        #expect(found.entries.count == 1 && found.locked == 1)
        #expect(reason { try subject.keys.listedKeys() } == .locked)
        #expect(reason { try subject.keys.listedIdentities() } == .locked)
        try subject.setLockState(.unlocked)
        #expect(try subject.keys.listedKeys().entries.map(\.tag) == ["tag"])
    }

    /// The key is found, so only the search for certificates knows what is missing.
    @Test func certificateOfAKey_whoseValueIsDamaged_isCountedOrAnError() throws {
        let vault = try TemporaryVault()
        let keys = KeyStore(store: vault)
        try keys.save(TestKey.p256, tag: "tag")
        try keys.save(TestCertificate.renewed)
        try vault.damageLastValue()
        #expect(reason { try keys.listedIdentities() } == .corrupt)
        #expect(try keys.listedKeys().entries.map(\.tag) == ["tag"])
        try keys.save(TestCertificate.expired)
        let found = try keys.listedIdentities()
        #expect(found.entries.count == 1 && found.damaged == 1)
    }

    @Test(arguments: [false, true])
    func lists_haveWhatIsSynchronizableAndWhatIsNot(isSynchronizable: Bool) throws {
        let subject = try Self.subject(isVault: true)
        var synchronizable = subject.keys
        synchronizable.synchronizable = true
        try subject.keys.save(
            TestKey.p256, certificate: TestCertificate.renewed, chain: [TestCertificate.root], tag: "a", label: nil)
        try synchronizable.save(TestKey.p256, tag: "b")
        // Makes no difference.
        var keys = subject.keys
        keys.synchronizable = isSynchronizable
        #expect(try Set(keys.listedKeys().entries.map(\.tag)) == ["a", "b"])
        #expect(try keys.listedCertificates().entries.count == 2)
        #expect(try keys.listedIdentities().entries.map(\.key.tag) == ["a"])
        try synchronizable.save(TestCertificate.renewed)
        #expect(try keys.listedCertificates().entries.count == 3)
        #expect(try keys.listedIdentities().entries.map(\.key.tag) == ["a", "b"])
        try subject.setLockState(.unlocked)
    }

    // MARK: - Removing what was looked at

    /// Between two transactions another program could replace the key.
    @Test func keyToRemove_isLookedAtInTheTransactionThatRemovesIt() throws {
        let store = ScriptedStore()
        let keys = KeyStore(store: store)
        try keys.save(P256.Signing.PrivateKey(), tag: "tag")
        store.reset()
        let isRemoved = try keys.remove(tag: "tag") { _ in }
        #expect(isRemoved)
        #expect(store.calls.filter { $0.kind == .transaction }.count == 1)
        #expect(store.calls.allSatisfy { $0.kind == .transaction || $0.isInTransaction })
    }

    @Test func keyToRemove_thatTheLookRefuses_stays() throws {
        let keys = KeyStore(store: MemoryStore())
        try keys.save(P256.Signing.PrivateKey(), tag: "tag")
        let refusal = KeychainError(.cancelled, "No.")
        #expect(failure { try keys.remove(tag: "tag") { (_) throws(KeychainError) in throw refusal } } == refusal)
        #expect(try keys.keys().count == 1)
    }
}
