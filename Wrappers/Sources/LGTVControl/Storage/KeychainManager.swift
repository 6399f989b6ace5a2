// SPDX-License-Identifier: Apache-2.0
// Codable values in the keychain, by service and account.

import Foundation
@_spi(Wrappers) public import KeychainKit

/// Keeps `Codable` values in the keychain, as JSON.
///
/// ```swift
/// let keychain = KeychainManager()
/// try keychain.save(credentials, service: service, account: account)
/// let stored = try keychain.load(TVCredentials.self, service: service, account: account)
/// ```
///
/// New items go to the first access group of the program's entitlements; reading searches all of them. So an app and
/// its widget with the same list of groups share the items.
///
/// Does not protect against other programs of the same user, which can open the same keychain.
public final class KeychainManager: Sendable {
    private let keychain: ChosenKeychain
    private let failure = FailureRecord()

    /// A manager of the user's keychain.
    public init() { keychain = ChosenKeychain() }

    init(_ keychain: ChosenKeychain) { self.keychain = keychain }

    /// The same manager over another store, for tests without a keychain.
    ///
    /// ```swift
    /// let keychain = KeychainManager().using(MemoryStore())
    /// ```
    ///
    /// - Parameters:
    ///   - store: The store of the items.
    ///   - accessGroups: The access groups that may be used; `nil`: all.
    ///   - context: What the user has proven already, and how to ask them; `nil`: as the environment is configured.
    public func using(
        _ store: any ItemStore, accessGroups: AccessGroups? = nil, context: AuthenticationContext? = nil
    ) -> KeychainManager {
        KeychainManager(ChosenKeychain(store, accessGroups: accessGroups, context: context))
    }

    /// Why the last call failed, and what to do about it; `nil` if it succeeded. It reveals nothing about the value.
    public var lastFailure: KeychainKit.KeychainError? { failure.last }

    /// Saves a value in one transaction: adds an item, or changes the value of the existing one.
    ///
    /// ```swift
    /// try keychain.save(credentials, service: service, account: account)
    /// ```
    ///
    /// At every moment, also after a crash or an error, either the old or the new value is stored. The item keeps its
    /// accessibility, its access control and its label.
    ///
    /// - Throws: ``KeychainError``.
    public func save<T: Codable>(_ object: T, service: String, account: String) throws {
        try failure.reporting {
            try keychain.secrets(service: service).save(try JSON.encode(object), for: account)
        }
    }

    /// Reads a value; `nil` only if the keychain could be read and there is none.
    ///
    /// ```swift
    /// let stored = try keychain.load(TVCredentials.self, service: service, account: account)
    /// ```
    ///
    /// - Throws: ``KeychainError``; `encodingFailed` if the value is not of this type.
    public func load<T: Codable>(_ type: T.Type, service: String, account: String) throws -> T? {
        try failure.reporting {
            let bytes = try keychain.secrets(service: service).read(Data.self, for: account)
            return try bytes.map { try JSON.decode(type, from: $0) }
        }
    }

    /// Removes an item. It is not an error if there is none.
    ///
    /// ```swift
    /// try keychain.delete(service: service, account: account)
    /// ```
    ///
    /// - Throws: ``KeychainError``.
    public func delete(service: String, account: String) throws {
        try failure.reporting { _ = try keychain.secrets(service: service).remove(for: account) }
    }
}
