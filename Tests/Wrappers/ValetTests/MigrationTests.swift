// SPDX-License-Identifier: Apache-2.0
// Migrations: everything arrives, or nothing changes and an error says why.

import Foundation
import KeychainEngine
import KeychainKit
import KeychainSecItem
import KeychainServices
import Testing
import VaultUnderTest

@testable import Valet

@Suite("Migrations of valets")
struct MigrationTests {
    private let pairs = ["a": "1", "b": "2", "c": "3", "d": "4", "e": "5"]

    private func fill(_ valet: Valet) throws {
        for (key, value) in pairs { try valet.setString(value, forKey: key) }
    }

    private func query(_ valet: Valet) -> [String: AnyHashable] {
        [kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: valet.service.description]
    }

    // MARK: - Queries

    static var invalidQueries: [[String: AnyHashable]] {
        let passwords: [String: AnyHashable] = [kSecClass as String: kSecClassGenericPassword]
        let additions: [[String: AnyHashable]] = [
            [kSecMatchLimit as String: kSecMatchLimitOne],
            [kSecReturnData as String: kCFBooleanTrue], [kSecReturnData as String: true],
            [kSecReturnRef as String: kCFBooleanTrue], [kSecReturnAttributes as String: kCFBooleanFalse],
            [kSecReturnPersistentRef as String: kCFBooleanFalse], [kSecReturnPersistentRef as String: false],
            [kSecAttrAccessControl as String: NSNull()], [kSecAttrAccessControl as String: "control"],
        ]
        return [
            [:], [kSecAttrService as String: "app"], [kSecClass as String: kSecClassInternetPassword],
        ] + additions.map { passwords.merging($0) { $1 } }
    }

    @Test(arguments: invalidQueries.indices)
    func query_thatCannotBeMigrated_isInvalid(number: Int) throws {
        let query = Self.invalidQueries[number]
        let valet = try valet(MemoryStore())
        for removes in [false, true] {
            #expect(
                migrationError { try valet.migrateObjects(matching: query, removeOnCompletion: removes) }
                    == .invalidQuery)
        }
        #expect(migrationError { try valet.migrateObjects(matching: query) { _ in nil } } == .invalidQuery)
    }

    @Test func failure_beforeAnInvalidQuery_isNotTakenForItsReason() throws {
        let valet = try valet(MemoryStore())
        for isTransformed in [false, true] {
            _ = failure { try valet.string(forKey: "absent") }
            #expect(valet.lastFailure?.reason == .itemNotFound)
            #expect(
                migrationError {
                    try isTransformed
                        ? valet.migrateObjects(matching: [:]) { _ in nil }
                        : valet.migrateObjects(matching: [:], removeOnCompletion: true)
                } == .invalidQuery)
            #expect(valet.lastFailure == nil)
        }
    }

    @Test func query_thatSaysTheSameAsTheMigration_isValid() throws {
        let memory = MemoryStore()
        let (old, new) = (try valet(memory, "old"), try valet(memory))
        try fill(old)
        let additions: [String: AnyHashable] = [
            kSecMatchLimit as String: kSecMatchLimitAll, kSecReturnAttributes as String: true,
            kSecReturnPersistentRef as String: true, kSecReturnData as String: false, kSecReturnRef as String: false,
        ]
        try new.migrateObjects(matching: query(old).merging(additions) { $1 }, removeOnCompletion: true)
        #expect(try content(new) == pairs)
        #expect(try content(old) == [:])
    }

    @Test(arguments: StoreKind.everywhere)
    func query_thatMatchesNothing_isItemNotFound(kind: StoreKind) throws {
        let store = try kind.empty()
        let (old, new) = (try valet(store, "old"), try valet(store))
        for removes in [false, true] {
            #expect(
                keychainError { try new.migrateObjects(matching: query(old), removeOnCompletion: removes) }
                    == .itemNotFound)
            #expect(keychainError { try new.migrateObjects(from: old, removeOnCompletion: removes) } == .itemNotFound)
        }
    }

    // MARK: - Everything

    @Test(arguments: StoreKind.everywhere, [false, true])
    func migration_ofSeveralValues_migratesAll(kind: StoreKind, removes: Bool) throws {
        let store = try kind.empty()
        let (old, new) = (try valet(store, "old", .afterFirstUnlock), try valet(store))
        try fill(old)
        #expect(old.canAccessKeychain() && new.canAccessKeychain())
        try new.migrateObjects(matching: query(old), removeOnCompletion: removes)
        #expect(try content(new) == pairs)
        #expect(try content(old) == (removes ? [:] : pairs))
        let left = try SecretStore(service: old.service.description, store: store).items().count
        #expect(left == (removes ? 0 : pairs.count + 1))
    }

    @Test(arguments: StoreKind.everywhere, [false, true])
    func migration_fromAnotherKindOfValet_migratesAll(kind: StoreKind, removes: Bool) throws {
        let store = try kind.empty()
        let new = try valet(store)
        let old = try Valet.iCloudSharedGroupValet(with: .named("old"), accessibility: .whenUnlocked).using(store)
        try fill(old)
        try new.migrateObjects(from: old, removeOnCompletion: removes)
        #expect(try content(new) == pairs)
        #expect(try content(old) == (removes ? [:] : pairs))
    }

    @Test(arguments: [false, true])
    func migration_fromAValetOverAnotherStore_migratesAll(removes: Bool) throws {
        let (old, new) = (try valet(MemoryStore(), "old"), try valet(MemoryStore()))
        try fill(old)
        try new.migrateObjects(from: old, removeOnCompletion: removes)
        #expect(try content(new) == pairs)
        #expect(try content(old) == (removes ? [:] : pairs))
    }

    @Test func values_thatAreTransformed_arriveTransformed() throws {
        let memory = MemoryStore()
        let (old, new) = (try valet(memory, "old"), try valet(memory))
        try fill(old)
        try new.migrateObjects(from: old) { pair in
            guard let key = pair.key as? String, key != "a" else { return nil }
            return MigratableKeyValuePair(key: key.uppercased(), value: pair.value + Data("!".utf8))
        }
        #expect(try content(new) == ["B": "2!", "C": "3!", "D": "4!", "E": "5!"])
        #expect(try content(old) == pairs)
    }

    @Test func itemWithoutAValue_isLeftWhereItIs() throws {
        let memory = MemoryStore()
        let (old, new) = (try valet(memory, "old"), try valet(memory))
        try fill(old)
        var bare = Query(.genericPassword, [.service: .string(old.service.description), .account: .string("bare")])
        bare.returns = []
        _ = try Engine(store: memory).add(bare, caller: .unrestricted)
        try new.migrateObjects(from: old, removeOnCompletion: true)
        #expect(try content(new) == pairs)
        #expect(try old.allKeys() == ["bare"])
    }

    // MARK: - Or nothing

    /// Runs a migration that has to fail, and checks that nothing has changed.
    private func failing(
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
        _ = try Engine(store: memory).add(item, caller: .unrestricted)
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
            let store = FailingStore(memory, hasTransactions: hasTransactions)
            let (old, new) = (try valet(store, "old"), try valet(store))
            if hasTransactions { store.failsWrites = true } else { store.room = 3 }
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

    @Test func value_thatIsChangedDuringTheMigration_arrivesAsItIsNow() throws {
        let memory = MemoryStore()
        let store = FailingStore(memory)
        let (old, new, others) = (try valet(store, "old"), try valet(store), try valet(memory, "old"))
        try fill(old)
        store.interfereOnce {
            do { try others.setString("newer", forKey: "c") } catch { Issue.record(error) }
        }
        try new.migrateObjects(from: old, removeOnCompletion: true)
        #expect(try content(new) == pairs.merging(["c": "newer"]) { $1 })
        #expect(try content(old) == [:])
    }

    @Test func removal_ofAnItemWhoseServiceIsNoText_failsBeforeAnythingHasChanged() throws {
        let memory = MemoryStore()
        let new = try valet(memory)
        var item = Query(.genericPassword, [.service: .data(Data([0xFF])), .account: .string("key")])
        item.value = Data("1".utf8)
        _ = try Engine(store: memory).add(item, caller: .unrestricted)
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
        let store = FailingStore(memory, hasTransactions: false)
        let (old, new) = (try valet(store, "old"), try valet(store))
        try fill(old)
        try new.migrateObjects(from: old, removeOnCompletion: removes)
        #expect(try content(new) == pairs)
        #expect(try content(old) == (removes ? [:] : pairs))
    }

    @Test(arguments: [true, false])
    func removal_thatFails_leavesEverythingWhereItWas(hasTransactions: Bool) throws {
        let oldStore = FailingStore(MemoryStore(), hasTransactions: hasTransactions)
        let (old, new) = (try valet(oldStore, "old"), try valet(MemoryStore()))
        try fill(old)
        try new.setString("mine", forKey: "other")
        if hasTransactions { oldStore.failsWrites = true } else { oldStore.removals = 0 }
        let error = try failing(old, new) {
            defer { #expect(new.lastFailure?.reason == (hasTransactions ? .diskFull : .readOnly)) }
            try new.migrateObjects(from: old, removeOnCompletion: true)
        }
        #expect(error as? Valet.MigrationError == .removalFailed)
    }

    // MARK: - Another accessibility

    @Test(arguments: StoreKind.everywhere)
    func accessibility_thatHasChanged_findsItsValuesAgain(kind: StoreKind) throws {
        let store = try kind.empty(passphrase: passphrase)
        for (old, new) in [
            (try valet(store, "app", .whenUnlocked), try valet(store, "app", .afterFirstUnlock)),
            (
                try Valet.sharedGroupValet(with: .named("app"), accessibility: .whenUnlocked).using(store),
                try Valet.sharedGroupValet(with: .named("app"), accessibility: .afterFirstUnlock).using(store)
            ),
            (
                try Valet.iCloudValet(with: .named("app"), accessibility: .whenUnlocked).using(store),
                try Valet.iCloudValet(with: .named("app"), accessibility: .afterFirstUnlock).using(store)
            ),
        ] {
            try fill(old)
            #expect(try new.allKeys() == [], "another accessibility is another store")
            #expect(try new.migrateObjectsFromOtherAccessibilities(removeOnCompletion: true) == 5)
            #expect(try content(new) == pairs)
            #expect(try content(old) == [:])
            #expect(try new.migrateObjectsFromOtherAccessibilities(removeOnCompletion: true) == 0)
            let items = try SecretStore(
                service: new.service.description, synchronizable: new.configuration.isSynchronizable, store: store
            ).items()
            #expect(Set(items.map(\.accessibility)) == [.afterFirstUnlock])
        }
    }

    @Test func accessibilities_withOneKeyInTwo_changeNothing() throws {
        let memory = MemoryStore()
        let (first, second) = (try valet(memory), try valet(memory, "app", .whenUnlockedThisDeviceOnly))
        try first.setString("1", forKey: "key")
        try second.setString("2", forKey: "key")
        let new = try valet(memory, "app", .afterFirstUnlock)
        let error = try failing(first, second) {
            try new.migrateObjectsFromOtherAccessibilities(removeOnCompletion: true)
        }
        #expect(error as? Valet.MigrationError == .duplicateKeyToMigrate)
        #expect(try new.allKeys() == [])
    }

    @Test(arguments: [KeychainKit.Accessibility.always, .alwaysThisDeviceOnly])
    func values_ofAValetThatWasAlwaysAccessible_areMigrated(accessibility: KeychainKit.Accessibility) throws {
        let isBound = accessibility == .alwaysThisDeviceOnly
        let memory = MemoryStore()
        let valet = try valet(memory)
        let service = valet.service.description(isBound ? "AccessibleAlwaysThisDeviceOnly" : "AccessibleAlways")
        try SecretStore(service: service, accessibility: accessibility, store: memory).save("1", for: "key")
        let migrate =
            isBound
            ? valet.migrateObjectsFromAlwaysAccessibleThisDeviceOnlyValet
            : valet.migrateObjectsFromAlwaysAccessibleValet
        try migrate(true)
        #expect(try content(valet) == ["key": "1"])
        #expect(keychainError { try migrate(true) } == .itemNotFound)
    }

    @Test func values_thatWereAlwaysAccessibleUnderAnExplicitService_getTheAccessibilityInPlace() throws {
        let memory = MemoryStore()
        let secrets = SecretStore(service: "com.example.explicit", accessibility: .always, store: memory)
        try secrets.save("1", for: "key")
        let valet = try Valet.valet(withExplicitlySet: .named("com.example.explicit"), accessibility: .whenUnlocked)
            .using(memory)
        try valet.migrateObjectsFromAlwaysAccessibleValet(removeOnCompletion: true)
        #expect(try content(valet) == ["key": "1"])
        #expect(try secrets.item("key")?.accessibility == .whenUnlocked)
    }

    @Test func migration_throughKeychainServices_findsWhatProgramsStoredThere() throws {
        let memory = MemoryStore()
        let functions = try SecItemFunctions.over(memory, caller: nil)
        let item: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "com.example.old",
            kSecAttrAccount as String: "token", kSecValueData as String: Data("s3cret".utf8),
        ]
        #expect(functions.add(item as CFDictionary, nil) == errSecSuccess)
        let valet = try valet(memory)
        let query: [String: AnyHashable] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "com.example.old",
        ]
        try valet.migrateObjects(matching: query, removeOnCompletion: true)
        #expect(try content(valet) == ["token": "s3cret"])
        #expect(functions.copyMatching(item as CFDictionary, nil) == errSecItemNotFound)
    }
}
