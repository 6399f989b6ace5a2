// SPDX-License-Identifier: Apache-2.0
// The error of a keychain manager.

public import Foundation
@_spi(Wrappers) import KeychainKit
@_spi(Wrappers) public import KeychainServices

/// Why an operation of the keychain failed.
///
/// ```swift
/// do {
///     stored = try keychain.load(TVCredentials.self, service: service, account: account)
/// } catch KeychainError.unexpectedStatus(-34018) {
///     showThatTheEntitlementsLackTheGroup()
/// }
/// ```
///
/// The rest, such as what to do next, is in ``KeychainManager/lastFailure``.
public enum KeychainError: Error, Equatable, Sendable {
    /// The keychain's own code, such as `errSecMissingEntitlement` (-34018).
    case unexpectedStatus(OSStatus)
    /// The value cannot be encoded as JSON, or the stored value is not of this type.
    case encodingFailed
}

extension KeychainError: LocalizedError, CustomNSError {
    /// `NSOSStatusErrorDomain`, which Foundation does not name on Linux.
    public static let errorDomain = "NSOSStatusErrorDomain"

    /// The status; `errSecDecode` for ``encodingFailed``.
    public var errorCode: Int {
        switch self {
        case .unexpectedStatus(let status): Int(status)
        case .encodingFailed: Int(errSecDecode)
        }
    }

    /// On other platforms the system asks for ``errorDescription`` and ``failureReason`` itself.
    public var errorUserInfo: [String: Any] {
        var texts: [String: Any] = [:]
        texts[NSLocalizedDescriptionKey] = errorDescription
        texts[NSLocalizedFailureReasonErrorKey] = failureReason
        return texts
    }

    /// The original's texts, because tests and logs of programs contain them.
    public var errorDescription: String? {
        switch self {
        case .unexpectedStatus(let status): "Keychain error: \(status)"
        case .encodingFailed: "Failed to encode/decode data"
        }
    }

    /// What the keychain's code means, and what to do about it.
    public var failureReason: String? {
        switch self {
        case .unexpectedStatus(let status): SecCopyErrorMessageString(status, nil).map { "\($0)" }
        case .encodingFailed: "The value cannot be encoded as JSON, or the stored value is not of this type."
        }
    }
}

extension KeychainError {
    init(_ failure: KeychainKit.KeychainError) { self = .unexpectedStatus(failure.status) }
}
