// SPDX-License-Identifier: Apache-2.0
// Why a call failed, in four cases.

public import Foundation
@_spi(Wrappers) import KeychainKit
@_spi(Wrappers) public import KeychainServices

#if !canImport(Darwin)
    // The type of a case below. On Apple platforms Foundation exports it, so programs import nothing else for it.
    @_exported public import typealias KeychainServices.OSStatus
#endif

/// Why a call failed. ``JSKeychain/lastFailure`` has the full reason.
///
/// ```swift
/// do {
///     token = try keychain.read(service: "com.example.app", account: "alice")
/// } catch JSKeychainError.itemNotFound {
///     signIn()
/// }
/// ```
public enum JSKeychainError: LocalizedError, Hashable, Sendable {
    /// The keychain could be read, and has no such item.
    case itemNotFound
    /// Never thrown: saving changes an existing item.
    case duplicateItem
    /// The item or the whole keychain is damaged, the value is of another type, or the value cannot be encoded.
    case invalidData
    /// Every other failure, with Apple's code.
    case unhandledError(status: OSStatus)

    /// Damage is always invalid data: of the JSON, the item or the keychain. Only `lastFailure` distinguishes these.
    init(_ failure: KeychainError) {
        switch failure.reason {
        case .itemNotFound: self = .itemNotFound
        case .typeMismatch, .corrupt, .ofAnotherDevice: self = .invalidData
        default: self = .unhandledError(status: failure.status)
        }
    }

    /// The original's texts, because tests and logs of programs contain them.
    public var errorDescription: String? {
        switch self {
        case .itemNotFound: "Item not found in keychain"
        case .duplicateItem: "Item already exists in keychain"
        case .invalidData: "Invalid data format"
        case .unhandledError(let status): "Keychain error: \(status)"
        }
    }

    /// What the error means, and what to do about it; `nil` if the description says everything.
    public var failureReason: String? {
        switch self {
        case .itemNotFound, .duplicateItem: nil
        case .invalidData: Self.invalid
        case .unhandledError(errSecNotAvailable): Self.notAvailable
        case .unhandledError(errSecDuplicateItem): Self.ambiguous
        case .unhandledError(let status): SecCopyErrorMessageString(status, nil).map { "\($0)" }
        }
    }

    private static let invalid = """
        The value cannot be read as this type, cannot be written as JSON, or is damaged; or the keychain is damaged. \
        `lastFailure` says which.
        """

    /// The code stands for many failures; these are the two that this interface causes.
    private static let notAvailable = """
        This is not available here: there is no biometric authenticator, so ask for the passcode as \
        well; or no passphrase is set for an item that needs one; or the keychain cannot be used now. `lastFailure` says which.
        """

    /// Saving changes existing items, so only ambiguity has this code.
    private static let ambiguous = """
        Items of this name are in several access groups. Use a keychain of one of these groups.
        """
}

extension JSKeychainError: CustomNSError {
    /// `NSOSStatusErrorDomain`, which Foundation does not name on Linux.
    public static let errorDomain = "NSOSStatusErrorDomain"

    public var errorCode: Int {
        switch self {
        case .itemNotFound: Int(errSecItemNotFound)
        case .duplicateItem: Int(errSecDuplicateItem)
        case .invalidData: Int(errSecDecode)
        case .unhandledError(let status): Int(status)
        }
    }

    /// On other platforms the system asks for ``errorDescription`` and ``failureReason`` itself.
    public var errorUserInfo: [String: Any] {
        var texts: [String: Any] = [:]
        texts[NSLocalizedDescriptionKey] = errorDescription
        texts[NSLocalizedFailureReasonErrorKey] = failureReason
        return texts
    }
}
