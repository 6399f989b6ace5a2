// SPDX-License-Identifier: Apache-2.0
// What the user has to prove before a value is read.

@_spi(Wrappers) import KeychainKit

/// What the user has to prove before a value is read.
///
/// ```swift
/// let control = SecureEnclaveAccessControl.userPresence
/// ```
///
/// On Linux the user can only be asked for the passphrase. Storing an item that requires biometry alone fails.
public enum SecureEnclaveAccessControl: Int, CaseIterable, CustomStringConvertible, Equatable, Sendable {
    /// Biometry or the passphrase.
    case userPresence = 1
    /// A fingerprint or a face, including one that was added later.
    case biometricAny
    /// A fingerprint or a face that was enrolled when the item was stored.
    case biometricCurrentSet
    /// The passphrase.
    case devicePasscode

    /// The text at the end of the service of items; empty for ``userPresence``, which is older than the others.
    public var description: String {
        switch self {
        case .userPresence: ""
        case .biometricAny: "_AccessControlTouchIDAnyFingerprint"
        case .biometricCurrentSet: "_AccessControlTouchIDCurrentFingerprintSet"
        case .devicePasscode: "_AccessControlDevicePasscode"
        }
    }

    var flags: AccessControl.Flags {
        switch self {
        case .userPresence: .userPresence
        case .biometricAny: .biometryAny
        case .biometricCurrentSet: .biometryCurrentSet
        case .devicePasscode: .devicePasscode
        }
    }
}
