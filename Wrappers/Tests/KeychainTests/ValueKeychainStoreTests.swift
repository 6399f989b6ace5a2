// SPDX-License-Identifier: Apache-2.0
// One text in the keychain.

import Foundation
import Keychain
import KeychainEngine
@_spi(Wrappers) import KeychainKit
@_spi(Wrappers) import KeychainSecItem
@_spi(Wrappers) import KeychainServices
import Synchronization
import Testing
import WrapperStores

/// Of the two that are imported here.
private typealias KeychainError = Keychain.KeychainError

/// The status that something ends with; `nil` if it succeeds.
func status(_ body: () throws -> Any?) -> OSStatus? {
    do {
        _ = try body()
        return nil
    } catch KeychainError.unexpectedStatus(let status, _) {
        return status
    } catch {
        return errSecSuccess
    }
}

@Suite("One text")
struct ValueKeychainStoreTests {
    private func store(_ kind: StoreKind) throws -> ValueKeychainStore {
        ValueKeychainStore(accountName: "a", accessGroup: "g").using(try kind.empty(passphrase: "p"))
    }

    @Test(
        arguments: StoreKind.everywhere,
        ["", "bananas", "line\nbreak\0", "\"quoted\"", String(repeating: "ä", count: 10_000)])
    func text_set_isRead(kind: StoreKind, text: String) throws {
        let store = try store(kind)
        try store.set(text)
        #expect(try store.get() == text)
    }

    @Test(arguments: StoreKind.everywhere)
    func value_isSetChangedAndRemoved(kind: StoreKind) throws {
        let store = try store(kind)
        #expect(try store.get() == nil)
        try store.set("orange")
        try store.set("green")
        #expect(try store.get() == "green")
        try store.set(nil as String?)
        try store.set(nil)
        #expect(try store.get() == nil)
    }

    /// The original's are synchronous: programs call them in asynchronous code without `await`, and with it as the guide does.
    @Test func calls_inAsynchronousCode_needNoAwait() async throws {
        let store = ObservedValueStore(valueStore: try store(.memory))
        try await Task { try store.set("1") }.value
        let value = try store.get()
        #expect(try value == "1" && { try store.get() }() == "1")
        async let concurrent = store.get()
        #expect(try await concurrent == "1")
        store.observe { _ in }.stopObserving()
    }

    @Test(arguments: StoreKind.everywhere)
    func valuesOfOtherAccountsAndGroups_areApart(kind: StoreKind) throws {
        let kept = try kind.empty()
        let stores = [("a", "g"), ("b", "g"), ("a", "h")].map {
            ValueKeychainStore(accountName: $0, accessGroup: $1).using(kept)
        }
        for (number, store) in stores.enumerated() { try store.set("\(number)") }
        try stores[1].set(nil)
        #expect(try stores.map { try $0.get() } == ["0", nil, "2"])
    }

    /// Items that the original has stored have no service.
    @Test(arguments: StoreKind.everywhere)
    func item_isTheOneThatSecItemAddMakesWithoutAService(kind: StoreKind) throws {
        let kept = try kind.empty()
        let functions = try SecItemFunctions.over(kept, accessGroups: nil)
        let item: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "a",
            kSecAttrAccessGroup as String: "g", kSecValueData as String: Data("1".utf8),
        ]
        #expect(functions.add(item as NSDictionary, nil) == errSecSuccess)
        let store = ValueKeychainStore(accountName: "a", accessGroup: "g").using(kept)
        #expect(try store.get() == "1")
        try store.set("2")
        #expect(try KeychainCatalog(store: kept).items().count == 1)
        try store.set(nil)
        try store.set("3")
        #expect(functions.add(item as NSDictionary, nil) == errSecDuplicateItem)
    }

    @Test(arguments: StoreKind.everywhere)
    func item_createdTwice_isADuplicateAndStays(kind: StoreKind) throws {
        let store = try store(kind)
        try store.create("1")
        #expect(status { try store.create("2") } == -25299)
        #expect(try store.get() == "1")
    }

    @Test(arguments: StoreKind.everywhere)
    func extraAttributes_areStoredAndDoNotRenameTheItem(kind: StoreKind) throws {
        let kept = try kind.empty()
        let store = ValueKeychainStore(accountName: "a", accessGroup: "g").using(kept)
        try store.create(
            "1",
            extraAttributes: [
                kSecAttrLabel as String: NSString(string: "Label"), kSecAttrAccount as String: NSString(string: "b"),
                kSecValueData as String: NSData(),
            ])
        let item = try SecretStore(service: "", accessGroup: "g", store: kept).item(for: "a")
        #expect(try item?.label == "Label" && store.get() == "1")
    }

    /// The store has no service to find it by.
    @Test(arguments: StoreKind.everywhere)
    func extraAttribute_thatIsAService_doesNotHideTheItem(kind: StoreKind) throws {
        let store = try store(kind)
        try store.create("1", extraAttributes: [kSecAttrService as String: NSString(string: "app")])
        #expect(try store.get() == "1")
    }

    @Test(
        arguments: StoreKind.everywhere,
        [
            (kSecAttrAccessibleAfterFirstUnlock as String, Accessibility.afterFirstUnlock),
            (kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly as String, .whenPasscodeSetThisDeviceOnly),
            (kSecAttrAccessibleWhenUnlocked as String, .whenUnlocked),
            (kSecAttrAccessibleWhenUnlockedThisDeviceOnly as String, .whenUnlockedThisDeviceOnly),
        ])
    func accessibilityOption_given_isStored(kind: StoreKind, option: (name: String, meaning: Accessibility)) throws {
        let kept = try kind.empty(passphrase: "p")
        let store = ValueKeychainStore(accountName: "a").using(kept)
        try store.create("1", extraAttributes: [kSecAttrAccessible as String: NSString(string: option.name)])
        try store.set("2")
        #expect(try SecretStore(service: "", store: kept).item(for: "a")?.accessibility == option.meaning)
    }

    @Test(arguments: StoreKind.everywhere)
    func accessibilityOption_thatNeedsAPassphraseWhereThereIsNone_saysSo(kind: StoreKind) throws {
        let store = ValueKeychainStore(accountName: "a").using(try kind.empty())
        let option = NSString(string: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly as String)
        do {
            try store.create("1", extraAttributes: [kSecAttrAccessible as String: option])
            Issue.record("It was created.")
        } catch KeychainError.unexpectedStatus(let status, let message) {
            #expect(status == errSecNotAvailable && message?.contains("passphrase") == true)
        }
    }

    @Test(arguments: StoreKind.everywhere)
    func extraAttribute_thatIsNoAttribute_isAnError(kind: StoreKind) throws {
        let store = try store(kind)
        #expect(status { try store.create("1", extraAttributes: ["xyz": NSNumber(value: 1)]) } == errSecParam)
        #expect(try store.get() == nil)
    }

    @Test(arguments: StoreKind.everywhere)
    func synchronizableItem_isFoundAndRemoved(kind: StoreKind) throws {
        let store = try store(kind)
        try store.create("1", extraAttributes: [kSecAttrSynchronizable as String: NSNumber(value: true)])
        try store.set("2")
        #expect(try store.get() == "2")
        try store.set(nil)
        #expect(try store.get() == nil)
    }

    @Test(arguments: StoreKind.everywhere)
    func item_thatIsNotThere_canBeNeitherUpdatedNorDeleted(kind: StoreKind) throws {
        let store = try store(kind)
        #expect(status { try store.update("1") } == -25300)
        #expect(status { try store.delete() } == -25300)
        try store.set("1")
        try store.update("2")
        #expect(try store.get() == "2")
        try store.delete()
        #expect(try store.get() == nil)
    }

    @Test(arguments: StoreKind.everywhere)
    func bytes_thatAreNoText_areAnErrorAndNotNil(kind: StoreKind) throws {
        let kept = try kind.empty()
        try SecretStore(service: "", store: kept).save(Data([0xff]), for: "a")
        #expect(status { try ValueKeychainStore(accountName: "a").using(kept).get() } == errSecDecode)
    }

    @Test func accessGroup_thatTheProgramMayNotUse_isMissingEntitlement() throws {
        let store = ValueKeychainStore(accountName: "a", accessGroup: "theirs")
            .using(MemoryStore(), accessGroups: AccessGroups(["mine"]))
        #expect(status { try store.set("1") } == -34018)
        #expect(status { try store.get() } == -34018)
        #expect(status { try store.create("1") } == -34018)
    }

    @Test func item_withoutAnAccessGroup_isInTheDefaultOne() throws {
        let kept = MemoryStore()
        let store = ValueKeychainStore(accountName: "a").using(kept, accessGroups: AccessGroups(["mine", "ours"]))
        try store.create("1")
        try store.set("2")
        #expect(try KeychainCatalog(store: kept).items().map(\.accessGroup) == ["mine"])
    }

    @Test func error_speaksAndBridges() {
        let full = KeychainError.unexpectedStatus(-25308, "The keychain is locked.")
        let bare = KeychainError.unexpectedStatus(-25308, nil)
        #expect("\(full)" == "-25308 The keychain is locked." && "\(bare)" == "-25308")
        #expect(full.localizedDescription == "The keychain is locked." && bare.errorDescription?.isEmpty == false)
        #expect((full as NSError).code == -25308 && (full as NSError).domain == "NSOSStatusErrorDomain")
    }

    // MARK: - Several at once

    /// The original looks whether there is an item, and creates or updates it then: two that meet fail.
    @Test(arguments: StoreKind.everywhere)
    func setting_byManyThreads_neverFails(kind: StoreKind) throws {
        let kept = try kind.empty()
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 60) { number in
            let store = ValueKeychainStore(accountName: "a").using(kept)
            do {
                try store.set(number % 3 == 0 ? nil : "\(number)")
                _ = try store.get()
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 }.isEmpty)
        #expect(try KeychainCatalog(store: kept).items().count <= 1)
    }
}
