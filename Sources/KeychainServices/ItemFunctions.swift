// SPDX-License-Identifier: Apache-2.0
// The four public functions that add, find, change and remove items.

// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

/// Adds one item to the keychain.
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
///   - attributes: the class, the attributes and the secret of the item, and what to return of it (`kSecReturn…`).
///   - result: gets what was asked for; `nil` if nothing was, or on failure.
/// - Returns: `errSecSuccess`; `errSecDuplicateItem` if an item with the same primary key exists, which is then left as it
///   is; `errSecParam`, `errSecNoSuchClass` or `errSecNoSuchAttr` for a bad dictionary; `errSecMissingEntitlement` for a
///   foreign access group; `errSecInteractionNotAllowed` if the keychain is locked; `errSecNotAvailable` for an access
///   control that asks for the user where no passphrase is set, or for biometry; `errSecUnimplemented` for object references.
///   The rules are listed in `Docs/SEMANTICS.md`.
@discardableResult
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    Services.shared.add(attributes, result)
}

/// Finds items, and returns what was asked for: secrets, attributes, or persistent references.
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
///   - query: the class, conditions that all hold exactly, how many items to return (`kSecMatchLimit`, one if absent), and
///     what to return of each (`kSecReturn…`).
///   - result: gets one object, or an array of them if the limit is not one; `nil` if nothing was asked for, or on failure.
/// - Returns: `errSecSuccess`; `errSecItemNotFound` only if the keychain was readable and nothing matches; `errSecDecode` if
///   the only match is damaged; for items that ask for the user, for whom this thread then waits, `errSecUserCanceled`,
///   `errSecAuthFailed`, or `errSecInteractionNotAllowed` if nobody may be asked; `errSecParam`, `errSecNoSuchClass`,
///   `errSecNoSuchAttr`, `errSecMissingEntitlement`, `errSecInteractionNotAllowed` and `errSecUnimplemented` as
///   `SecItemAdd`. The rules are listed in `Docs/SEMANTICS.md`.
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
///   - query: which items, as for `SecItemCopyMatching`, without limit.
///   - attributesToUpdate: attributes and perhaps `kSecValueData`; any other key is `errSecNoSuchAttr`.
/// - Returns: `errSecSuccess`; `errSecItemNotFound` if nothing matches; `errSecDuplicateItem` if the changed primary key is
///   taken; for items that ask for the user the same as `SecItemCopyMatching`; `errSecParam`, `errSecNoSuchClass`,
///   `errSecNoSuchAttr`, `errSecMissingEntitlement`, `errSecInteractionNotAllowed` and `errSecUnimplemented` as
///   `SecItemAdd`. The rules are listed in `Docs/SEMANTICS.md`.
@discardableResult
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    Services.shared.update(query, attributesToUpdate)
}

/// Removes every item that matches a query; a query with a class alone removes all items of that class.
///
/// ```swift
/// let query: [String: Any] = [
///     kSecClass as String: kSecClassGenericPassword,
///     kSecAttrService as String: "example.com",
/// ]
/// let status = SecItemDelete(query as CFDictionary)
/// ```
///
/// - Parameter query: which items, as for `SecItemCopyMatching`, without limit. Items that are synchronizable are removed
///   only if `kSecAttrSynchronizable` asks for them.
/// - Returns: `errSecSuccess`, also while the keychain is locked; `errSecItemNotFound` if nothing matches; `errSecParam`,
///   `errSecNoSuchClass`, `errSecNoSuchAttr` and `errSecMissingEntitlement` as `SecItemAdd`. The rules are listed in
///   `Docs/SEMANTICS.md`.
@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    Services.shared.delete(query)
}
