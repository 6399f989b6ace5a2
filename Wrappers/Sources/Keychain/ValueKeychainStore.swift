// SPDX-License-Identifier: Apache-2.0
// A single text in the keychain.

import Foundation
@_spi(Wrappers) public import KeychainKit
@_spi(Wrappers) import KeychainSecItem
@_spi(Wrappers) import KeychainServices

/// Keeps one text in the keychain: a generic password with an account, optionally an access group, and no service.
///
/// ```swift
/// let store = ValueKeychainStore(accountName: "api-key", accessGroup: "com.example.shared")
/// try store.set("s3cret")
/// let key = try store.get()
/// ```
///
/// Any number of threads and programs may use the same item. Calls block their thread, usually for some milliseconds,
/// in asynchronous code too. KeychainKit's `SecretStore` has asynchronous calls.
///
/// Does not protect against other programs of the same user, which can open the same keychain.
public final class ValueKeychainStore: ValueStore, Sendable {
    private let account: String
    private let accessGroup: String?
    private let keychain: ChosenKeychain

    /// - Parameters:
    ///   - accountName: The account of the item, compared byte by byte. The item has no service, so the account should
    ///     be unique in the access group.
    ///   - accessGroup: `nil`: new items go to the program's default group, and searches cover all groups that it may
    ///     use.
    public convenience init(accountName: String, accessGroup: String? = nil) {
        self.init(accountName, accessGroup, ChosenKeychain())
    }

    private init(_ account: String, _ accessGroup: String?, _ keychain: ChosenKeychain) {
        (self.account, self.accessGroup, self.keychain) = (account, accessGroup, keychain)
    }

    /// The same value in another store, for tests and for programs with a vault of their own.
    ///
    /// ```swift
    /// let store = ValueKeychainStore(accountName: "api-key").using(MemoryStore())
    /// ```
    ///
    /// - Parameters:
    ///   - accessGroups: The access groups that may be used; `nil`: all.
    ///   - context: What the user has proven already, and how to ask them; `nil`: as the environment is configured.
    public func using(
        _ store: any ItemStore, accessGroups: AccessGroups? = nil, context: AuthenticationContext? = nil
    ) -> ValueKeychainStore {
        ValueKeychainStore(account, accessGroup, ChosenKeychain(store, accessGroups: accessGroups, context: context))
    }

    // MARK: - Getting and setting

    /// The text; `nil` only if the keychain could be read and has none.
    ///
    /// ```swift
    /// let key = try store.get()
    /// ```
    ///
    /// - Throws: ``KeychainError``, also for bytes that are not text.
    public func get() throws -> String? {
        try reporting { () throws(Failure) in try secrets.read(String.self, for: account) }
    }

    /// Sets the text in one transaction: creates the item, or changes the existing one. `nil` removes it, if there is
    /// one.
    ///
    /// ```swift
    /// try store.set("s3cret")
    /// ```
    ///
    /// - Throws: ``KeychainError``.
    public func set(_ value: String?) throws {
        try reporting { () throws(Failure) in
            if let value { try secrets.save(value, for: account) } else { _ = try secrets.remove(for: account) }
        }
    }

    // MARK: - Single steps

    /// Creates the item. It must not exist.
    ///
    /// ```swift
    /// try store.create("s3cret", extraAttributes: [kSecAttrLabel as String: NSString(string: "Example account")])
    /// ```
    ///
    /// - Parameter extraAttributes: Passed to `SecItemAdd`. The value and the attributes that the store sets itself
    ///   take precedence. A service is ignored, since the store could not find the item by it.
    /// - Throws: ``KeychainError``, with `errSecDuplicateItem` if the access group has such an item with the same
    ///   synchronizable attribute; that item stays as it is.
    public func create(_ value: String, extraAttributes: [String: AnyObject] = [:]) throws {
        let entries = extraAttributes.merging(entries) { _, own in own }
            .merging([kSecValueData as String: NSData(data: Data(value.utf8))]) { _, value in value }
        try reporting { () throws(Failure) in
            let functions = try SecItemFunctions.over(keychain.store, accessGroups: keychain.accessGroups)
            let status = functions.add(entries as NSDictionary as CFDictionary, nil)
            guard status == errSecSuccess else { throw Failure(status: status) }
        }
    }

    /// Changes the item. It must exist.
    ///
    /// ```swift
    /// try store.update("n3w")
    /// ```
    ///
    /// - Throws: ``KeychainError``, with `errSecItemNotFound` if there is none.
    public func update(_ value: String) throws {
        let bytes = Data(value.utf8)
        do {
            try secrets.update(Data.self, for: account) { old in
                guard old != nil else { throw Failure.nothingThere }
                old = bytes
            }
        } catch let failure as Failure {
            throw KeychainError(failure)
        }
    }

    /// Removes the item. It must exist.
    ///
    /// ```swift
    /// try store.delete()
    /// ```
    ///
    /// - Throws: ``KeychainError``, with `errSecItemNotFound` if there is none.
    public func delete() throws {
        try reporting { () throws(Failure) in
            guard try secrets.remove(for: account) else { throw .nothingThere }
        }
    }

    // MARK: - The item

    /// Also finds an item that extra attributes made synchronizable.
    private var secrets: EitherKindStore {
        EitherKindStore(keychain.secrets(service: "", accessGroup: accessGroup))
    }

    private var entries: [String: AnyObject] {
        var entries: [String: AnyObject] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrAccount as String: NSString(string: account),
            kSecAttrService as String: NSString(),
            kSecUseDataProtectionKeychain as String: NSNumber(value: true),
        ]
        entries[kSecAttrAccessGroup as String] = accessGroup.map { NSString(string: $0) }
        return entries
    }
}
