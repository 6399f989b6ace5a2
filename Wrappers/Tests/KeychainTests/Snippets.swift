// SPDX-License-Identifier: Apache-2.0
// The code of the guide as it stands there. It leaves names unused and waits where nothing is to be waited for, of which the
// compiler warns.

// swift-format-ignore-file

import Foundation
import Keychain
import class KeychainEngine.MemoryStore
import struct KeychainKit.SecretStore
@_spi(Wrappers) import KeychainServices
import Synchronization
import Testing

extension ValueKeychainStore {
    func setCodable<T: Encodable>(_ value: T) throws {
        let data = try JSONEncoder().encode(value)
        try set(String(data: data, encoding: .utf8))
    }

    func getCodable<T: Decodable>() throws -> T? {
        guard let string = try get(),
              let data = string.data(using: .utf8) else { return nil }
        return try JSONDecoder().decode(T.self, from: data)
    }
}

/// One after another: they use the keychain of this process.
@Suite("The guide's code", .serialized)
final class Snippets: Sendable {
    /// With `try` before the two calls, without which it cannot be compiled.
    @Test func usage_storesAValue() throws {
        let account = "OpenAI-key" // or other arbitrary string
        let accessGroup = "PPSF6CNP8Q.myapp.credentials"
        let store = ValueKeychainStore(accountName: account, accessGroup: accessGroup)
        try store.set("sk-proj-78Bmxfp9zMCrOauFJXuX") // set the key
        try print(store.get()) // print the key

        #expect(try store.get() == "sk-proj-78Bmxfp9zMCrOauFJXuX")
        try store.set(nil)
    }

    @Test func observedStore_tellsOfUpdates() async throws {
        let account = "OpenAI-key"
        let newValue = Mutex<[String?]>([])
        func print(_ text: String) { newValue.withLock { $0.append(text) } }

        func snippet(_ newValue: String) async throws {
            let accessGroup = "PPSF6CNP8Q.myapp.credentials"
            let underlyingStore = ValueKeychainStore(accountName: account, accessGroup: accessGroup)
            let store = await ObservedValueStore(valueStore: underlyingStore)
            let observation = await store.observe { [weak self] value in
                print("Value changed to \(String(describing: newValue))")
            }
            try await store.set("bananas")
            observation.stopObserving()

            try await store.set(nil)
        }

        try await snippet("what is new")
        #expect(newValue.withLock { $0 } == ["Value changed to what is new"])
    }

    @Test func extraAttributes_areApplied() throws {
        let kept = MemoryStore()
        let store = ValueKeychainStore(accountName: "a").using(kept)

        let extraAttributes: [String: AnyObject] = [
            kSecAttrAccessible as String: kSecAttrAccessibleWhenUnlockedThisDeviceOnly
        ]
        try store.create("secure-value", extraAttributes: extraAttributes)

        #expect(try store.get() == "secure-value")
        #expect(try SecretStore(service: "", store: kept).item(for: "a")?.accessibility == .whenUnlockedThisDeviceOnly)
    }

    @Test func errors_carryCodeAndMessage() throws {
        let kept = MemoryStore()
        let store = ValueKeychainStore(accountName: "a").using(kept)
        kept.lockState = .locked
        do {
            try store.set("value")
        } catch KeychainError.unexpectedStatus(let status, let message) {
            // handle error
            #expect(status == errSecInteractionNotAllowed && message?.contains("locked") == true)
            return
        }
        Issue.record("It was set.")
    }

    @Test func observers_maySendTheirWorkToTheMainQueue() async throws {
        let observedStore = ObservedValueStore(valueStore: ValueKeychainStore(accountName: "a").using(MemoryStore()))
        let heard = Mutex<[String?]>([])

        _ = observedStore.observeChanges { newValue in
            DispatchQueue.main.async {
                // update UI
            }
        }

        _ = observedStore.observeChanges { newValue in heard.withLock { $0.append(newValue) } }
        try await observedStore.set("1")
        #expect(heard.withLock { $0 } == ["1"])
    }

    @Test func sharing_betweenTwoPrograms_works() throws {
        let store1 = ValueKeychainStore(
            accountName: "shared-account",
            accessGroup: "TEAM_ID.com.company.shared.keychain"
        )
        let store2 = ValueKeychainStore(
            accountName: "shared-account",
            accessGroup: "TEAM_ID.com.company.shared.keychain"
        )

        try store1.set("shared")
        #expect(try store2.get() == "shared")
        try store2.set(nil)
        #expect(try store1.get() == nil)
    }

    @Test func migration_movesAValue() throws {
        let kept = MemoryStore()
        let oldStore = ValueKeychainStore(accountName: "a", accessGroup: "old").using(kept)
        let sharedStore = ValueKeychainStore(accountName: "a", accessGroup: "shared").using(kept)
        try oldStore.set("s3cret")

        if let oldVal = try? oldStore.get() {
            try? sharedStore.set(oldVal)
            try? oldStore.set(nil)
        }

        #expect(try sharedStore.get() == "s3cret" && oldStore.get() == nil)
    }

    @Test func codableValues_areAddedByAnExtension() throws {
        let store = ValueKeychainStore(accountName: "a").using(MemoryStore())
        let none: [String: Int]? = try store.getCodable()
        try store.setCodable(["one": 1])
        let some: [String: Int]? = try store.getCodable()
        #expect(none == nil && some == ["one": 1])
    }
}
