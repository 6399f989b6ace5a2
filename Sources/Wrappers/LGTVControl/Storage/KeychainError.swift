// SPDX-License-Identifier: Apache-2.0
// What a keychain manager throws.

public import Foundation
import KeychainKit
public import KeychainServices

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

    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: sentence] }
    public var errorDescription: String? { sentence }

    private var sentence: String {
        switch self {
        case .unexpectedStatus(let status):
            "Keychain Error: \(status). \(SecCopyErrorMessageString(status, nil).map { "\($0)" } ?? "")"
        case .encodingFailed: "The value could not be encoded as JSON, or is not what it was read as."
        }
    }
}

extension KeychainError {
    init(_ failure: KeychainKit.KeychainError) { self = .unexpectedStatus(failure.status) }
}
