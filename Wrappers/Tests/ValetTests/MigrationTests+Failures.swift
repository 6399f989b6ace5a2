// SPDX-License-Identifier: Apache-2.0
// Migrations that fail: nothing changes and an error says why.

import Foundation
import KeychainEngine
@_spi(Wrappers) import KeychainKit
@_spi(Wrappers) import KeychainSecItem
@_spi(Wrappers) import KeychainServices
import KeychainTesting
import Testing
import WrapperStores

@testable import Valet

extension MigrationTests {
    /// Runs a migration that has to fail, and checks that nothing has changed.
    func failing(
        _ old: Valet, _ new: Valet, _ migrate: () throws -> Void
    ) throws -> any Error {
        let before = (try content(old), try content(new))
        let thrown = failure(migrate)
        let error = try #require(thrown)
        #expect(try content(old) == before.0)
        #expect(try content(new) == before.1)
        return error
    }

    @Test(arguments: StoreKind.everywhere, [false, true])
    func migration_ontoAKeyThatIsThere_changesNothing(kind: StoreKind, removes: Bool) throws {
        let store = try kind.empty()
        let (old, new) = (try valet(store, "old"), try valet(store))
        try fill(old)
        try new.setString("mine", forKey: "c")
        let error = try failing(old, new) { try new.migrateObjects(from: old, removeOnCompletion: removes) }
        #expect(error as? Valet.MigrationError == .keyToMigrateAlreadyExistsInValet)
    }

    @Test func migration_ofTwoValuesForOneKey_changesNothing() throws {
        let memory = MemoryStore()
        let (old, new) = (try valet(memory, "old"), try valet(memory))
        try old.setString("1", forKey: "key")
        try valet(memory, "older").setString("2", forKey: "key")
        let both: [String: AnyHashable] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "key",
        ]
        let error = try failing(old, new) { try new.migrateObjects(matching: both, removeOnCompletion: true) }
        #expect(error as? Valet.MigrationError == .duplicateKeyToMigrate)
    }

    @Test func migration_ofANameThatIsNoText_changesNothing() throws {
        let memory = MemoryStore()
        let (old, new) = (try valet(memory, "old"), try valet(memory))
        try fill(old)
        var item = Query(.genericPassword, [.service: .string(old.service.description), .account: .data(Data([0xFF]))])
        item.value = Data("6".utf8)
        _ = try Engine(store: memory).add(item, accessGroups: .unrestricted)
        let error = try #require(failure { try new.migrateObjects(from: old, removeOnCompletion: true) })
        #expect(error as? Valet.MigrationError == .keyToMigrateInvalid)
        #expect(try new.allKeys() == [])
        #expect(try old.allKeys() == Set(pairs.keys))
    }

    @Test func migration_ofAnEmptyValue_changesNothing() throws {
        let memory = MemoryStore()
        let (old, new) = (try valet(memory, "old"), try valet(memory))
        try fill(old)
        try SecretStore(service: old.service.description, store: memory).save(Data(), for: "empty")
        let error = try failing(old, new) { try new.migrateObjects(from: old, removeOnCompletion: true) }
        #expect(error as? Valet.MigrationError == .dataToMigrateInvalid)
    }

    @Test func transform_thatGivesAnEmptyKeyOrValue_changesNothing() throws {
        let memory = MemoryStore()
        let (old, new) = (try valet(memory, "old"), try valet(memory))
        try fill(old)
        let emptyKey = try failing(old, new) {
            try new.migrateObjects(from: old) { MigratableKeyValuePair(key: "", value: $0.value) }
        }
        #expect(emptyKey as? Valet.MigrationError == .keyToMigrateInvalid)
        let emptyValue = try failing(old, new) {
            try new.migrateObjects(from: old) { _ in MigratableKeyValuePair(key: "k", value: "") }
        }
        #expect(emptyValue as? Valet.MigrationError == .dataToMigrateInvalid)
        let twice = try failing(old, new) {
            try new.migrateObjects(from: old) { _ in MigratableKeyValuePair(key: "k", value: "v") }
        }
        #expect(twice as? Valet.MigrationError == .duplicateKeyToMigrate)
    }

    @Test func transform_thatThrows_changesNothingAndIsRethrown() throws {
        struct Refusal: Error, Equatable {}
        let memory = MemoryStore()
        let (old, new) = (try valet(memory, "old"), try valet(memory))
        try fill(old)
        let error = try failing(old, new) {
            try new.migrateObjects(from: old) { pair in
                guard pair.key as? String == "a" else { throw Refusal() }
                return MigratableKeyValuePair(key: "a", value: pair.value)
            }
        }
        #expect(error is Refusal)
    }

    @Test func migration_whoseDiskIsFullHalfWay_changesNothing() throws {
        for hasTransactions in [true, false] {
            let memory = MemoryStore()
            try fill(valet(memory, "old"))
            let store = ScriptedStore(over: memory, hasTransactions: hasTransactions)
            let (old, new) = (try valet(store, "old"), try valet(store))
            if hasTransactions {
                store.fillDisk()
            } else {
                store.fail(.full, from: 4, on: [.insert])
                store.fail(.full, .every, on: [.update])
            }
            let error = try failing(old, new) {
                defer { #expect(new.lastFailure?.reason == .diskFull) }
                try new.migrateObjects(from: old, removeOnCompletion: true)
            }
            #expect(error as? Valet.KeychainError == .couldNotAccessKeychain)
        }
    }

    @Test func migration_outOfALockedKeychain_isAFailureAndNotNoData() throws {
        let memory = MemoryStore()
        let (old, new) = (try valet(memory, "app", .whenUnlockedThisDeviceOnly), try valet(memory))
        try fill(old)
        memory.lockState = .locked
        #expect(
            keychainError { try new.migrateObjects(from: old, removeOnCompletion: true) } == .couldNotAccessKeychain)
        #expect(
            keychainError { try new.migrateObjectsFromOtherAccessibilities(removeOnCompletion: true) }
                == .couldNotAccessKeychain)
        memory.lockState = .unlocked
        #expect(try content(old) == pairs)
    }

    /// Nobody can be asked. That is not the lock, so unlocking would not help.
    @Test func migration_ofAnItemThatAsks_saysSo() throws {
        let memory = MemoryStore(passphrase: "p")
        try SecretStore(service: "foreign", accessControl: .userPresence, store: memory).save("s3cret", for: "a")
        let new = try valet(memory)
        let query: [String: AnyHashable] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "foreign",
        ]
        #expect(
            keychainError { try new.migrateObjects(matching: query, removeOnCompletion: true) }
                == .couldNotAccessKeychain)
        #expect(new.lastFailure?.reason == .interactionNotAllowed)
    }

    @Test func migration_ofAnItemInALockedKeychain_saysThatItIsLocked() throws {
        let memory = MemoryStore()
        let (old, new) = (try valet(memory, "app", .whenUnlockedThisDeviceOnly), try valet(memory))
        try fill(old)
        memory.lockState = .locked
        _ = keychainError { try new.migrateObjects(from: old, removeOnCompletion: true) }
        #expect(new.lastFailure?.reason == .locked)
    }

    @Test func value_thatIsChangedDuringTheMigration_arrivesAsItIsNow() throws {
        let memory = MemoryStore()
        let store = ScriptedStore(over: memory)
        let (old, new, others) = (try valet(store, "old"), try valet(store), try valet(memory, "old"))
        try fill(old)
        try store.interrupt {
            try new.migrateObjects(from: old, removeOnCompletion: true)
        } by: {
            try others.setString("newer", forKey: "c")
        }
        #expect(try content(new) == pairs.merging(["c": "newer"]) { $1 })
        #expect(try content(old) == [:])
    }

    @Test func removal_ofAnItemWhoseServiceIsNoText_failsBeforeAnythingHasChanged() throws {
        let memory = MemoryStore()
        let new = try valet(memory)
        try memory.addItemOfBinaryService(account: "key", value: "1")
        let query: [String: AnyHashable] = ["class": "genp", "acct": "key"]
        #expect(
            migrationError { try new.migrateObjects(matching: query, removeOnCompletion: true) } == .removalFailed)
        #expect(try new.allKeys() == [])
        try new.migrateObjects(matching: query, removeOnCompletion: false)
        #expect(try content(new) == ["key": "1"])
    }

    // MARK: - Without transactions

    @Test(arguments: [false, true])
    func migration_inAKeychainWithoutTransactions_migratesAll(removes: Bool) throws {
        let memory = MemoryStore()
        let store = ScriptedStore(over: memory, hasTransactions: false)
        let (old, new) = (try valet(store, "old"), try valet(store))
        try fill(old)
        try new.migrateObjects(from: old, removeOnCompletion: removes)
        #expect(try content(new) == pairs)
        #expect(try content(old) == (removes ? [:] : pairs))
    }

    @Test(arguments: [true, false])
    func removal_thatFails_leavesEverythingWhereItWas(hasTransactions: Bool) throws {
        let oldStore = ScriptedStore(over: MemoryStore(), hasTransactions: hasTransactions)
        let (old, new) = (try valet(oldStore, "old"), try valet(MemoryStore()))
        try fill(old)
        try new.setString("mine", forKey: "other")
        if hasTransactions { oldStore.fillDisk() } else { oldStore.fail(.readOnly, .every, on: [.delete]) }
        let error = try failing(old, new) {
            defer { #expect(new.lastFailure?.reason == (hasTransactions ? .diskFull : .readOnly)) }
            try new.migrateObjects(from: old, removeOnCompletion: true)
        }
        #expect(error as? Valet.MigrationError == .removalFailed)
    }
}
