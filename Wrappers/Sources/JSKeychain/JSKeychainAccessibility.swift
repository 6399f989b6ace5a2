// SPDX-License-Identifier: Apache-2.0
// When items open, and what they require.

@_spi(Wrappers) import KeychainKit
@_spi(Wrappers) public import KeychainServices

/// When an item can be opened, and whether it may leave the device.
///
/// ```swift
/// try keychain.save(token, service: "com.example.app", account: "refresh", accessibility: .afterFirstUnlock)
/// ```
public enum JSKeychainAccessibility: Hashable, Sendable, CaseIterable {
    /// While the keychain is unlocked.
    case whenUnlocked
    /// From the first unlock after a restart until the next restart; for background work.
    case afterFirstUnlock
    /// The same as ``whenPasscodeSetThisDeviceOnly``.
    case whenPasscodeSet
    /// While the keychain is unlocked; never synchronized.
    case whenUnlockedThisDeviceOnly
    /// From the first unlock after a restart; never synchronized.
    case afterFirstUnlockThisDeviceOnly
    /// While the keychain is unlocked, and only as long as it has a passphrase; never synchronized. Removing the
    /// passphrase destroys the item. Without a passphrase, saving fails with `errSecNotAvailable`.
    case whenPasscodeSetThisDeviceOnly

    /// The constant of Keychain Services (`kSecAttrAccessible…`).
    public var cfString: CFString {
        switch self {
        case .whenUnlocked: kSecAttrAccessibleWhenUnlocked
        case .afterFirstUnlock: kSecAttrAccessibleAfterFirstUnlock
        case .whenUnlockedThisDeviceOnly: kSecAttrAccessibleWhenUnlockedThisDeviceOnly
        case .afterFirstUnlockThisDeviceOnly: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
        case .whenPasscodeSet, .whenPasscodeSetThisDeviceOnly: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly
        }
    }

    var accessibility: Accessibility {
        switch self {
        case .whenUnlocked: .whenUnlocked
        case .afterFirstUnlock: .afterFirstUnlock
        case .whenUnlockedThisDeviceOnly: .whenUnlockedThisDeviceOnly
        case .afterFirstUnlockThisDeviceOnly: .afterFirstUnlockThisDeviceOnly
        case .whenPasscodeSet, .whenPasscodeSetThisDeviceOnly: .whenPasscodeSetThisDeviceOnly
        }
    }
}
