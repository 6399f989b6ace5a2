// SPDX-License-Identifier: Apache-2.0
// Lock states, and the accessibility classes that are open in each.

/// The lock state of a store. Each state opens everything that the previous one opens, and more.
public enum LockState: String, Sendable, CaseIterable, Comparable {
    /// Not unlocked since the system started.
    case beforeFirstUnlock
    /// Unlocked once since the system started, and locked again.
    case locked
    case unlocked

    public static func < (lhs: LockState, rhs: LockState) -> Bool { lhs.rank < rhs.rank }

    private var rank: Int {
        switch self {
        case .beforeFirstUnlock: 0
        case .locked: 1
        case .unlocked: 2
        }
    }
}

extension Accessibility {
    /// The first lock state in which items of this class can be read, added and changed (Apple's rule).
    public var opensIn: LockState {
        switch self {
        case .always, .alwaysThisDeviceOnly: .beforeFirstUnlock
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly: .locked
        case .whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly: .unlocked
        }
    }

    public func isOpen(in state: LockState) -> Bool { state >= opensIn }
}

extension KeychainError {
    /// The item, or an item that may match, belongs to a class that is locked.
    public static let locked = KeychainError(
        .locked, "The keychain is locked. Unlock it (keychainctl unlock) and try again.")
}
