// SPDX-License-Identifier: Apache-2.0
// The four functions of Keychain Services that a store uses.

public import Foundation
public import KeychainEngine
public import KeychainServices

/// The functions that a ``SecItemStore`` calls, and how it passes on an authentication context.
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
    /// The object for a request's context (`kSecUseAuthenticationContext`); `nil`: the request has none.
    ///
    /// On Linux the default is an object that shares the proofs of the context; its questions are cancelled when the
    /// request ends. On Apple platforms the default is an object with the same settings and no proofs: proofs cannot be
    /// transferred to the system, and a question stays until it is answered.
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

    /// The system's functions: Apple's on its platforms, this package's on Linux.
    public static let system = SecItemFunctions(
        add: { SecItemAdd($0, $1) }, copyMatching: { SecItemCopyMatching($0, $1) },
        update: { SecItemUpdate($0, $1) }, delete: { SecItemDelete($0) })
}

/// A dictionary for one of the four functions.
typealias Entries = [String: Any]

extension SecItemFunctions {
    /// - Returns: The requested result: a dictionary, an array, data, or nothing.
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
