// SPDX-License-Identifier: Apache-2.0
// Why a call failed, in four cases.

public import Foundation
import KeychainKit
public import KeychainServices

#if !canImport(Darwin)
    // The type of a case below. Foundation has it on Apple's platforms, so programs there import nothing more for it.
    @_exported public import typealias KeychainServices.OSStatus
#endif

/// Why a call failed. The reason in full is the ``JSKeychain/lastFailure`` of the keychain.
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
    /// Never thrown: saving changes an item that is there.
    case duplicateItem
    /// The item is damaged, or the whole keychain is; or the value is not of this type; or a value cannot be encoded.
    case invalidData
    /// Everything else, with Apple's code for it.
    case unhandledError(status: OSStatus)

    /// What is damaged is invalid data, whether it is the JSON, the item or the keychain: only `lastFailure` can say which.
    init(_ failure: KeychainError) {
        switch failure.reason {
        case .itemNotFound: self = .itemNotFound
        case .typeMismatch, .corrupt, .ofAnotherDevice: self = .invalidData
        default: self = .unhandledError(status: failure.status)
        }
    }

    /// One or two sentences for a person.
    public var errorDescription: String? {
        switch self {
        case .itemNotFound: "There is no such item in the keychain."
        case .duplicateItem: "The keychain has this item already."
        case .invalidData: Self.invalid
        case .unhandledError(errSecNotAvailable): Self.notAvailable
        case .unhandledError(errSecDuplicateItem): Self.ambiguous
        case .unhandledError(let status): "\(Self.sentence(status)) (\(status))"
        }
    }

    private static let invalid = """
        The value cannot be read as this type, or cannot be written as JSON; or it is damaged, or the whole keychain is. \
        `lastFailure` says which.
        """

    /// The code stands for many things, among them the two that this interface leads to.
    private static let notAvailable = """
        This is not available here (\(errSecNotAvailable)): there is no biometric authenticator, so ask for the passcode as \
        well; or no passphrase is set for an item that needs one; or the keychain cannot be used now. `lastFailure` says which.
        """

    /// Saving changes what is there, so nothing else has this code.
    private static let ambiguous = """
        Items of this name are in several access groups (\(errSecDuplicateItem)). Use a keychain of the group that is meant.
        """

    private static func sentence(_ status: OSStatus) -> String {
        SecCopyErrorMessageString(status, nil).map { "\($0)" } ?? "The keychain failed."
    }
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

    public var errorUserInfo: [String: Any] { errorDescription.map { [NSLocalizedDescriptionKey: $0] } ?? [:] }
}
