// SPDX-License-Identifier: Apache-2.0
// What the user has to prove before an item opens.

@_spi(Wrappers) import KeychainKit

/// What the user has to prove before an item opens.
///
/// ```swift
/// let options = JSBiometricOptions(required: true, localizedReason: "Unlock your notes")
/// ```
///
/// An item that requires the user stays on its device, even in a keychain that is configured to synchronize.
public struct JSBiometricOptions: Hashable, Sendable {
    /// Whether the user is asked. `false` removes the requirement from an existing item.
    public let required: Bool
    /// Whether the passphrase of the keychain is accepted instead of biometry. If `false`, a sensor is required; on
    /// Linux there is none, and saving fails with `errSecNotAvailable`.
    public let fallbackToPasscode: Bool
    /// The reason that the user is shown when an existing item is overwritten.
    public let localizedReason: String

    public init(
        required: Bool = false, fallbackToPasscode: Bool = true,
        localizedReason: String = "Authenticate to use a stored secret"
    ) {
        (self.required, self.fallbackToPasscode) = (required, fallbackToPasscode)
        self.localizedReason = localizedReason
    }

    var accessControl: AccessControl.Flags {
        guard required else { return [] }
        return fallbackToPasscode ? .userPresence : .biometryCurrentSet
    }
}
