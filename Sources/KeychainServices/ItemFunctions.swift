// SPDX-License-Identifier: Apache-2.0
// The four public functions that add, find, change and remove items.

// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux)
    public import Foundation

    /// Adds one item to the keychain, or the certificate and the key of an identity.
    ///
    /// ```swift
    /// let item: [String: Any] = [
    ///     kSecClass as String: kSecClassGenericPassword,
    ///     kSecAttrService as String: "example.com",
    ///     kSecAttrAccount as String: "alice",
    ///     kSecValueData as String: Data("correct horse".utf8),
    /// ]
    /// let status = SecItemAdd(item as CFDictionary, nil)
    /// ```
    ///
    /// - Parameters:
    ///   - attributes: the class, the attributes and the secret of the item, and the requested results (`kSecReturn…`).
    ///   - result: receives the requested results; `nil` if none were requested, or on failure.
    /// - Returns: `errSecSuccess`; `errSecDuplicateItem` if an item with the same primary key exists, which stays as it
    ///   is; `errSecParam`, `errSecNoSuchClass` or `errSecNoSuchAttr` for an invalid dictionary;
    ///   `errSecMissingEntitlement` for a foreign access group; `errSecInteractionNotAllowed` if the keychain is
    ///   locked; `errSecNotAvailable` if the access control requires biometry, or the user while no passphrase is set;
    ///   `errSecUnimplemented` for items on a token. The rules are listed in `Docs/SEMANTICS.md`.
    @discardableResult
    public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
        Services.shared.add(attributes, result)
    }

    /// Finds items and returns the requested results: secrets, attributes, objects, or persistent references.
    ///
    /// ```swift
    /// let query: [String: Any] = [
    ///     kSecClass as String: kSecClassGenericPassword,
    ///     kSecAttrService as String: "example.com",
    ///     kSecReturnData as String: true,
    /// ]
    /// var result: AnyObject?
    /// if SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess, let secret = result as? Data {
    ///     print(secret.count)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - query: the class, conditions that must all match exactly, how many items to return (`kSecMatchLimit`, one if
    ///     absent), and the requested results for each (`kSecReturn…`).
    ///   - result: receives one object, or an array in the order of the primary key if the limit is not one; `nil` if
    ///     nothing was requested, or on failure.
    /// - Returns: `errSecSuccess`; `errSecItemNotFound` only if the keychain could be read and nothing matches;
    ///   `errSecDecode` if the only match is damaged. If an item requires authentication, this thread waits for the
    ///   user; the result may then be `errSecUserCanceled`, `errSecAuthFailed`, or `errSecInteractionNotAllowed` if the
    ///   user may not be asked. `errSecParam`, `errSecNoSuchClass`, `errSecNoSuchAttr`, `errSecMissingEntitlement`,
    ///   `errSecInteractionNotAllowed` and `errSecUnimplemented` as for `SecItemAdd`. The rules are listed in
    ///   `Docs/SEMANTICS.md`.
    @discardableResult
    public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
        Services.shared.copyMatching(query, result)
    }

    /// Changes every item that matches a query, or none if one of them cannot be changed.
    ///
    /// ```swift
    /// let query: [String: Any] = [
    ///     kSecClass as String: kSecClassGenericPassword,
    ///     kSecAttrService as String: "example.com",
    /// ]
    /// let changes: [String: Any] = [kSecValueData as String: Data("battery staple".utf8)]
    /// let status = SecItemUpdate(query as CFDictionary, changes as CFDictionary)
    /// ```
    ///
    /// - Parameters:
    ///   - query: the items, as for `SecItemCopyMatching`, without a limit.
    ///   - attributesToUpdate: attributes and optionally `kSecValueData`; any other key is `errSecNoSuchAttr`.
    /// - Returns: `errSecSuccess`; `errSecItemNotFound` if nothing matches; `errSecDuplicateItem` if another item
    ///   already has the changed primary key; the results of `SecItemCopyMatching` for items that require
    ///   authentication; `errSecParam`, `errSecNoSuchClass`, `errSecNoSuchAttr`, `errSecMissingEntitlement`,
    ///   `errSecInteractionNotAllowed` and `errSecUnimplemented` as for `SecItemAdd`. The rules are listed in
    ///   `Docs/SEMANTICS.md`.
    @discardableResult
    public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
        Services.shared.update(query, attributesToUpdate)
    }

    /// Removes every item that matches a query. A query with only a class removes all items of the class.
    ///
    /// ```swift
    /// let query: [String: Any] = [
    ///     kSecClass as String: kSecClassGenericPassword,
    ///     kSecAttrService as String: "example.com",
    /// ]
    /// let status = SecItemDelete(query as CFDictionary)
    /// ```
    ///
    /// - Parameter query: the items, as for `SecItemCopyMatching`, without a limit. Synchronizable items are removed
    ///   only if `kSecAttrSynchronizable` selects them.
    /// - Returns: `errSecSuccess`, also while the keychain is locked; `errSecItemNotFound` if nothing matches;
    ///   `errSecParam`, `errSecNoSuchClass`, `errSecNoSuchAttr` and `errSecMissingEntitlement` as for `SecItemAdd`. The
    ///   rules are listed in `Docs/SEMANTICS.md`.
    @discardableResult
    public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
        Services.shared.delete(query)
    }
#endif
