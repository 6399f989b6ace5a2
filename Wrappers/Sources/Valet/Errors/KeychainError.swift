// SPDX-License-Identifier: Apache-2.0
// The errors of a valet.

public import Foundation
@_spi(Wrappers) import KeychainKit

/// Why a call of a valet failed. The valet's `lastFailure` has more detail than these six cases.
///
/// ```swift
/// do {
///     token = try valet.string(forKey: "token")
/// } catch KeychainError.itemNotFound {
///     token = nil
/// }
/// ```
///
/// Bridged to an `NSError`, it has Apple's domain and codes: `(error as NSError).code == -25300` means the same as
/// ``itemNotFound``.
public enum KeychainError: Int, CaseIterable, CustomStringConvertible, Error, Equatable, Sendable {
    /// The keychain is locked, damaged, full or busy, cannot ask in the way that the item requires …
    /// (`errSecNotAvailable`).
    case couldNotAccessKeychain
    /// The user cancelled, or was not authenticated (`errSecUserCanceled`).
    case userCancelled
    /// There is no value for the key, or it is not of the requested type (`errSecItemNotFound`).
    case itemNotFound
    /// The program may not use the access group (`errSecMissingEntitlement`).
    case missingEntitlement
    /// Keys have at least one character (`errSecParam`).
    case emptyKey
    /// Values have at least one byte (`errSecParam`).
    case emptyValue

    init(_ failure: KeychainKit.KeychainError) {
        switch failure.reason {
        case .itemNotFound, .typeMismatch: self = .itemNotFound
        case .cancelled, .authenticationFailed: self = .userCancelled
        case .missingEntitlement: self = .missingEntitlement
        default: self = .couldNotAccessKeychain
        }
    }

    public var description: String { "KeychainError.\(name)" }

    private var name: String {
        switch self {
        case .couldNotAccessKeychain: "couldNotAccessKeychain"
        case .userCancelled: "userCancelled"
        case .itemNotFound: "itemNotFound"
        case .missingEntitlement: "missingEntitlement"
        case .emptyKey: "emptyKey"
        case .emptyValue: "emptyValue"
        }
    }
}

extension KeychainError: LocalizedError, CustomNSError {
    /// `NSOSStatusErrorDomain`, which Foundation does not name on Linux.
    public static var errorDomain: String { "NSOSStatusErrorDomain" }

    public var errorCode: Int {
        switch self {
        case .couldNotAccessKeychain: -25291
        case .userCancelled: -128
        case .itemNotFound: -25300
        case .missingEntitlement: -34018
        case .emptyKey, .emptyValue: -50
        }
    }

    public var errorDescription: String? {
        switch self {
        case .couldNotAccessKeychain: "The keychain could not be used. The valet's lastFailure says why."
        case .userCancelled: "The user cancelled, or was not authenticated."
        case .itemNotFound: "There is no value for this key."
        case .missingEntitlement: "The program may not use this access group. Add it to its entitlements."
        case .emptyKey: "The key is empty. Give one of at least one character."
        case .emptyValue: "The value is empty. Give at least one byte, or remove the object."
        }
    }

    public var errorUserInfo: [String: Any] { errorDescription.map { [NSLocalizedDescriptionKey: $0] } ?? [:] }
}
