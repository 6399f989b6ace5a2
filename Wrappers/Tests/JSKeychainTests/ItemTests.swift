// SPDX-License-Identifier: Apache-2.0
// What saving, reading and listing do, in memory and in a vault.

import Foundation
import JSKeychain
@_spi(Wrappers) import KeychainKit
import KeychainTesting
import Testing
import WrapperStores

@Suite("Items")
struct ItemTests {
    @Test(
        arguments: StoreKind.everywhere,
        ["", "s3cret", "\"quoted\"", "line\nbreak\0", String(repeating: "ä", count: 10_000)])
    func text_saved_isReadBack(kind: StoreKind, text: String) throws {
        let keychain = try kind.keychain()
        try keychain.save(text)
        #expect(try keychain.value() == text)
    }

    @Test(arguments: StoreKind.everywhere)
    func valuesOfAnyType_saved_areReadBack(kind: StoreKind) async throws {
        let keychain = try kind.keychain()
        try await keychain.save([1, 2, 3], service: "app", account: "numbers")
        try await keychain.save(["a": Date(timeIntervalSince1970: 1)], service: "app", account: "dates")
        try await keychain.save(String?.none, service: "app", account: "nothing")
        let numbers: [Int] = try await keychain.read(service: "app", account: "numbers")
        let dates: [String: Date] = try await keychain.read(service: "app", account: "dates")
        let nothing: String? = try await keychain.read(service: "app", account: "nothing")
        #expect(numbers == [1, 2, 3] && dates == ["a": Date(timeIntervalSince1970: 1)] && nothing == nil)
    }

    @Test(arguments: StoreKind.everywhere)
    func item_isJSONUnderItsServiceAndAccount(kind: StoreKind) throws {
        let store = try kind.empty()
        let keychain = JSKeychain().using(store)
        try keychain.save("s3cret", .afterFirstUnlock)
        #expect(try store.secrets().read(Data.self, for: "alice") == Data(#""s3cret""#.utf8))
        #expect(try store.secrets().item(for: "alice")?.accessibility == .afterFirstUnlock)
    }

    @Test(arguments: StoreKind.everywhere)
    func itemsOfSeveralAccounts_doNotMix(kind: StoreKind) throws {
        let keychain = try kind.keychain()
        for account in ["alice", "bob", "carol"] {
            try keychain.save(account.uppercased(), service: "app", account: account)
        }
        try keychain.delete(service: "app", account: "bob")
        #expect(try keychain.value() == "ALICE")
        #expect(try keychain.listAll(service: "app").map(\.account).sorted() == ["alice", "carol"])
    }

    /// The original kept them under one name in lower case.
    @Test(arguments: StoreKind.everywhere)
    func names_thatDifferInCase_areTwoItems(kind: StoreKind) throws {
        let keychain = try kind.keychain()
        try keychain.save("1", service: "MyApp", account: "Alice")
        try keychain.save("2", service: "myapp", account: "alice")
        let first: String = try keychain.read(service: "MyApp", account: "Alice")
        #expect(first == "1")
        #expect(Set(try keychain.listAll().map(\.account)) == ["Alice", "alice"])
    }

    @Test(arguments: StoreKind.everywhere)
    func item_thatIsNotThere_isItemNotFound(kind: StoreKind) async throws {
        let keychain = try kind.keychain()
        #expect(keychainError { try keychain.value() } == .itemNotFound)
        await #expect(throws: JSKeychainError.itemNotFound) {
            let _: String = try await keychain.read(service: "app", account: "alice")
        }
        #expect(!keychain.exists(service: "app", account: "alice"))
        try await keychain.delete(service: "app", account: "alice")
    }

    @Test(arguments: StoreKind.everywhere)
    func valueOfAnotherType_isInvalidDataWithoutItsContent(kind: StoreKind) throws {
        let keychain = try kind.keychain()
        try keychain.save(["hush": "s3cret"], service: "app", account: "alice")
        #expect(throws: JSKeychainError.invalidData) {
            let _: [String: Int] = try keychain.read(service: "app", account: "alice")
        }
        let message = try #require(keychain.lastFailure?.message)
        #expect(message.contains("Dictionary<String, Int>") && !message.contains("s3cret"))
        #expect(!message.contains("hush"))
    }

    @Test func value_thatCannotBeEncoded_isInvalidDataWithTheCause() async throws {
        let keychain = JSKeychain().using(MemoryStore())
        #expect(throws: JSKeychainError.invalidData) {
            try keychain.save(Double.nan, service: "app", account: "alice")
        }
        #expect(keychain.lastFailure?.message == "A value of type Double cannot be encoded.")
        await #expect(throws: JSKeychainError.invalidData) {
            try await keychain.save([Double.nan], service: "app", account: "alice")
        }
        #expect(!keychain.exists(service: "app", account: "alice"))
    }

    /// The original deletes nothing first either, and left out the group, the class and the protection.
    @Test(arguments: StoreKind.everywhere)
    func saving_overAnItem_changesItInPlace(kind: StoreKind) throws {
        let store = try kind.empty()
        let keychain = JSKeychain().using(store)
        try keychain.save("1")
        let before = try #require(try store.secrets().item(for: "alice"))
        try keychain.save("2", .afterFirstUnlockThisDeviceOnly)
        let after = try #require(try store.secrets().item(for: "alice"))
        #expect(before.id == after.id && after.accessibility == .afterFirstUnlockThisDeviceOnly)
        #expect(try keychain.value() == "2")
    }

    @Test(arguments: StoreKind.everywhere)
    func saving_inAnAccessGroup_leavesTheItemOfAnotherGroup(kind: StoreKind) throws {
        let store = try kind.empty()
        let keychains = ["one", "two"].map { JSKeychain(accessGroup: $0).using(store) }
        try keychains[0].save("1")
        try keychains[1].save("2")
        try keychains[1].save("3")
        #expect(try keychains.map { try $0.value() } == ["1", "3"])
        try keychains[0].deleteAll()
        #expect(try keychains.map { try $0.listAll().count } == [0, 1])
    }

    @Test(arguments: StoreKind.everywhere)
    func saving_withoutAnAccessGroup_findsTheItemInItsOwn(kind: StoreKind) throws {
        let store = try kind.empty()
        try JSKeychain(accessGroup: "shared").using(store).save("1")
        try JSKeychain().using(store).save("2")
        #expect(try store.secrets(accessGroup: "shared").read(String.self, for: "alice") == #""2""#)
    }

    @Test(arguments: StoreKind.allCases)
    func nameInTwoAccessGroups_withoutOne_isAnErrorThatAsksForTheGroup(kind: StoreKind) throws {
        let store = try kind.empty()
        for group in ["one", "two"] { try JSKeychain(accessGroup: group).using(store).save(group) }
        let keychain = JSKeychain().using(store)
        let errors = [keychainError { try keychain.value() }, keychainError { try keychain.save("3") }]
        #expect(errors == [.unhandledError(status: -25299), .unhandledError(status: -25299)])
        #expect(errors[0]?.failureReason?.contains("access groups") == true)
        #expect(keychain.exists(service: "app", account: "alice"))
        #expect(try keychain.listAll(service: "app").count == 2)
        #expect(try JSKeychain(accessGroup: "one").using(store).value() == "one")
    }

    @Test func accessGroup_thatTheProgramMayNotUse_isMissingEntitlement() throws {
        let keychain = JSKeychain(accessGroup: "theirs").using(MemoryStore(), accessGroups: AccessGroups(["mine"]))
        #expect(keychainError { try keychain.save("1") } == .unhandledError(status: -34018))
        #expect(keychainError { try keychain.listAll() } == .unhandledError(status: -34018))
        #expect(keychain.lastFailure?.reason == .missingEntitlement)
    }

    // MARK: - Listing

    @Test(arguments: StoreKind.everywhere)
    func listAll_showsItemsOfAllServices(kind: StoreKind) async throws {
        let keychain = try kind.keychain()
        #expect(try await keychain.listAll().isEmpty)
        try await keychain.save("1", service: "a", account: "x")
        try await keychain.save("2", service: "b", account: "y")
        let items = try await keychain.listAll()
        #expect(Set(items.map { "\($0.service) \($0.account)" }) == ["a x", "b y"])
        #expect(items.allSatisfy { $0.createdAt != nil && $0.modifiedAt != nil })
        #expect(try await keychain.listAll(service: "b").map(\.account) == ["y"])
    }

    @Test(arguments: StoreKind.everywhere)
    func listAll_leavesOutOtherClasses(kind: StoreKind) throws {
        let store = try kind.empty()
        try SecretStore(server: .init("example.com"), store: store).save("1", for: "alice")
        #expect(try JSKeychain().using(store).listAll().isEmpty)
    }
}
