// SPDX-License-Identifier: Apache-2.0
// Saving, reading and removing items, on the caller's thread.

import Foundation
@_spi(Wrappers) import KeychainKit

extension JSKeychain {
    /// Saves a value in one transaction: creates an item, or changes the existing one.
    ///
    /// ```swift
    /// try keychain.save(credentials, service: "com.example.app", account: "alice")
    /// ```
    ///
    /// Service and account are compared byte by byte. Accessibility and protection also apply to an existing item.
    ///
    /// - Parameters:
    ///   - biometricOptions: What the user has to prove before the item opens. `nil`: nothing for a new item; an
    ///     existing item keeps its protection.
    /// - Throws: ``JSKeychainError/invalidData`` if the value cannot be encoded, else
    ///   ``JSKeychainError/unhandledError(status:)``: for example `errSecNotAvailable` if the user cannot be asked in
    ///   this way, and `errSecDuplicateItem` if the keychain has no access group and several groups have such an item.
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
    ///   - biometricReason: The reason that the user is shown if the item requires them; `nil` or empty: the default.
    /// - Throws: ``JSKeychainError/itemNotFound`` only if the keychain could be read and has no such item,
    ///   ``JSKeychainError/invalidData`` if the item is damaged or of another type, else
    ///   ``JSKeychainError/unhandledError(status:)``: for example `errSecDuplicateItem` if the keychain has no access
    ///   group and several groups have such an item.
    public func read<T: Codable>(service: String, account: String, biometricReason: String? = nil) throws -> T {
        try reporting { () throws(KeychainError) in
            try value(of: try secrets(service, prompt: biometricReason).read(Data.self, for: account))
        }
    }

    /// Removes an item, even while it is locked, without asking the user. It is not an error if there is none.
    ///
    /// ```swift
    /// try keychain.delete(service: "com.example.app", account: "alice")
    /// ```
    ///
    /// Without an access group the item is removed from all groups that the program may use.
    ///
    /// - Throws: ``JSKeychainError``.
    public func delete(service: String, account: String) throws {
        try reporting { () throws(KeychainError) in _ = try secrets(service).remove(for: account) }
    }

    /// Whether an item exists. The user is not asked.
    ///
    /// ```swift
    /// if !keychain.exists(service: "com.example.app", account: "alice") { signIn() }
    /// ```
    ///
    /// - Returns: Also `false` if the keychain cannot be read, for instance because it is locked; ``lastFailure`` then
    ///   has the reason.
    public func exists(service: String, account: String) -> Bool {
        telling { () throws(KeychainError) in try secrets(service).contains(for: account) }
    }

    /// The items of a service, or of all services, by access group, account and service. The user is not asked.
    ///
    /// ```swift
    /// let accounts = try keychain.listAll(service: "com.example.app").map(\.account)
    /// ```
    ///
    /// The list leaves out items whose service or account is not text, which other programs may create. On Apple
    /// platforms it also leaves out items that require the user.
    ///
    /// - Throws: ``JSKeychainError``.
    public func listAll(service: String? = nil) throws -> [JSKeychainItem] {
        try reporting { () throws(KeychainError) in
            try keychain.catalog.listingEntries(.genericPassword, matching: filter(service))
                .compactMap(JSKeychainItem.init)
        }
    }

    /// Removes all items of a service, even while they are locked, without asking the user.
    ///
    /// ```swift
    /// try keychain.deleteAll(service: "com.example.app")
    /// ```
    ///
    /// It blocks its thread in asynchronous functions too; an `await` before it is allowed and changes nothing.
    /// ``deleteAllWithoutBlocking(service:)`` does not block.
    ///
    /// - Parameter service: `nil`: **every generic password in the access groups of this keychain**, including those of
    ///   other programs and wrappers; without an access group, in all groups that the program may use.
    /// - Throws: ``JSKeychainError``.
    public func deleteAll(service: String? = nil) throws {
        try reporting { () throws(KeychainError) in
            _ = try keychain.catalog.removeAll([.genericPassword], matching: filter(service))
        }
    }
}
