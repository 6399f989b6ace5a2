// SPDX-License-Identifier: Apache-2.0
// Migrations: everything arrives, or nothing changes and an error says why.

import Foundation
import KeychainEngine
@_spi(Wrappers) import KeychainKit
@_spi(Wrappers) import KeychainSecItem
@_spi(Wrappers) import KeychainServices
import KeychainTesting
import Testing
import WrapperStores

@testable import Valet

@Suite("Migrations of valets")
struct MigrationTests {
    let pairs = ["a": "1", "b": "2", "c": "3", "d": "4", "e": "5"]

    func fill(_ valet: Valet) throws {
        for (key, value) in pairs { try valet.setString(value, forKey: key) }
    }

    func query(_ valet: Valet) -> [String: AnyHashable] {
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

    @Test func item_withoutAValue_isLeftWhereItIs() throws {
        let memory = MemoryStore()
        let (old, new) = (try valet(memory, "old"), try valet(memory))
        try fill(old)
        try memory.addItemWithoutValue(of: old, "bare")
        try new.migrateObjects(from: old, removeOnCompletion: true)
        #expect(try content(new) == pairs)
        #expect(try old.allKeys() == ["bare"])
    }
}
