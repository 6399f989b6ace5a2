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
/// Items go to the first access group of the program's entitlements, and are found in all of them, so that an app and its
/// widget with one list of groups share them.
///
/// Does not protect against other programs of the same user, which can open the same keychain.
public final class KeychainManager: Sendable {
    private let keychain: ChosenKeychain
    private let failure = FailureRecord()

    /// Over the keychain of the user.
    public init() { keychain = ChosenKeychain() }

    init(_ keychain: ChosenKeychain) { self.keychain = keychain }

    /// The same over another store, for tests without a keychain.
    ///
    /// ```swift
    /// let keychain = KeychainManager().using(MemoryStore())
    /// ```
    ///
    /// - Parameters:
    ///   - store: Where the items are kept.
    ///   - accessGroups: The access groups that may be used; `nil`: all.
    ///   - context: What the user has proven already, and who asks; `nil`: whatever the environment is configured for.
    public func using(
        _ store: any ItemStore, accessGroups: AccessGroups? = nil, context: AuthenticationContext? = nil
    ) -> KeychainManager {
        KeychainManager(ChosenKeychain(store, accessGroups: accessGroups, context: context))
    }

    /// Why the last call failed, and what to do about it; `nil` if it did not fail. It says nothing of the value.
    public var lastFailure: KeychainKit.KeychainError? { failure.last }

    /// Saves a value: adds an item, or changes the value of the one that is there, in one step.
    ///
    /// ```swift
    /// try keychain.save(credentials, service: service, account: account)
    /// ```
    ///
    /// At every moment, also after a crash or an error, the old value is there or the new one. When an item opens, what it
    /// asks of the user, its label: all stays as it is.
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
    /// - Throws: ``KeychainError``; `encodingFailed` if the value is not one of this type.
    public func load<T: Codable>(_ type: T.Type, service: String, account: String) throws -> T? {
        try failure.reporting {
            let bytes = try keychain.secrets(service: service).read(Data.self, for: account)
            return try bytes.map { try JSON.decode(type, from: $0) }
        }
    }

    /// Removes an item. That there is none is no error.
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
