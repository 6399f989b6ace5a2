// SPDX-License-Identifier: Apache-2.0
// What goes wrong with a save that deletes first, and with errors that have no cause.

import Foundation
import KeychainEngine
@_spi(Wrappers) import KeychainKit
import LGTVControl
import Testing
import WrapperStores

@Suite("Keychain manager, where others fail")
struct KeychainManagerDefectTests {
    private let service = "com.example.remote.test"

    @Test func save_thatFails_keepsTheOldValue() throws {
        let store = MemoryStore()
        let keychain = KeychainManager().using(store)
        try keychain.save(TVCredentials.living, service: service, account: "one")
        store.lockState = .locked
        #expect(failure { try keychain.save(TVCredentials.kitchen, service: service, account: "one") } != nil)
        store.lockState = .unlocked
        #expect(try keychain.load(TVCredentials.self, service: service, account: "one") == .living)
    }

    @Test func save_ofWhatCannotBeEncoded_keepsTheOldValue() throws {
        let keychain = KeychainManager().using(MemoryStore())
        try keychain.save(1.5, service: service, account: "one")
        #expect(failure { try keychain.save(Double.nan, service: service, account: "one") } != nil)
        #expect(try keychain.load(Double.self, service: service, account: "one") == 1.5)
    }

    @Test(arguments: StoreKind.allCases)
    func save_overAnItem_keepsItsProtectionAndLabel(kind: StoreKind) throws {
        let store = try kind.empty(passphrase: "p")
        let context = AuthenticationContext { Person("p") }
        var secrets = SecretStore(
            service: service, accessibility: .afterFirstUnlockThisDeviceOnly, accessControl: .userPresence, store: store
        )
        secrets.context = context
        try secrets.save(Data("{}".utf8), for: "one", attributes: ItemAttributes(label: "Living room"))
        let before = try #require(try secrets.item(for: "one"))

        let keychain = KeychainManager().using(store, context: context)
        try keychain.save(TVCredentials.living, service: service, account: "one")
        let after = try #require(try secrets.item(for: "one"))
        #expect(after.id == before.id)
        #expect(after.label == "Living room")
        #expect(after.accessibility == .afterFirstUnlockThisDeviceOnly)
        #expect(after.accessControl == .userPresence)
        #expect(try keychain.load(TVCredentials.self, service: service, account: "one") == .living)
    }

    @Test func encodingFailure_hasACauseAndNoContent() throws {
        let keychain = KeychainManager().using(MemoryStore())
        let value = ["s3cret": Double.infinity]
        let error = failure { try keychain.save(value, service: service, account: "one") }
        #expect(error as? LGTVControl.KeychainError == .encodingFailed)
        let failure = try #require(keychain.lastFailure)
        #expect(failure.reason == .invalidParameter)
        #expect(failure.message == "A value of type Dictionary<String, Double> cannot be encoded as JSON (at depth 1).")
    }

    @Test func value_ofBracketsThatOnlyOpen_isADecodingFailure() throws {
        let store = MemoryStore()
        let keychain = KeychainManager().using(store)
        try keychain.save("", service: service, account: "one")
        let brackets = Data(repeating: UInt8(ascii: "["), count: 513)
        try SecretStore(service: service, store: store).save(brackets, for: "one")
        #expect(failure { try keychain.load(TVCredentials.self, service: service, account: "one") } != nil)
        #expect(keychain.lastFailure?.reason == .undecodableInput)
    }

    @Test func decodingFailure_hasACauseAndNoContent() throws {
        let keychain = KeychainManager().using(MemoryStore())
        try keychain.save(["ipAddress": "s3cret"], service: service, account: "one")
        #expect(failure { try keychain.load(TVCredentials.self, service: service, account: "one") } != nil)
        let failure = try #require(keychain.lastFailure)
        #expect(failure.reason == .undecodableInput)
        #expect(failure.message.contains("TVCredentials"))
        #expect(!failure.message.contains("s3cret"))
    }

    @Test func credentials_inPrint_doNotShowTheKey() {
        let key = TVCredentials.living.clientKey ?? ""
        var dumped = ""
        dump(TVCredentials.living, to: &dumped)
        for text in ["\(TVCredentials.living)", String(reflecting: TVCredentials.living), dumped] {
            #expect(!text.contains(key))
            #expect(text.contains("192.0.2.14"))
        }
    }
}
