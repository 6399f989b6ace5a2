// SPDX-License-Identifier: Apache-2.0
// Saving, reading and removing items, on the caller's thread.

import Foundation
@_spi(Wrappers) import KeychainKit

extension JSKeychain {
    /// Saves a value: makes an item, or changes the one that is there, in one transaction.
    ///
    /// ```swift
    /// try keychain.save(credentials, service: "com.example.app", account: "alice")
    /// ```
    ///
    /// Service and account are compared byte by byte, and accessibility and protection are applied to an item that is there.
    ///
    /// - Parameters:
    ///   - biometricOptions: What is asked of the user before the item opens. `nil`: nothing for a new item; one that is there
    ///     keeps what it has.
    /// - Throws: ``JSKeychainError/invalidData`` if the value cannot be encoded, else
    ///   ``JSKeychainError/unhandledError(status:)``: among others `errSecNotAvailable` where nothing can ask as wished, and
    ///   `errSecDuplicateItem` if the keychain has no access group and several have such an item.
    public func save<T: Codable>(
        _ item: T, service: String, account: String, accessibility: JSKeychainAccessibility = .whenUnlocked,
        biometricOptions: JSBiometricOptions? = nil
    ) throws {
        try reporting { () throws(KeychainError) in
            try secrets(service, accessibility, biometricOptions).save(bytes(of: item), for: account)
        }
    }

    /// Reads a value.
    ///
    /// ```swift
    /// let credentials: Credentials = try keychain.read(service: "com.example.app", account: "alice")
    /// ```
    ///
    /// - Parameters:
    ///   - biometricReason: What the user is told that they are asked for, if the item wants them; `nil` or empty: the usual.
    /// - Throws: ``JSKeychainError/itemNotFound`` only if the keychain could be read and has no such item,
    ///   ``JSKeychainError/invalidData`` if the item is damaged or of another type, else
    ///   ``JSKeychainError/unhandledError(status:)``: among others `errSecDuplicateItem` if the keychain has no access group and
    ///   several have such an item.
    public func read<T: Codable>(service: String, account: String, biometricReason: String? = nil) throws -> T {
        try reporting { () throws(KeychainError) in
            try value(of: try secrets(service, prompt: biometricReason).read(Data.self, for: account))
        }
    }

    /// Removes an item, also while it is locked, and asks nobody. That there is none is no error.
    ///
    /// ```swift
    /// try keychain.delete(service: "com.example.app", account: "alice")
    /// ```
    ///
    /// Without an access group it is removed from all groups that the program may use.
    ///
    /// - Throws: ``JSKeychainError``.
    public func delete(service: String, account: String) throws {
        try reporting { () throws(KeychainError) in _ = try secrets(service).remove(for: account) }
    }

    /// Whether there is an item. Nobody is asked for anything.
    ///
    /// ```swift
    /// if !keychain.exists(service: "com.example.app", account: "alice") { signIn() }
    /// ```
    ///
    /// - Returns: `false` also if that cannot be told, while the keychain is locked for instance; then ``lastFailure`` says why.
    public func exists(service: String, account: String) -> Bool {
        telling { () throws(KeychainError) in try secrets(service).contains(for: account) }
    }

    /// The items of a service, or of all services, by access group, account and service. Nobody is asked for anything.
    ///
    /// ```swift
    /// let accounts = try keychain.listAll(service: "com.example.app").map(\.account)
    /// ```
    ///
    /// Items are left out whose service or account is not text, as other programs may make them; on Apple platforms also
    /// those that ask for the user.
    ///
    /// - Throws: ``JSKeychainError``.
    public func listAll(service: String? = nil) throws -> [JSKeychainItem] {
        try reporting { () throws(KeychainError) in
            try keychain.catalog.listingEntries(.genericPassword, matching: filter(service))
                .compactMap(JSKeychainItem.init)
        }
    }

    /// Removes all items of a service, also while they are locked, and asks nobody.
    ///
    /// ```swift
    /// try keychain.deleteAll(service: "com.example.app")
    /// ```
    ///
    /// It blocks its thread in an asynchronous function too, where an `await` before it is allowed and changes nothing.
    /// ``deleteAllWithoutBlocking(service:)`` blocks none.
    ///
    /// - Parameter service: `nil`: **every generic password in the access groups of this keychain**, whatever program or
    ///   wrapper has made it; without an access group in all groups that the program may use.
    /// - Throws: ``JSKeychainError``.
    public func deleteAll(service: String? = nil) throws {
        try reporting { () throws(KeychainError) in
            _ = try keychain.catalog.removeAll([.genericPassword], matching: filter(service))
        }
    }
}
