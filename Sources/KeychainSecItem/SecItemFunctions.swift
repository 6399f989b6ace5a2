// SPDX-License-Identifier: Apache-2.0
// The four functions of Keychain Services that a store is made of.

public import Foundation
public import KeychainEngine
public import KeychainServices

/// The functions that a ``SecItemStore`` calls, and how it hands over what a person has proven.
///
/// ```swift
/// var functions = SecItemFunctions.system
/// functions.authenticationContext = { _ in  // one of the program's own
///     let context = LAContext()
///     context.interactionNotAllowed = true
///     return context
/// }
/// let store = SecItemStore(functions)
/// ```
public struct SecItemFunctions: Sendable {
    /// `SecItemAdd`.
    public var add: @Sendable (CFDictionary, UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus
    /// `SecItemCopyMatching`.
    public var copyMatching: @Sendable (CFDictionary, UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus
    /// `SecItemUpdate`.
    public var update: @Sendable (CFDictionary, CFDictionary) -> OSStatus
    /// `SecItemDelete`.
    public var delete: @Sendable (CFDictionary) -> OSStatus
    /// The object that stands for a request's context (`kSecUseAuthenticationContext`); `nil`: the request goes
    /// without.
    ///
    /// By default on Linux one that shares what the context has proven, and ends its questions when the request ends. On
    /// Apple platforms one with the same settings, in which nothing is proven: what the system was shown cannot be carried
    /// over, and a question stays until it is answered.
    public var authenticationContext: @Sendable (Authorization) -> LAContext? = { $0.systemObject }

    public init(
        add: @escaping @Sendable (CFDictionary, UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus,
        copyMatching: @escaping @Sendable (CFDictionary, UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus,
        update: @escaping @Sendable (CFDictionary, CFDictionary) -> OSStatus,
        delete: @escaping @Sendable (CFDictionary) -> OSStatus
    ) {
        self.add = add
        self.copyMatching = copyMatching
        self.update = update
        self.delete = delete
    }

    /// The functions that every program has: Apple's on its platforms, this package's on Linux.
    public static let system = SecItemFunctions(
        add: { SecItemAdd($0, $1) }, copyMatching: { SecItemCopyMatching($0, $1) },
        update: { SecItemUpdate($0, $1) }, delete: { SecItemDelete($0) })
}

/// A dictionary of one of the four functions.
typealias Entries = [String: Any]

extension SecItemFunctions {
    /// - Returns: What was asked for: a dictionary, an array, data, or nothing.
    func add(_ entries: Entries) -> (status: OSStatus, result: CFTypeRef?) {
        var result: CFTypeRef?
        let status = add(entries as CFDictionary, &result)
        return (status, result)
    }

    func find(_ entries: Entries) -> (status: OSStatus, result: CFTypeRef?) {
        var result: CFTypeRef?
        let status = copyMatching(entries as CFDictionary, &result)
        return (status, result)
    }

    func update(_ entries: Entries, to changes: Entries) -> OSStatus {
        update(entries as CFDictionary, changes as CFDictionary)
    }

    func delete(_ entries: Entries) -> OSStatus { delete(entries as CFDictionary) }
}
