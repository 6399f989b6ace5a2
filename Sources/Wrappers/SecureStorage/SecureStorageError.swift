// SPDX-License-Identifier: Apache-2.0
// Why something could not be kept, read or removed.

public import Foundation
public import KeychainServices

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
    public var errorDescription: String? {
        switch self {
        case .encodingFailed(let message): "The value cannot be encoded: \(message)"
        case .decodingFailed(let message): "The stored value cannot be decoded: \(message)"
        case .saveFailed(let status): "The keychain did not save the value. \(Self.words(status))"
        case .loadFailed(let status): "The keychain did not give the value. \(Self.words(status))"
        case .deleteFailed(let status): "The keychain did not remove the value. \(Self.words(status))"
        case .notFound: "There is no value for the key."
        }
    }

    private static func words(_ status: OSStatus) -> String {
        let message = SecCopyErrorMessageString(status, nil).map { $0 as String } ?? "It gave no reason."
        return "\(message) (\(status))"
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

    /// Elsewhere the system asks for ``errorDescription`` itself.
    public var errorUserInfo: [String: Any] { errorDescription.map { [NSLocalizedDescriptionKey: $0] } ?? [:] }
}
