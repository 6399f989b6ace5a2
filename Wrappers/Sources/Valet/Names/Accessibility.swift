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
    /// Once the keychain was unlocked after the machine has started.
    case afterFirstUnlock = 2
    /// While the keychain is unlocked, a passphrase is set, and on this machine only. They are gone when the passphrase is.
    case whenPasscodeSetThisDeviceOnly = 4
    /// While the keychain is unlocked, on this machine only.
    case whenUnlockedThisDeviceOnly = 5
    /// Once the keychain was unlocked after the machine has started, on this machine only.
    case afterFirstUnlockThisDeviceOnly = 6

    /// As it stands in the services of items, for instance `AccessibleWhenUnlocked`.
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

/// When the items of a valet can be opened that take part in synchronization: what is bound to one machine cannot.
///
/// ```swift
/// let accessibility = CloudAccessibility.whenUnlocked.accessibility
/// ```
public enum CloudAccessibility: Int, CaseIterable, CustomStringConvertible, Equatable, Sendable {
    /// While the keychain is unlocked.
    case whenUnlocked = 1
    /// Once the keychain was unlocked after the machine has started.
    case afterFirstUnlock = 2

    public var description: String { accessibility.description }

    /// The same for valets in general.
    public var accessibility: Accessibility {
        switch self {
        case .whenUnlocked: .whenUnlocked
        case .afterFirstUnlock: .afterFirstUnlock
        }
    }

    /// The text of the constant for `kSecAttrAccessible`.
    public var secAccessibilityAttribute: String { accessibility.secAccessibilityAttribute }
}
