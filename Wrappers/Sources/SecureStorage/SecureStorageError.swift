// SPDX-License-Identifier: Apache-2.0
// Why something could not be kept, read or removed.

public import Foundation
@_spi(Wrappers) public import KeychainServices

/// Why an operation of a secure storage failed. It never carries content of a value.
///
/// It bridges to an `NSError` of `NSOSStatusErrorDomain` whose code is the status.
public enum SecureStorageError: Error, Sendable, Equatable {
    /// The value could not be made JSON; with the type and the place in it.
    case encodingFailed(String)
    /// What is stored is not a value of the type asked for; with the type and the place in it.
    case decodingFailed(String)
    /// The keychain could not save. Its code (`errSec…`).
    case saveFailed(OSStatus)
    /// The keychain could not be read: locked, damaged or forbidden. Its code.
    case loadFailed(OSStatus)
    /// The keychain could not remove. Its code.
    case deleteFailed(OSStatus)
    /// There is no value, where one has to be.
    case notFound
}

extension SecureStorageError: LocalizedError {
    /// What could not be done, in the words that tests and logs of programs know.
    public var errorDescription: String? {
        switch self {
        case .encodingFailed(let message): "Failed to encode value: \(message)"
        case .decodingFailed(let message): "Failed to decode value: \(message)"
        case .saveFailed(let status): "Failed to save to keychain (status: \(status))"
        case .loadFailed(let status): "Failed to load from keychain (status: \(status))"
        case .deleteFailed(let status): "Failed to delete from keychain (status: \(status))"
        case .notFound: "Item not found in keychain"
        }
    }

    /// What the keychain's code means, and what to do about it; `nil` where no code is.
    public var failureReason: String? {
        switch self {
        case .saveFailed(let status), .loadFailed(let status), .deleteFailed(let status):
            SecCopyErrorMessageString(status, nil).map { $0 as String }
        case .encodingFailed, .decodingFailed, .notFound: nil
        }
    }
}

extension SecureStorageError: CustomNSError {
    /// `NSOSStatusErrorDomain`, which Foundation does not name on Linux.
    public static let errorDomain = "NSOSStatusErrorDomain"

    public var errorCode: Int {
        switch self {
        case .encodingFailed: Int(errSecParam)
        case .decodingFailed: Int(errSecDecode)
        case .saveFailed(let status), .loadFailed(let status), .deleteFailed(let status): Int(status)
        case .notFound: Int(errSecItemNotFound)
        }
    }

    /// Elsewhere the system asks for ``errorDescription`` and ``failureReason`` itself.
    public var errorUserInfo: [String: Any] {
        var texts: [String: Any] = [:]
        texts[NSLocalizedDescriptionKey] = errorDescription
        texts[NSLocalizedFailureReasonErrorKey] = failureReason
        return texts
    }
}
