// SPDX-License-Identifier: Apache-2.0
// Items that take part in synchronization and items that do not, under one name.

import Foundation
import JSKeychain
import KeychainEngine
@_spi(Wrappers) import KeychainKit
import Synchronization
import Testing
import WrapperStores

@Suite("Synchronization")
struct KindTests {
    private func keychains(_ store: any ItemStore) -> (local: JSKeychain, synced: JSKeychain) {
        let configuration = JSKeychainConfiguration(syncToICloud: true)
        return (JSKeychain().using(store), JSKeychain(configuration: configuration).using(store))
    }

    /// Which items named `alice` there are: `synced`, `local`.
    private func kinds(_ store: any ItemStore) throws -> [String] {
        try [("local", false), ("synced", true)].filter {
            try store.secrets(synchronizable: $0.1).contains(for: "alice")
        }.map(\.0)
    }

    @Test(
        arguments: StoreKind.everywhere,
        [
            (JSKeychainAccessibility.whenUnlocked, "synced"), (.afterFirstUnlock, "synced"),
            (.whenPasscodeSet, "local"), (.whenUnlockedThisDeviceOnly, "local"),
            (.afterFirstUnlockThisDeviceOnly, "local"), (.whenPasscodeSetThisDeviceOnly, "local"),
        ])
    func newItem_isSyncedIfItsClassAllowsIt(kind: StoreKind, facts: (JSKeychainAccessibility, String)) throws {
        let store = try kind.empty(passphrase: "p")
        let keychains = keychains(store)
        try keychains.synced.save("1", facts.0)
        #expect(try kinds(store) == [facts.1])
        try keychains.synced.deleteAll()
        try keychains.local.save("1", facts.0)
        #expect(try kinds(store) == ["local"])
    }

    @Test(arguments: StoreKind.everywhere, [true, false])
    func itemOfEitherKind_isFoundByBothKeychains(kind: StoreKind, isSynced: Bool) async throws {
        let store = try kind.empty()
        let keychains = keychains(store)
        let (own, other) = isSynced ? (keychains.synced, keychains.local) : (keychains.local, keychains.synced)
        try await own.save("1", service: "app", account: "alice")
        let value: String = try await other.read(service: "app", account: "alice")
        #expect(value == "1")
        #expect(await other.exists(service: "app", account: "alice"))
        #expect(try await other.listAll(service: "app").map(\.account) == ["alice"])
        try await other.delete(service: "app", account: "alice")
        #expect(await !own.exists(service: "app", account: "alice"))
        try await own.save("1", service: "app", account: "alice")
        try await other.deleteAllWithoutBlocking(service: "app")
        #expect(try await own.listAll().isEmpty)
    }

    @Test(arguments: StoreKind.everywhere)
    func localItem_savedWithSync_staysLocal(kind: StoreKind) throws {
        let store = try kind.empty()
        let keychains = keychains(store)
        try keychains.local.save("1")
        try keychains.synced.save("2", .afterFirstUnlock)
        #expect(try kinds(store) == ["local"])
        #expect(try keychains.local.value() == "2")
        #expect(try store.secrets().item(for: "alice")?.accessibility == .afterFirstUnlock)
    }

    @Test(arguments: StoreKind.everywhere)
    func localItem_deletedAndSavedAgain_isSynced(kind: StoreKind) throws {
        let store = try kind.empty()
        let keychains = keychains(store)
        try keychains.local.save("1")
        try keychains.synced.delete(service: "app", account: "alice")
        try keychains.synced.save("2")
        #expect(try kinds(store) == ["synced"])
    }

    @Test(arguments: StoreKind.everywhere)
    func syncedItem_savedWithoutSync_isChangedInPlace(kind: StoreKind) throws {
        let store = try kind.empty()
        let keychains = keychains(store)
        try keychains.synced.save("1")
        try keychains.local.save("2")
        #expect(try kinds(store) == ["synced"])
        #expect(try keychains.synced.value() == "2")
    }

    @Test(arguments: StoreKind.everywhere)
    func syncedItem_savedForThisDeviceOnly_becomesLocal(kind: StoreKind) throws {
        let store = try kind.empty()
        let keychains = keychains(store)
        try keychains.synced.save("1")
        try keychains.synced.save("2", .whenUnlockedThisDeviceOnly)
        #expect(try kinds(store) == ["local"])
        #expect(try keychains.synced.value() == "2")
    }

    /// Such items cannot be synchronized, on Apple platforms either.
    @Test(arguments: StoreKind.everywhere)
    func syncedItem_savedWithBiometry_becomesLocal(kind: StoreKind) throws {
        let store = try kind.empty(passphrase: "p")
        let keychains = keychains(store)
        try keychains.synced.save("1")
        try keychains.synced.save("2", .whenUnlocked, JSBiometricOptions(required: true))
        #expect(try kinds(store) == ["local"])
    }

    @Test(arguments: StoreKind.everywhere)
    func itemsOfBothKinds_becomeOneWhenSaved(kind: StoreKind) throws {
        let store = try kind.empty()
        try store.secrets().save(#""local""#, for: "alice")
        try store.secrets(synchronizable: true).save(#""synced""#, for: "alice")
        let keychains = keychains(store)
        #expect(try keychains.local.value() == "local" && keychains.synced.value() == "synced")
        try keychains.synced.save("1")
        #expect(try kinds(store) == ["synced"])
    }

    @Test(arguments: StoreKind.everywhere)
    func item_ofAnotherAccessGroup_staysWhenAnItemBecomesLocal(kind: StoreKind) throws {
        let store = try kind.empty()
        let group = JSKeychainConfiguration(accessGroup: "shared", syncToICloud: true)
        try JSKeychain(configuration: group).using(store).save("theirs")
        try store.secrets(accessGroup: "default").save(#""mine""#, for: "alice")
        try keychains(store).local.save("2", .whenUnlockedThisDeviceOnly)
        #expect(try JSKeychain(configuration: group).using(store).value() == "theirs")
    }

    @Test(arguments: StoreKind.everywhere)
    func saving_byManyThreadsOfBothKinds_leavesOneItem(kind: StoreKind) throws {
        let store = try kind.empty()
        let keychains = keychains(store)
        let failures = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: 40) { number in
            let keychain = number % 2 == 0 ? keychains.local : keychains.synced
            do { try keychain.save("\(number)") } catch { failures.withLock { $0 += 1 } }
        }
        #expect(try failures.withLock { $0 } == 0 && kinds(store).count == 1)
    }
}
