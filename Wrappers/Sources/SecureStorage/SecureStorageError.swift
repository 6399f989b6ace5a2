// SPDX-License-Identifier: Apache-2.0
// Why a value could not be saved, read or removed.

public import Foundation
@_spi(Wrappers) public import KeychainServices

/// Why an operation of a secure storage failed. It never contains content of a value.
///
/// It bridges to an `NSError` of `NSOSStatusErrorDomain` whose code is the status.
public enum SecureStorageError: Error, Sendable, Equatable {
    /// The value could not be encoded as JSON; with the type and the place in it.
    case encodingFailed(String)
    /// The stored value is not of the requested type; with the type and the place in it.
    case decodingFailed(String)
    /// The keychain could not save the value. With its code (`errSec…`).
    case saveFailed(OSStatus)
    /// The keychain could not be read: it is locked or damaged, or access is denied. With its code.
    case loadFailed(OSStatus)
    /// The keychain could not remove the value. With its code.
    case deleteFailed(OSStatus)
    /// There is no value, although one is required.
    case notFound
}

extension SecureStorageError: LocalizedError {
    /// What failed, in the original's words, because tests and logs of programs contain them.
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

    /// What the keychain's code means, and what to do about it; `nil` for cases without a code.
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

    /// On other platforms the system asks for ``errorDescription`` and ``failureReason`` itself.
    public var errorUserInfo: [String: Any] {
        var texts: [String: Any] = [:]
        texts[NSLocalizedDescriptionKey] = errorDescription
        texts[NSLocalizedFailureReasonErrorKey] = failureReason
        return texts
    }
}
