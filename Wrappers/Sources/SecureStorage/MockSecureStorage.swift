// SPDX-License-Identifier: Apache-2.0
// Secrets by key, in memory, for tests.

@_spi(Wrappers) import KeychainKit
import Synchronization

/// Keeps secrets by key in memory, for tests. It behaves like ``KeychainSecureStorage``, without a keychain.
///
/// ```swift
/// let storage = MockSecureStorage()
/// try await storage.save("test-token", for: "authToken")
/// ```
///
/// Values are encoded as the same JSON, so a type that the keychain cannot store cannot be stored here either. For a
/// storage that fails on demand, pass a `ScriptedStore` of KeychainTesting to
/// ``KeychainSecureStorage/using(_:accessGroups:context:)``.
public final class MockSecureStorage: SecureStorageProtocol {
    private let current = Mutex(StoredValues.inMemory)

    public init() {}

    /// Removes all values.
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
