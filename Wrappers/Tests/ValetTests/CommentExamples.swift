// SPDX-License-Identifier: Apache-2.0
// The examples of the comments and the article of Valet, word for word: each ends where the expectations begin.

import Foundation
@_spi(Wrappers) import KeychainServices
import Testing
import Valet

import class KeychainKit.MemoryStore

@Suite("Examples of the comments on valets", .serialized)
struct CommentExamples {
    private let identifier: Identifier
    private let group: SharedGroupIdentifier
    private let valet: Valet
    private let old: Valet
    private let secureValet: SecureEnclaveValet
    private let singlePromptValet: SinglePromptSecureEnclaveValet

    init() throws {
        let memory = MemoryStore(passphrase: "p")
        identifier = try #require(Identifier(nonEmpty: "com.example.comments"))
        group = try #require(SharedGroupIdentifier(appIDPrefix: "AB12CDE345", nonEmptyGroup: "com.example.comments"))
        valet = Valet.valet(with: identifier, accessibility: .whenUnlocked).using(memory)
        old = Valet.valet(withExplicitlySet: identifier, accessibility: .whenUnlocked).using(memory)
        secureValet = SecureEnclaveValet.valet(with: identifier, accessControl: .userPresence).using(memory)
        singlePromptValet = SinglePromptSecureEnclaveValet.valet(with: identifier, accessControl: .userPresence)
            .using(memory)
    }

    private func askToUnlock() { Issue.record("The keychain is open.") }
    private func askForPassphrase() { Issue.record("There is a passphrase.") }
    private func signIn() {}

    // MARK: - Names

    @Test func names_inTheirExamples_areNotEmpty() {
        let identifier = Identifier(nonEmpty: "com.example.app")
        #expect(identifier?.description == "com.example.app")
        let group = SharedGroupIdentifier(appIDPrefix: "AB12CDE345", nonEmptyGroup: "com.example.shared")
        #expect(group?.description == "AB12CDE345.com.example.shared")
        let names = Accessibility.allCases.map(\.description)
        #expect(names.count == 5)
        let accessibility = CloudAccessibility.whenUnlocked.accessibility
        #expect(accessibility == .whenUnlocked)
        let control = SecureEnclaveAccessControl.userPresence
        #expect(control.rawValue == 1)
        let pair = MigratableKeyValuePair(key: "token", value: "s3cret")
        #expect(pair.value == Data("s3cret".utf8))
    }

    // MARK: - Valets

    @Test func valet_inItsExample_readsWhatItStores() throws {
        func run() throws {
            guard let identifier = Identifier(nonEmpty: "com.example.app") else { return }
            let valet = Valet.valet(with: identifier, accessibility: .whenUnlocked)
            try valet.setString("s3cret", forKey: "token")
            let token = try valet.string(forKey: "token")
            #expect(token == "s3cret")
            try valet.removeAllObjects()
        }
        try run()
    }

    @Test func error_inItsExample_isAbsence() throws {
        var token: String? = "old"
        do {
            token = try valet.string(forKey: "token")
        } catch KeychainError.itemNotFound {
            token = nil
        }
        #expect(token == nil)
        let isLocked = valet.lastFailure?.reason == .locked
        #expect(!isLocked)
        let tested = valet.using(MemoryStore())
        #expect(tested != valet)
    }

    @Test func values_inTheirExamples_areStoredAndRemoved() throws {
        func check() {
            guard valet.canAccessKeychain() else { return askToUnlock() }
        }
        check()
        if try !valet.containsObject(forKey: "token") { signIn() }
        try valet.setObject(Data([1, 2, 3]), forKey: "key")
        let key = try valet.object(forKey: "key")
        #expect(key.count == 3)
        try valet.setString("s3cret", forKey: "token")
        let token = try valet.string(forKey: "token")
        #expect(token == "s3cret")
        let keys = try valet.allKeys()
        #expect(keys == ["key", "token"])
        try valet.removeObject(forKey: "token")
        #expect(try valet.allKeys() == ["key"])
        try valet.removeAllObjects()
        #expect(try valet.allKeys() == [])
    }

    @Test func factories_inTheirExamples_makeValets() {
        func standard() -> Valet {
            let valet = Valet.valet(with: identifier, accessibility: .whenUnlocked)
            return valet
        }
        func synchronized() -> Valet {
            let valet = Valet.iCloudValet(with: identifier, accessibility: .whenUnlocked)
            return valet
        }
        func shared() -> Valet {
            let valet = Valet.sharedGroupValet(with: group, accessibility: .whenUnlocked)
            return valet
        }
        func sharedSynchronized() -> Valet {
            let valet = Valet.iCloudSharedGroupValet(with: group, accessibility: .whenUnlocked)
            return valet
        }
        func explicit() -> Valet {
            let valet = Valet.valet(withExplicitlySet: identifier, accessibility: .whenUnlocked)
            return valet
        }
        func explicitSynchronized() -> Valet {
            let valet = Valet.iCloudValet(withExplicitlySet: identifier, accessibility: .whenUnlocked)
            return valet
        }
        func explicitShared() -> Valet {
            let valet = Valet.sharedGroupValet(withExplicitlySet: group, accessibility: .whenUnlocked)
            return valet
        }
        func explicitSharedSynchronized() -> Valet {
            let valet = Valet.iCloudSharedGroupValet(withExplicitlySet: group, accessibility: .whenUnlocked)
            return valet
        }
        let valets = [
            standard(), synchronized(), shared(), sharedSynchronized(), explicit(), explicitSynchronized(),
            explicitShared(), explicitSharedSynchronized(),
        ]
        #expect(Set(valets.map { ObjectIdentifier($0) }).count == 8)
    }

    // MARK: - Migrations

    @Test func query_inItsExample_isMigrated() throws {
        let memory = MemoryStore()
        let valet = valet.using(memory)
        let source = try #require(Identifier(nonEmpty: "com.example.old"))
        try Valet.valet(withExplicitlySet: source, accessibility: .whenUnlocked).using(memory)
            .setString("s3cret", forKey: "token")
        let query: [String: AnyHashable] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "com.example.old",
        ]
        try valet.migrateObjects(matching: query, removeOnCompletion: true)
        #expect(try valet.string(forKey: "token") == "s3cret")
    }

    @Test func query_inItsTransformingExample_isCopied() throws {
        try old.setString("s3cret", forKey: "token")
        let query: [String: AnyHashable] = ["class": "genp", "svce": "com.example.comments"]
        try valet.migrateObjects(matching: query) { pair in
            guard let key = pair.key as? String else { return nil }
            return MigratableKeyValuePair(key: "old " + key, value: pair.value)
        }
        #expect(try valet.allKeys() == ["old token"])
    }

    @Test func valet_inTheMigrationExamples_givesItsValues() throws {
        try old.setString("s3cret", forKey: "token")
        try valet.migrateObjects(from: old) { pair in
            pair.key as? String == "token" ? MigratableKeyValuePair(key: "token", value: pair.value) : nil
        }
        #expect(try valet.allKeys() == ["token"])
        do {
            try valet.migrateObjects(from: old, removeOnCompletion: true)
        } catch MigrationError.keyToMigrateAlreadyExistsInValet {
            // The user has signed in here already: the new values stay.
        }
        #expect(try old.allKeys() == ["token"])
        try valet.removeAllObjects()
        try valet.migrateObjects(from: old, removeOnCompletion: true)
        #expect(try old.allKeys() == [])
    }

    @Test func accessibility_inItsExample_isChanged() throws {
        func change() throws {
            let valet = Valet.valet(with: identifier, accessibility: .afterFirstUnlock)  // was: .whenUnlocked
            try valet.migrateObjectsFromOtherAccessibilities(removeOnCompletion: true)
            #expect(try valet.string(forKey: "token") == "s3cret")
            try valet.removeAllObjects()
        }
        try Valet.valet(with: identifier, accessibility: .whenUnlocked).setString("s3cret", forKey: "token")
        try change()
    }

    @Test func values_thatWereAlwaysAccessibleInTheirExamples_areNotThere() {
        #expect(throws: KeychainError.itemNotFound) {
            try valet.migrateObjectsFromAlwaysAccessibleValet(removeOnCompletion: true)
        }
        #expect(throws: KeychainError.itemNotFound) {
            try valet.migrateObjectsFromAlwaysAccessibleThisDeviceOnlyValet(removeOnCompletion: true)
        }
    }
}
