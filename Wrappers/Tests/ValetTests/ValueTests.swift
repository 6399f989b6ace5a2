// SPDX-License-Identifier: Apache-2.0
// Values: what is stored is read again, by those for whom it is.

import Foundation
import KeychainEngine
@_spi(Wrappers) import KeychainKit
import KeychainTesting
@_spi(Wrappers) import KeychainVault
import Testing
import WrapperStores

@testable import Valet

@Suite("Values of valets")
struct ValueTests {
    @Test(arguments: StoreKind.everywhere)
    func value_thatIsStored_isReadByAllValetsOfItsName(kind: StoreKind) throws {
        let store = try kind.empty(passphrase: passphrase)
        for (number, valet) in try permutations(store).enumerated() {
            try valet.setString("secret \(number)", forKey: "key")
        }
        for (number, valet) in try permutations(store).enumerated() {
            #expect(try valet.string(forKey: "key") == "secret \(number)", "\(valet)")
            #expect(try valet.object(forKey: "key") == Data("secret \(number)".utf8))
        }
    }

    @Test(arguments: StoreKind.everywhere)
    func value_thatIsThere_isReplaced(kind: StoreKind) throws {
        let store = try kind.empty(passphrase: passphrase)
        for valet in try permutations(store) {
            try valet.setString("1", forKey: "key")
            try valet.setString("2", forKey: "key")
            #expect(try content(valet) == ["key": "2"])
        }
    }

    @Test(arguments: StoreKind.everywhere)
    func value_thatIsAbsent_isItemNotFound(kind: StoreKind) throws {
        for valet in try permutations(kind.empty(passphrase: passphrase)) {
            #expect(keychainError { try valet.string(forKey: "key") } == .itemNotFound)
            #expect(keychainError { try valet.object(forKey: "key") } == .itemNotFound)
            #expect(valet.lastFailure?.reason == .itemNotFound)
            #expect(try !valet.containsObject(forKey: "key"))
            #expect(valet.lastFailure == nil)
        }
    }

    @Test(arguments: StoreKind.everywhere)
    func keys_areThoseOfAllValues(kind: StoreKind) throws {
        for valet in try permutations(kind.empty(passphrase: passphrase)) {
            #expect(try valet.allKeys() == [])
            try valet.setString("1", forKey: "a")
            #expect(try valet.allKeys() == ["a"])
            try valet.setString("2", forKey: "b")
            #expect(try valet.allKeys() == ["a", "b"])
            try valet.removeAllObjects()
            #expect(try valet.allKeys() == [])
        }
    }

    @Test(arguments: StoreKind.everywhere)
    func canary_isNoKey(kind: StoreKind) throws {
        for valet in try permutations(kind.empty(passphrase: passphrase)) {
            #expect(valet.canAccessKeychain())
            #expect(valet.canAccessKeychain())
            #expect(try valet.allKeys() == [])
        }
    }

    @Test(arguments: StoreKind.everywhere)
    func value_thatIsRemoved_isAbsent(kind: StoreKind) throws {
        for valet in try permutations(kind.empty(passphrase: passphrase)) {
            try valet.removeObject(forKey: "key")
            try valet.setString("1", forKey: "key")
            try valet.removeObject(forKey: "key")
            #expect(try !valet.containsObject(forKey: "key"))
        }
    }

    @Test func value_ofOneValet_isNotThatOfAnother() throws {
        let store = MemoryStore()
        let stored = try valet(store)
        try stored.setString("1", forKey: "key")
        let others = [
            try valet(store, "other"), try valet(store, "app", .afterFirstUnlock),
            try Valet.iCloudValet(with: .named("app"), accessibility: .whenUnlocked).using(store),
            try Valet.sharedGroupValet(with: .named("app"), accessibility: .whenUnlocked).using(store),
        ]
        for other in others {
            #expect(keychainError { try other.string(forKey: "key") } == .itemNotFound, "\(other)")
            try other.removeObject(forKey: "key")
            try other.removeAllObjects()
        }
        #expect(try stored.string(forKey: "key") == "1")
    }

    @Test func accessibility_ofAnItemThatExists_isAppliedBySettingItsValue() throws {
        let store = MemoryStore()
        let identifier = try Valet.Identifier.named("com.example.service")
        try SecretStore(service: "com.example.service", accessibility: .whenUnlocked, store: store)
            .save("old", for: "key")
        try Valet.valet(withExplicitlySet: identifier, accessibility: .afterFirstUnlockThisDeviceOnly).using(store)
            .setString("new", forKey: "key")
        let item = try SecretStore(service: "com.example.service", store: store).item(for: "key")
        #expect(item?.accessibility == .afterFirstUnlockThisDeviceOnly)
    }

    /// What is stored outlives the program: another one opens the same files.
    @Test func valet_overAVaultOpenedAgain_hasItsValues() throws {
        let root = FileManager.default.temporaryDirectory.appending(path: "valet-" + UUID().uuidString).path()
        try FileManager.default.createDirectory(
            atPath: root, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: root) }
        func opened() throws -> Vault {
            .unshared(
                try VaultLocation(folder: root + "/vault", deviceKeyFile: root + "/key/device.key"), VaultSettings())
        }
        try valet(opened()).setString("1", forKey: "key")
        #expect(try valet(opened()).string(forKey: "key") == "1")
    }

    // MARK: - What cannot be stored

    @Test func key_thatIsEmpty_isRefused() throws {
        let valet = try valet(MemoryStore())
        #expect(keychainError { try valet.setString("1", forKey: "") } == .emptyKey)
        #expect(keychainError { try valet.setObject(Data([1]), forKey: "") } == .emptyKey)
        #expect(keychainError { try valet.string(forKey: "") } == .emptyKey)
        #expect(keychainError { try valet.object(forKey: "") } == .emptyKey)
        #expect(keychainError { try valet.containsObject(forKey: "") } == .emptyKey)
        #expect(keychainError { try valet.removeObject(forKey: "") } == .emptyKey)
    }

    @Test func value_thatIsEmpty_isRefusedAndLeavesTheOldOne() throws {
        let valet = try valet(MemoryStore())
        try valet.setString("1", forKey: "key")
        #expect(keychainError { try valet.setString("", forKey: "key") } == .emptyValue)
        #expect(keychainError { try valet.setObject(Data(), forKey: "key") } == .emptyValue)
        #expect(try valet.string(forKey: "key") == "1")
    }

    @Test func bytes_thatAreNoText_areItemNotFoundAsTextAndBytesAsBytes() throws {
        let valet = try valet(MemoryStore())
        try valet.setObject(Data([0xFF, 0xFE]), forKey: "key")
        #expect(keychainError { try valet.string(forKey: "key") } == .itemNotFound)
        #expect(valet.lastFailure?.reason == .typeMismatch)
        #expect(try valet.object(forKey: "key") == Data([0xFF, 0xFE]))
    }

    @Test(arguments: ["ключ", "🔑", "two\nlines", "KEY", "key", String(repeating: "k", count: 1000)])
    func key_ofAnyText_isKeptAsItIs(key: String) throws {
        let valet = try valet(MemoryStore())
        try valet.setString("1", forKey: key)
        #expect(try valet.allKeys() == [key])
        #expect(try valet.string(forKey: key) == "1")
    }

    @Test(arguments: StoreKind.everywhere)
    func value_ofTenThousandCharacters_isReadAgain(kind: StoreKind) throws {
        let valet = try valet(kind.empty())
        let text = String(repeating: "ü", count: 10_000)
        try valet.setString(text, forKey: "key")
        #expect(try valet.string(forKey: "key") == text)
    }

    // MARK: - Many at once

    @Test(arguments: StoreKind.everywhere)
    func valet_usedByManyThreadsAtOnce_losesNothing(kind: StoreKind) async throws {
        let valet = try valet(kind.empty())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...50 {
                group.addTask { try valet.setString("\(number)", forKey: "key \(number)") }
                group.addTask { try valet.setString("same", forKey: "key") }
                group.addTask { try valet.removeObject(forKey: "other key") }
            }
            try await group.waitForAll()
        }
        #expect(try valet.allKeys().count == 51)
    }

    /// What it costs beyond them `make bench` says.
    @Test func calls_comparedWithThoseOfKeychainKit_askTheStoreNoMore() throws {
        let (plain, wrapped) = (ScriptedStore(), ScriptedStore())
        let secrets = SecretStore(service: "plain", accessibility: .whenUnlocked, store: plain)
        let valet = try valet(wrapped)
        for number in 1...3 {
            try secrets.save("value \(number)", for: "key")
            try valet.setString("value \(number)", forKey: "key")
            #expect(try secrets.read(String.self, for: "key") == valet.string(forKey: "key"))
        }
        #expect(wrapped.calls.count <= plain.calls.count)
        #expect(!plain.calls.isEmpty)
    }
}
