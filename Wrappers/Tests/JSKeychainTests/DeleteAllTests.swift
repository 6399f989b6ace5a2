// SPDX-License-Identifier: Apache-2.0
// Removing all items at once, with and without waiting for it.

import JSKeychain
@_spi(Wrappers) import KeychainKit
import Testing
import WrapperStores

@Suite("Removing everything")
struct DeleteAllTests {
    @Test(arguments: StoreKind.everywhere)
    func deleteAll_removesTheServiceOrEverything(kind: StoreKind) throws {
        let keychain = try kind.keychain()
        for service in ["a", "b", "c"] { try keychain.save(service, service: service, account: "x") }
        try keychain.deleteAll(service: "a")
        #expect(try Set(keychain.listAll().map(\.service)) == ["b", "c"])
        try keychain.deleteAll()
        #expect(try keychain.listAll().isEmpty)
        try keychain.deleteAll()
    }

    @Test(arguments: StoreKind.everywhere)
    func deleteAll_withoutBlocking_removesTheServiceOrEverything(kind: StoreKind) async throws {
        let keychain = try kind.keychain()
        for service in ["a", "b", "c"] { try await keychain.save(service, service: service, account: "x") }
        try await keychain.deleteAllWithoutBlocking(service: "a")
        #expect(try await Set(keychain.listAll().map(\.service)) == ["b", "c"])
        try await keychain.deleteAllWithoutBlocking()
        #expect(try await keychain.listAll().isEmpty)
    }

    /// The original has no form to `await`. A call with `await` is in `logout_removesEverythingOfTheService`.
    @Test func deleteAll_inAnAsyncFunction_needsNoAwait() async throws {
        let keychain = JSKeychain().using(MemoryStore())
        try await keychain.save("1", service: "app", account: "alice")
        try keychain.deleteAll(service: "app")
        #expect(await !keychain.exists(service: "app", account: "alice"))
    }

    @Test func deleteAll_withoutAService_staysInTheGroupsOfTheProgram() throws {
        let store = MemoryStore()
        try JSKeychain(accessGroup: "theirs").using(store).save("1")
        let keychain = JSKeychain().using(store, accessGroups: AccessGroups(["mine"]))
        try keychain.save("2")
        try keychain.deleteAll()
        #expect(try JSKeychain().using(store).listAll().count == 1)
        #expect(try JSKeychain(accessGroup: "theirs").using(store).value() == "1")
    }
}
