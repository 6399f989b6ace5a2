// SPDX-License-Identifier: Apache-2.0
// What a person has to prove before a value is read.

@_spi(Wrappers) import KeychainKit

/// What a person has to prove before a value is read.
///
/// ```swift
/// let control = SecureEnclaveAccessControl.userPresence
/// ```
///
/// On Linux only the passphrase can be asked for: storing what asks for biometry alone fails.
public enum SecureEnclaveAccessControl: Int, CaseIterable, CustomStringConvertible, Equatable, Sendable {
    /// Biometry or the passphrase.
    case userPresence = 1
    /// A finger or a face, also one that was added later.
    case biometricAny
    /// A finger or a face that was there when the item was stored.
    case biometricCurrentSet
    /// The passphrase.
    case devicePasscode

    /// As it stands at the end of the services of items; empty for ``userPresence``, which is older than the others.
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
