// SPDX-License-Identifier: Apache-2.0
// Secrets by key, in the keychain.

import Foundation
@_spi(Wrappers) public import KeychainKit

/// Keeps secrets by key in the keychain, encoded as JSON.
///
/// ```swift
/// let storage = KeychainSecureStorage.shared
/// try await storage.save("s3cret", for: "authToken")
/// let token: String? = try await storage.load(for: "authToken")
/// ```
///
/// Each value is a generic password under the program's service. It can be read from the first unlock on
/// (`kSecAttrAccessibleAfterFirstUnlock`), also by background tasks. Saving changes it in place: at every moment, also
/// after a crash, either the old or the new value is stored.
///
/// Does not protect against other programs of the same user.
public final class KeychainSecureStorage: SecureStorageProtocol {
    /// The storage of this program, under its name.
    public static let shared = KeychainSecureStorage()

    private let service: String
    private let accessGroup: String?
    private let values: StoredValues

    /// - Parameters:
    ///   - service: The service of the items; `nil`: the bundle identifier, and where there is none, as on Linux, the
    ///     name of the executable's file.
    ///   - accessGroup: `nil`: the program's default group.
    public convenience init(service: String? = nil, accessGroup: String? = nil) {
        self.init(service ?? Self.programName, accessGroup, ChosenKeychain())
    }

    private init(_ service: String, _ accessGroup: String?, _ keychain: ChosenKeychain) {
        var secrets = keychain.secrets(service: service, accessGroup: accessGroup)
        secrets.accessibility = .afterFirstUnlock
        (self.service, self.accessGroup, values) = (service, accessGroup, StoredValues(secrets))
    }

    private static var programName: String {
        Bundle.main.bundleIdentifier ?? Bundle.main.executableURL?.lastPathComponent
            ?? ProcessInfo.processInfo.processName
    }

    /// The same storage over another store, for tests and for programs with several keychains.
    ///
    /// ```swift
    /// let storage = KeychainSecureStorage.shared.using(MemoryStore())
    /// ```
    ///
    /// - Parameters:
    ///   - accessGroups: The access groups that may be used; `nil`: all.
    ///   - context: How to ask the user; `nil`: as the environment is configured.
    public func using(
        _ store: any ItemStore, accessGroups: AccessGroups? = nil, context: AuthenticationContext? = nil
    ) -> KeychainSecureStorage {
        KeychainSecureStorage(service, accessGroup, ChosenKeychain(store, accessGroups: accessGroups, context: context))
    }

    /// Why the last call to the keychain failed, which the codes of ``SecureStorageError`` and the `false` of
    /// ``exists(for:)`` cannot express; `nil` if the call succeeded.
    public var lastFailure: KeychainKit.KeychainError? { values.lastFailure }

    /// Saves a value under a key, in place of an existing value.
    ///
    /// ```swift
    /// try await storage.save(Credentials(username: "alice", apiKey: "s3cret"), for: "userCredentials")
    /// ```
    ///
    /// - Parameter key: Compared byte by byte.
    /// - Throws: ``SecureStorageError/encodingFailed(_:)``, ``SecureStorageError/saveFailed(_:)``.
    public func save<T: Codable & Sendable>(_ value: T, for key: String) async throws {
        try await values.save(value, for: key)
    }

    /// Reads the value of a key; `nil` only if the keychain could be read and there is none.
    ///
    /// - Throws: ``SecureStorageError/decodingFailed(_:)`` if the stored value is of another type,
    ///   ``SecureStorageError/loadFailed(_:)``.
    public func load<T: Codable & Sendable>(for key: String) async throws -> T? {
        try await values.load(for: key)
    }

    /// Removes the value of a key. It is not an error if there is none.
    ///
    /// - Throws: ``SecureStorageError/deleteFailed(_:)``.
    public func delete(for key: String) async throws {
        try await values.delete(for: key)
    }

    /// Whether a key has a value. Also `false` if the keychain cannot be read; ``lastFailure`` then has the reason, and
    /// `load` throws. It takes as long as a read, on the caller's thread.
    public func exists(for key: String) -> Bool { values.exists(for: key) }

    /// Reads a value that may have been saved as an older type, and saves it as the new one. Other programs may do the
    /// same at the same time.
    ///
    /// ```swift
    /// let login = try await storage.load(for: "credentials", migratingFrom: CredentialsV1.self) {
    ///     CredentialsV2(from: $0)
    /// }
    /// ```
    ///
    /// - Parameter convert: It may run several times. If it throws, its error is rethrown and nothing is changed.
    /// - Returns: `nil` only if there is no value.
    /// - Throws: ``SecureStorageError/decodingFailed(_:)`` if the stored value is of neither type; it stays as it is.
    public func load<T: Codable & Sendable, Old: Codable & Sendable>(
        for key: String, migratingFrom old: Old.Type, _ convert: @Sendable (Old) throws -> T
    ) async throws -> T? {
        try await values.load(for: key, migratingFrom: old, convert)
    }
}
