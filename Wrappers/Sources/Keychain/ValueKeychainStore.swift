// SPDX-License-Identifier: Apache-2.0
// One text in the keychain.

import Foundation
@_spi(Wrappers) public import KeychainKit
@_spi(Wrappers) import KeychainSecItem
@_spi(Wrappers) import KeychainServices

/// Keeps one text in the keychain: a generic password with an account and perhaps an access group, and without a service.
///
/// ```swift
/// let store = ValueKeychainStore(accountName: "api-key", accessGroup: "com.example.shared")
/// try store.set("s3cret")
/// let key = try store.get()
/// ```
///
/// Any number of threads and programs may use the same item. Calls block their thread, for some milliseconds as a rule, also in
/// asynchronous code; KeychainKit's `SecretStore` has some that do not.
///
/// Does not protect against other programs of the same user, which can open the same keychain.
public final class ValueKeychainStore: ValueStore, Sendable {
    private let account: String
    private let accessGroup: String?
    private let keychain: ChosenKeychain

    /// - Parameters:
    ///   - accountName: What the item is called; compared byte by byte. The item has no service, so it should be unique in the
    ///     access group.
    ///   - accessGroup: `nil`: the program's default group for a new item, and all groups that it may use for finding one.
    public convenience init(accountName: String, accessGroup: String? = nil) {
        self.init(accountName, accessGroup, ChosenKeychain())
    }

    private init(_ account: String, _ accessGroup: String?, _ keychain: ChosenKeychain) {
        (self.account, self.accessGroup, self.keychain) = (account, accessGroup, keychain)
    }

    /// The same value in another store than the user's keychain: for tests, and for programs that keep a vault of their own.
    ///
    /// ```swift
    /// let store = ValueKeychainStore(accountName: "api-key").using(MemoryStore())
    /// ```
    ///
    /// - Parameters:
    ///   - accessGroups: The access groups that may be used; `nil`: all.
    ///   - context: What the user has proven already, and who asks; `nil`: whatever the environment is configured for.
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

    /// Makes the item, or changes the one that is there in place, in one transaction; `nil` removes it, if there is one.
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

    // MARK: - One step of it

    /// Makes the item, which must be new.
    ///
    /// ```swift
    /// try store.create("s3cret", extraAttributes: [kSecAttrLabel as String: NSString(string: "Example account")])
    /// ```
    ///
    /// - Parameter extraAttributes: Handed to `SecItemAdd`. What the store says itself, and the value, win; a service is left
    ///   out, since the item could not be found by it.
    /// - Throws: ``KeychainError``, with `errSecDuplicateItem` if there is one in its access group that synchronizes as little or
    ///   as much, which stays as it is.
    public func create(_ value: String, extraAttributes: [String: AnyObject] = [:]) throws {
        let entries = extraAttributes.merging(entries) { _, own in own }
            .merging([kSecValueData as String: NSData(data: Data(value.utf8))]) { _, value in value }
        try reporting { () throws(Failure) in
            let functions = try SecItemFunctions.over(keychain.store, accessGroups: keychain.accessGroups)
            let status = functions.add(entries as NSDictionary as CFDictionary, nil)
            guard status == errSecSuccess else { throw Failure(status: status) }
        }
    }

    /// Changes the item, which must be there.
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

    /// Removes the item, which must be there.
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

    /// Also an item that extra attributes made synchronizable is found.
    private var secrets: SecretStore {
        var secrets = keychain.secrets(service: "", accessGroup: accessGroup)
        secrets.options.synchronizableAny = true
        return secrets
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
