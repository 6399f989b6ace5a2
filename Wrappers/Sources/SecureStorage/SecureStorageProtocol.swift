// SPDX-License-Identifier: Apache-2.0
// The interface of a storage of secrets by key.

/// A storage of secrets by key. Write features against this protocol, so that tests can pass a mock.
///
/// ```swift
/// func signOut(_ storage: any SecureStorageProtocol) async throws {
///     try await storage.delete(for: "authToken")
/// }
/// ```
public protocol SecureStorageProtocol: Sendable {
    /// Saves a value under a key, in place of an existing value.
    func save<T: Codable & Sendable>(_ value: T, for key: String) async throws

    /// Reads the value of a key; `nil` only if there is none.
    func load<T: Codable & Sendable>(for key: String) async throws -> T?

    /// Removes the value of a key. It is not an error if there is none.
    func delete(for key: String) async throws

    /// Whether a key has a value that can be read.
    func exists(for key: String) -> Bool

    /// Reads a value that may have been saved as an older type, and saves it as the new one.
    func load<T: Codable & Sendable, Old: Codable & Sendable>(
        for key: String, migratingFrom old: Old.Type, _ convert: @Sendable (Old) throws -> T
    ) async throws -> T?
}

extension SecureStorageProtocol {
    /// Reads a value that may have been saved as an older type, and saves it as the new one.
    ///
    /// For storages without an implementation of their own. Another program may save a value between the read and the
    /// save.
    public func load<T: Codable & Sendable, Old: Codable & Sendable>(
        for key: String, migratingFrom old: Old.Type, _ convert: @Sendable (Old) throws -> T
    ) async throws -> T? {
        do {
            return try await load(for: key)
        } catch SecureStorageError.decodingFailed {
            guard let value: Old = try await load(for: key) else { return nil }
            let migrated = try convert(value)
            try await save(migrated, for: key)
            return migrated
        }
    }

    /// Reads a value that must exist.
    ///
    /// ```swift
    /// let apiKey = try await storage.value(String.self, for: "apiKey")
    /// ```
    ///
    /// - Throws: ``SecureStorageError/notFound`` if there is none, and what `load` throws.
    public func value<T: Codable & Sendable>(_ type: T.Type = T.self, for key: String) async throws -> T {
        guard let value: T = try await load(for: key) else { throw SecureStorageError.notFound }
        return value
    }
}
