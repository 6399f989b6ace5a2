// SPDX-License-Identifier: Apache-2.0
// Migrations between accessibilities, and from what other programs stored.

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
        #expect(try secrets.item(for: "key")?.accessibility == .whenUnlocked)
    }

    @Test func migration_throughKeychainServices_findsWhatProgramsStoredThere() throws {
        let memory = MemoryStore()
        let functions = try SecItemFunctions.over(memory, accessGroups: nil)
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
