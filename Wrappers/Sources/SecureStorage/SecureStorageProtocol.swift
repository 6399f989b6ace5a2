// SPDX-License-Identifier: Apache-2.0
// What code that keeps secrets by key asks for, whatever keeps them.

/// Keeps secrets by key: the contract that features are written against, so that tests can hand them a mock.
///
/// ```swift
/// func signOut(_ storage: any SecureStorageProtocol) async throws {
///     try await storage.delete(for: "authToken")
/// }
/// ```
public protocol SecureStorageProtocol: Sendable {
    /// Saves a value under a key, in the place of the one that is there.
    func save<T: Codable & Sendable>(_ value: T, for key: String) async throws

    /// Reads the value of a key; `nil` only if there is none.
    func load<T: Codable & Sendable>(for key: String) async throws -> T?

    /// Removes the value of a key; none is no error.
    func delete(for key: String) async throws

    /// Whether a key is known to have a value.
    func exists(for key: String) -> Bool

    /// Reads a value that may have been saved as an older type, and then saves it as the new one.
    func load<T: Codable & Sendable, Old: Codable & Sendable>(
        for key: String, migratingFrom old: Old.Type, _ convert: @Sendable (Old) throws -> T
    ) async throws -> T?
}

extension SecureStorageProtocol {
    /// Reads a value that may have been saved as an older type, and then saves it as the new one.
    ///
    /// For storages that have no better way; between reading and saving, others may save.
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

    /// Reads a value that has to be there.
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
