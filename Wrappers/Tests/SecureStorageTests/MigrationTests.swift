// SPDX-License-Identifier: Apache-2.0
// Values that were saved as an older type.

import Foundation
import KeychainEngine
import KeychainTesting
import SecureStorage
import Testing
import WrapperStores

@Suite("Migration in a secure storage")
struct MigrationTests {
    private func migrated(_ storage: any SecureStorageProtocol) async throws -> CredentialsV2? {
        try await storage.load(for: "credentials", migratingFrom: CredentialsV1.self) {
            CredentialsV2(from: $0)
        }
    }

    /// The keychain's own, the mock, and one that knows nothing of migrations.
    enum Kind: CaseIterable, Sendable {
        case memory, vault, mock, foreign

        func empty() throws -> any SecureStorageProtocol {
            switch self {
            case .memory: KeychainSecureStorage(service: "app").using(MemoryStore())
            case .vault: KeychainSecureStorage(service: "app").using(try StoreKind.vault.empty())
            case .mock: MockSecureStorage()
            case .foreign: ForeignStorage(mock: MockSecureStorage())
            }
        }
    }

    struct ForeignStorage: SecureStorageProtocol {
        let mock: MockSecureStorage

        func save<T: Codable & Sendable>(_ value: T, for key: String) async throws {
            try await mock.save(value, for: key)
        }
        func load<T: Codable & Sendable>(for key: String) async throws -> T? { try await mock.load(for: key) }
        func delete(for key: String) async throws { try await mock.delete(for: key) }
        func exists(for key: String) -> Bool { mock.exists(for: key) }
    }

    @Test(arguments: Kind.allCases)
    func oldValue_loaded_isSavedAsTheNewType(kind: Kind) async throws {
        let storage = try kind.empty()
        try await storage.save(CredentialsV1(token: "t0ken"), for: "credentials")
        #expect(try await migrated(storage) == CredentialsV2(tokens: ["t0ken"]))
        let stored: CredentialsV2? = try await storage.load(for: "credentials")
        #expect(stored == CredentialsV2(tokens: ["t0ken"]))
        #expect(try await migrated(storage) == CredentialsV2(tokens: ["t0ken"]))
    }

    @Test(arguments: Kind.allCases)
    func noValue_loaded_isNil(kind: Kind) async throws {
        #expect(try await migrated(try kind.empty()) == nil)
    }

    @Test(arguments: Kind.allCases)
    func valueOfNeitherType_loaded_isAnErrorAndStays(kind: Kind) async throws {
        let storage = try kind.empty()
        try await storage.save(42, for: "credentials")
        await #expect { _ = try await migrated(storage) } throws: { error in
            if case SecureStorageError.decodingFailed = error { true } else { false }
        }
        #expect(try await storage.load(for: "credentials") == 42)
    }

    @Test(arguments: Kind.allCases)
    func conversion_thatThrows_changesNothing(kind: Kind) async throws {
        struct TooOld: Error {}
        let storage = try kind.empty()
        try await storage.save(CredentialsV1(token: "t0ken"), for: "credentials")
        await #expect(throws: TooOld.self) {
            let _: CredentialsV2? = try await storage.load(for: "credentials", migratingFrom: CredentialsV1.self) { _ in
                throw TooOld()
            }
        }
        let old: CredentialsV1? = try await storage.load(for: "credentials")
        #expect(old?.token == "t0ken")
    }

    /// It is not taken for a failure of the storage.
    @Test func conversion_thatThrowsAnErrorOfTheKeychain_throwsIt() async throws {
        let storage = KeychainSecureStorage(service: "app").using(MemoryStore())
        try await storage.save(CredentialsV1(token: "t0ken"), for: "credentials")
        await #expect(throws: KeychainError(.locked, "another item")) {
            let _: CredentialsV2? = try await storage.load(for: "credentials", migratingFrom: CredentialsV1.self) { _ in
                throw KeychainError(.locked, "another item")
            }
        }
        #expect(storage.lastFailure == nil)
    }

    @Test func conversion_thatThrows_endsAnEarlierFailure() async throws {
        struct TooOld: Error {}
        let store = try failing(.busy)
        let storage = KeychainSecureStorage(service: "app").using(store)
        #expect(!storage.exists(for: "credentials") && storage.lastFailure?.reason == .busy)
        store.reset()
        await #expect(throws: TooOld.self) {
            let _: CredentialsV2? = try await storage.load(for: "credentials", migratingFrom: CredentialsV1.self) { _ in
                throw TooOld()
            }
        }
        #expect(storage.lastFailure == nil)
    }

    /// With `try?`, as in the guide, it would look like no value at all.
    @Test(arguments: [ScriptedStore.Fault.locked, .corruptItem, .busy])
    func failedReading_isAnErrorAndNotNoValue(fault: ScriptedStore.Fault) async throws {
        let storage = KeychainSecureStorage(service: "app").using(try failing(fault))
        await #expect { _ = try await migrated(storage) } throws: { error in
            if case SecureStorageError.loadFailed = error { true } else { false }
        }
    }

    @Test func failedSavingOfTheNewType_isAnErrorAndTheOldValueStays() async throws {
        let store = ScriptedStore()
        let storage = KeychainSecureStorage(service: "app").using(store)
        try await storage.save(CredentialsV1(token: "t0ken"), for: "credentials")
        store.fail(.full, .every, on: [.update])
        await #expect(throws: SecureStorageError.self) { _ = try await migrated(storage) }
        #expect(storage.lastFailure?.reason == .diskFull)
        store.reset()
        #expect(try await migrated(storage) == CredentialsV2(tokens: ["t0ken"]))
    }
}
