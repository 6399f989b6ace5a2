// SPDX-License-Identifier: Apache-2.0
// Secrets by key, in memory, for tests.

@_spi(Wrappers) import KeychainKit
import Synchronization

/// Keeps secrets by key in memory, for tests: what ``KeychainSecureStorage`` does, without a keychain.
///
/// ```swift
/// let storage = MockSecureStorage()
/// try await storage.save("test-token", for: "authToken")
/// ```
///
/// Values go through the same JSON, so that a type that would not survive the keychain does not survive here. For a storage
/// that fails on demand give ``KeychainSecureStorage/using(_:accessGroups:context:)`` a `ScriptedStore` of KeychainTesting.
public final class MockSecureStorage: SecureStorageProtocol {
    private let current = Mutex(StoredValues.inMemory)

    public init() {}

    /// Forgets everything.
    public func clear() { current.withLock { $0 = .inMemory } }

    private var values: StoredValues { current.withLock { $0 } }

    public func save<T: Codable & Sendable>(_ value: T, for key: String) async throws {
        try await values.save(value, for: key)
    }

    public func load<T: Codable & Sendable>(for key: String) async throws -> T? {
        try await values.load(for: key)
    }

    public func delete(for key: String) async throws {
        try await values.delete(for: key)
    }

    public func exists(for key: String) -> Bool { values.exists(for: key) }

    public func load<T: Codable & Sendable, Old: Codable & Sendable>(
        for key: String, migratingFrom old: Old.Type, _ convert: @Sendable (Old) throws -> T
    ) async throws -> T? {
        try await values.load(for: key, migratingFrom: old, convert)
    }
}

extension StoredValues {
    fileprivate static var inMemory: StoredValues {
        StoredValues(SecretStore(service: "MockSecureStorage", store: MemoryStore()))
    }
}
