// SPDX-License-Identifier: Apache-2.0
// When the items of a valet can be opened.

@_spi(Wrappers) import KeychainKit

/// When the items of a valet can be opened. It is part of the valet's name: see ``Valet/Valet`` for how to change it.
///
/// ```swift
/// let names = Accessibility.allCases.map(\.description)
/// ```
public enum Accessibility: Int, CaseIterable, CustomStringConvertible, Equatable, Sendable {
    /// While the keychain is unlocked.
    case whenUnlocked = 1
    /// After the first unlock since the machine started.
    case afterFirstUnlock = 2
    /// While the keychain is unlocked and has a passphrase, on this machine only. Removing the passphrase removes the
    /// items.
    case whenPasscodeSetThisDeviceOnly = 4
    /// While the keychain is unlocked, on this machine only.
    case whenUnlockedThisDeviceOnly = 5
    /// After the first unlock since the machine started, on this machine only.
    case afterFirstUnlockThisDeviceOnly = 6

    /// The text in the service of items, for instance `AccessibleWhenUnlocked`.
    public var description: String {
        switch self {
        case .whenUnlocked: "AccessibleWhenUnlocked"
        case .afterFirstUnlock: "AccessibleAfterFirstUnlock"
        case .whenPasscodeSetThisDeviceOnly: "AccessibleWhenPasscodeSetThisDeviceOnly"
        case .whenUnlockedThisDeviceOnly: "AccessibleWhenUnlockedThisDeviceOnly"
        case .afterFirstUnlockThisDeviceOnly: "AccessibleAfterFirstUnlockThisDeviceOnly"
        }
    }

    /// The text of the constant for `kSecAttrAccessible`.
    public var secAccessibilityAttribute: String { ofKeychainKit.rawValue }

    var ofKeychainKit: KeychainKit.Accessibility {
        switch self {
        case .whenUnlocked: .whenUnlocked
        case .afterFirstUnlock: .afterFirstUnlock
        case .whenPasscodeSetThisDeviceOnly: .whenPasscodeSetThisDeviceOnly
        case .whenUnlockedThisDeviceOnly: .whenUnlockedThisDeviceOnly
        case .afterFirstUnlockThisDeviceOnly: .afterFirstUnlockThisDeviceOnly
        }
    }
}

/// When the items of a synchronized valet can be opened. Items that are bound to one machine cannot be synchronized.
///
/// ```swift
/// let accessibility = CloudAccessibility.whenUnlocked.accessibility
/// ```
public enum CloudAccessibility: Int, CaseIterable, CustomStringConvertible, Equatable, Sendable {
    /// While the keychain is unlocked.
    case whenUnlocked = 1
    /// After the first unlock since the machine started.
    case afterFirstUnlock = 2

    public var description: String { accessibility.description }

    /// The corresponding accessibility of valets in general.
    public var accessibility: Accessibility {
        switch self {
        case .whenUnlocked: .whenUnlocked
        case .afterFirstUnlock: .afterFirstUnlock
        }
    }

    /// The text of the constant for `kSecAttrAccessible`.
    public var secAccessibilityAttribute: String { accessibility.secAccessibilityAttribute }
}
