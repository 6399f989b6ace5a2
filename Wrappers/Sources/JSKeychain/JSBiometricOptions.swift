// SPDX-License-Identifier: Apache-2.0
// What is asked of the user before an item opens.

@_spi(Wrappers) import KeychainKit

/// What is asked of the user before an item opens.
///
/// ```swift
/// let options = JSBiometricOptions(required: true, localizedReason: "Unlock your notes")
/// ```
///
/// An item that asks stays on its device, whatever the keychain is configured for.
public struct JSBiometricOptions: Hashable, Sendable {
    /// Whether the user is asked; `false` takes it off an item that does.
    public let required: Bool
    /// Whether the passphrase of the keychain is as good as a finger or a face. Without it there has to be a sensor; where
    /// there is none, as on Linux, saving is `errSecNotAvailable`.
    public let fallbackToPasscode: Bool
    /// What the user is told that they are asked for while an item is saved over.
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
