// SPDX-License-Identifier: Apache-2.0
// Keys of every type go in and come out.

import Crypto
import CryptoExtras
import Foundation
import KeychainEngine
import KeychainKeyStore
import KeychainKit
import KeychainTestSupport
import SecretMemory
import Testing

@Suite("Keys")
struct KeyStoreTests {
    private func keys(_ kind: StoreKind = .memory) throws -> KeyStore { KeyStore(store: try kind.empty()) }

    private func checkSaved<Key: StorableKey>(_ key: Key, _ keys: KeyStore) throws {
        try keys.save(key, tag: "tag", label: "label")
        #expect(try keys.read(Key.self, tag: "tag")?.data == key.data)
        let listed = try #require(try keys.keys().first)
        #expect(listed.type == Key.keyType && listed.tag == "tag" && listed.label == "label")
        #expect(listed.applicationLabel.count == 20)
    }

    @Test(arguments: TestKey.all, StoreKind.everywhere)
    func key_ofEachType_isReadAsItWasSaved(maker: TestKey.Maker, kind: StoreKind) throws {
        try checkSaved(maker.make(), keys(kind))
    }

    @Test func types_inTheTable_areAll() throws {
        #expect(try Set(TestKey.all.map { type(of: try $0.make()).keyType }).count == 11)
    }

    @Test func key_savedWithoutBlocking_isReadListedAndRemoved() async throws {
        let (keys, key) = (try keys(), P256.Signing.PrivateKey())
        try await keys.save(key, tag: "tag")
        #expect(try await keys.read(P256.Signing.PrivateKey.self, tag: "tag")?.data == key.data)
        #expect(try await keys.keys().map(\.tag) == ["tag"])
        #expect(try await keys.key(tag: "tag")?.type == .p256)
        #expect(try await keys.remove(tag: "tag"))
        #expect(try await !keys.contains(tag: "tag"))
    }

    /// Two types for one row.
    @Test func key_savedForSignatures_isReadForAgreement() throws {
        let (keys, key) = (try keys(), P256.Signing.PrivateKey())
        try keys.save(key, tag: "tag")
        #expect(try keys.read(P256.KeyAgreement.PrivateKey.self, tag: "tag")?.data == key.data)
    }

    @Test(arguments: StoreKind.everywhere) func key_thatIsNotThere_isNil(kind: StoreKind) throws {
        let keys = try keys(kind)
        #expect(try keys.read(P256.Signing.PrivateKey.self, tag: "tag") == nil)
        #expect(try keys.key(tag: "tag") == nil && !keys.contains(tag: "tag") && !keys.remove(tag: "tag"))
        #expect(try keys.keys().isEmpty)
    }

    @Test(arguments: StoreKind.everywhere) func key_readAsAnotherType_isTypeMismatchAndNamesBoth(kind: StoreKind) throws
    {
        let keys = try keys(kind)
        try keys.save(P256.Signing.PrivateKey(), tag: "tag")
        let failure = failure { try keys.read(Curve25519.Signing.PrivateKey.self, tag: "tag") }
        #expect(failure?.reason == .typeMismatch)
        #expect(failure?.message.contains("p256") == true && failure?.message.contains("ed25519") == true)
    }

    @Test func tag_thatIsEmpty_isInvalid() throws {
        let keys = try keys()
        #expect(reason { try keys.save(P256.Signing.PrivateKey(), tag: "") } == .invalidParameter)
        #expect(reason { try keys.read(P256.Signing.PrivateKey.self, tag: "") } == .invalidParameter)
        #expect(reason { try keys.remove(tag: "") } == .invalidParameter)
    }

    // MARK: - Replacing

    @Test(arguments: StoreKind.everywhere)
    func key_savedOverAnother_replacesItAndKeepsLabelAndProtection(kind: StoreKind) throws {
        var keys = try keys(kind)
        keys.accessibility = .afterFirstUnlock
        try keys.save(MLKEM768.PrivateKey(), tag: "tag", label: "label")
        keys.accessibility = nil
        let (id, key) = (try keys.key(tag: "tag")?.id, P384.Signing.PrivateKey())
        try keys.save(key, tag: "tag")
        #expect(try keys.read(P384.Signing.PrivateKey.self, tag: "tag")?.data == key.data)
        let listed = try keys.keys()
        #expect(listed.count == 1 && listed.first?.id == id && listed.first?.label == "label")
        #expect(listed.first?.item.accessibility == .afterFirstUnlock && listed.first?.type == .p384)
    }

    @Test(arguments: StoreKind.everywhere) func key_createdOverAnother_isDuplicateAndTheOtherStays(kind: StoreKind)
        throws
    {
        let (keys, key) = (try keys(kind), P256.Signing.PrivateKey())
        try keys.create(key, tag: "tag")
        #expect(reason { try keys.create(P384.Signing.PrivateKey(), tag: "tag") } == .duplicateItem)
        #expect(try keys.read(P256.Signing.PrivateKey.self, tag: "tag")?.data == key.data)
    }

    @Test func key_underTwoTags_isTwoKeys() throws {
        let (keys, key) = (try keys(.vault), P256.Signing.PrivateKey())
        try keys.save(key, tag: "one")
        try keys.save(key, tag: "two")
        #expect(try keys.keys().map(\.tag) == ["one", "two"])
        #expect(try keys.remove(tag: "one"))
        #expect(try keys.contains(tag: "two") && !keys.contains(tag: "one"))
    }

    // MARK: - Attributes

    @Test func keys_synchronizableAndNot_areTwo() throws {
        let store = try StoreKind.vault.empty()
        let (local, shared) = (KeyStore(store: store), KeyStore(synchronizable: true, store: store))
        try local.save(P256.Signing.PrivateKey(), tag: "tag")
        try shared.save(P384.Signing.PrivateKey(), tag: "tag")
        #expect(try local.key(tag: "tag")?.type == .p256 && shared.key(tag: "tag")?.type == .p384)
        #expect(try shared.keys().map(\.synchronizable) == [true])
    }

    @Test func keys_inTwoGroups_areReadFromTheDefaultOne() throws {
        let store = try StoreKind.memory.empty()
        let (one, two) = (KeyStore(accessGroup: "default", store: store), KeyStore(accessGroup: "two", store: store))
        try one.save(P256.Signing.PrivateKey(), tag: "tag")
        try two.save(P384.Signing.PrivateKey(), tag: "tag")
        #expect(AccessGroups.unrestricted.defaultGroup == "default")
        #expect(try KeyStore(store: store).key(tag: "tag")?.type == .p256)
        #expect(try two.key(tag: "tag")?.accessGroup == "two")
    }

    @Test func keys_inTwoOtherGroups_areDuplicate() throws {
        let store = try StoreKind.memory.empty()
        for group in ["one", "two"] {
            try KeyStore(accessGroup: group, store: store).save(P256.Signing.PrivateKey(), tag: "tag")
        }
        #expect(reason { try KeyStore(store: store).key(tag: "tag") } == .duplicateItem)
        #expect(reason { try KeyStore(store: store).save(P256.Signing.PrivateKey(), tag: "tag") } == .duplicateItem)
    }

    @Test(arguments: StoreKind.allCases) func key_thatRequiresTheUser_isListedByNameAndReadAfterAProof(kind: StoreKind)
        throws
    {
        let key = Curve25519.Signing.PrivateKey()
        var keys = KeyStore(accessControl: .userPresence, store: try kind.empty(passphrase: "p"))
        let person = Person(passphrase: "p")
        keys.context = AuthenticationContext { person }
        try keys.save(key, tag: "tag", label: "label")
        keys.context = AuthenticationContext { nil }
        let listed = try #require(try keys.keys().first)
        #expect(listed.requiresAuthentication && listed.tag == "tag" && listed.type == .ed25519)
        #expect(listed.fingerprint == nil && listed.label == nil)
        #expect(try keys.contains(tag: "tag"))
        keys.allowsInteraction = false
        #expect(reason { try keys.read(Curve25519.Signing.PrivateKey.self, tag: "tag") } == .interactionNotAllowed)
        keys.allowsInteraction = true
        keys.context = AuthenticationContext { person }
        #expect(try keys.read(Curve25519.Signing.PrivateKey.self, tag: "tag")?.data == key.data)
    }

    @Test func keys_inALockedVault_areLocked() throws {
        let vault = try LockableVault()
        let keys = KeyStore(store: vault.vault)
        try keys.save(P256.Signing.PrivateKey(), tag: "tag")
        try vault.setLockState(.locked)
        #expect(reason { try keys.read(P256.Signing.PrivateKey.self, tag: "tag") } == .locked)
        #expect(reason { try keys.keys() } == .locked)
        #expect(reason { try keys.save(P256.Signing.PrivateKey(), tag: "tag") } == .locked)
        try vault.setLockState(.unlocked)
        #expect(try keys.contains(tag: "tag"))
    }

    @Test func key_thatIsNotValid_isNotStored() throws {
        struct BadKey: StorableKey {
            static let keyType = KeyType.rsa
            let storedBytes: SecretBytes
        }
        let keys = try keys()
        for length in [0, 1, 100, TestKey.rsaBytes.count - 1] {
            let bytes = TestKey.rsaBytes.prefix(length).withUnsafeBytes { SecretBytes(copying: $0) }
            #expect(reason { try keys.save(BadKey(storedBytes: bytes), tag: "tag") } == .invalidParameter)
        }
        #expect(try keys.keys().isEmpty)
    }
}
