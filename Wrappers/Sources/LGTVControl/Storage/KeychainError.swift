// SPDX-License-Identifier: Apache-2.0
// What a keychain manager throws.

public import Foundation
@_spi(Wrappers) import KeychainKit
@_spi(Wrappers) public import KeychainServices

/// Why the keychain did not do what was asked.
///
/// ```swift
/// do {
///     stored = try keychain.load(TVCredentials.self, service: service, account: account)
/// } catch KeychainError.unexpectedStatus(-34018) {
///     showThatTheEntitlementsLackTheGroup()
/// }
/// ```
///
/// What there is no room for here, what to do next above all, is in ``KeychainManager/lastFailure``.
public enum KeychainError: Error, Equatable, Sendable {
    /// The keychain's own code, as `errSecMissingEntitlement` (-34018).
    case unexpectedStatus(OSStatus)
    /// The value cannot be made JSON, or what is stored is not such a value.
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

    /// Elsewhere the system asks for ``errorDescription`` and ``failureReason`` itself.
    public var errorUserInfo: [String: Any] {
        var texts: [String: Any] = [:]
        texts[NSLocalizedDescriptionKey] = errorDescription
        texts[NSLocalizedFailureReasonErrorKey] = failureReason
        return texts
    }

    /// In the words of the original, which tests and logs of programs know.
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
