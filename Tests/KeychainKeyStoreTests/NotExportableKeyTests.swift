// SPDX-License-Identifier: Apache-2.0
// Keys that the keychain uses and never gives out.

import Crypto
import Foundation
import KeychainEngine
import KeychainKeyStore
import KeychainKeys
import KeychainKit
import KeychainTestSupport
import SecretMemory
import Testing

@Suite("Keys that are not exportable")
struct NotExportableKeyTests {
    private static let message = Data("message".utf8)

    private func keys(_ kind: StoreKind) throws -> KeyStore { keys(in: try kind.empty(passphrase: "p")) }

    private func keys(in store: some ItemStore) -> KeyStore {
        var keys = KeyStore(store: store)
        keys.tokens = KeyTokens()
        return keys
    }

    @Test(arguments: StoreKind.allCases) func key_notExportable_isUsedAndNeverRead(kind: StoreKind) async throws {
        let keys = try keys(kind)
        let key = try await keys.create(.p256, tag: "tag", protection: .notExportable)
        #expect(!key.isExportable && !key.isHardwareBound && key.tokenIdentifier == "keychain")
        let signer = try #require(try await keys.signer(tag: "tag"))
        for algorithm in signer.algorithms {
            let signature = try await signer.sign(Self.message, using: algorithm)
            #expect(try signer.publicHalf.isValidSignature(signature, for: Self.message, algorithm.content))
        }
        let failure = failure { try keys.read(P256.Signing.PrivateKey.self, tag: "tag") }
        #expect(failure?.reason == .unsupported && failure?.message.contains("never given out") == true)
        #expect(reason { try keys.privateKey(tag: "tag") } == .unsupported)
        #expect(try await keys.keys() == [key])
    }

    /// What a program can ask of a store, also for the objects of keys in hardware.
    @Test(arguments: StoreKind.allCases, [false, true])
    func value_ofAKeyThatIsNotExportable_isInNoSearchAndNoUpdate(kind: StoreKind, opensTokenKeys: Bool) throws {
        let store = try kind.empty(passphrase: "p")
        try keys(in: store).create(.p256, tag: "tag", protection: .notExportable)
        var selection = Selection(itemClass: .key)
        selection.opensTokenKeys = opensTokenKeys
        let found = try store.select(selection, limit: nil, includingValues: true, .none)
        #expect(found.items.count == 1 && found.items.allSatisfy { $0.item.value == nil })
        #expect(found.items.first?.item.accessControl.accessibility == .whenUnlockedThisDeviceOnly)
        let updated = try store.update(selection, .none) { (stored) throws(KeychainError) in
            #expect(stored.item.value == nil)
            return stored.item
        }
        #expect(updated.items.count == 1 && updated.items.allSatisfy { $0.item.value == nil })
        let signer = try #require(try keys(in: store).signer(tag: "tag"))
        #expect(try !signer.sign(Self.message, using: .es256).isEmpty)
    }

    @Test(arguments: StoreKind.allCases) func key_notExportable_isNotMadeAnOrdinaryOne(kind: StoreKind) throws {
        let store = try kind.empty(passphrase: "p")
        let key = try keys(in: store).create(.p256, tag: "tag", protection: .notExportable)
        let failure = reason {
            try store.update(Selection(itemClass: .key), .none) { (stored) throws(KeychainError) in
                var item = stored.item
                item.attributes[.tokenID] = nil
                return item
            }
        }
        #expect(failure == .invalidParameter)
        #expect(try keys(in: store).keys() == [key])
    }

    /// Another program finds the key with other tokens.
    @Test func key_notExportable_signsForAStoreThatDidNotMakeIt() throws {
        var keys = try keys(.vault)
        try keys.create(.p256, tag: "tag", protection: .notExportable)
        keys.tokens = KeyTokens()
        let signer = try #require(try keys.signer(tag: "tag"))
        let signature = try signer.sign(Self.message, using: .es256)
        #expect(try signer.publicHalf.isValidSignature(signature, for: Self.message, SigningAlgorithm.es256.content))
        #expect(try keys.remove(tag: "tag"))
        #expect(reason { try signer.sign(Self.message, using: .es256) } == .itemNotFound)
    }

    @Test func token_namedAsTheKeychain_isRefused() {
        struct Named: KeyToken {
            let identifier = "keychain"
            let name = "another"
            func makeKey() throws(KeychainError) -> TokenKey { TokenKey(object: Data(), publicKey: Data()) }
            func sign(_: Data, of _: TokenHash, with _: Data) throws(KeychainError) -> Data { Data() }
            func agree(with _: Data, object _: Data) throws(KeychainError) -> SecretBytes { .random(count: 32) }
            func forget(_: Data) {}
        }
        #expect(reason { try KeyTokens().use(Named()) } == .invalidParameter)
    }
}
