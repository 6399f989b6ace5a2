// SPDX-License-Identifier: Apache-2.0
// Comparing protections, so that a kept version never has less than the item.

import KeychainEngine
import KeychainKit

extension AccessControl {
    /// The conditions of both. Of two requirements for the user, which one proof meets, its own.
    func strengthened(by other: AccessControl) throws(KeychainError) -> AccessControl {
        let accessibility = accessibility.strengthened(by: other.accessibility)
        let missing = other.needs.subtracting(needs)
        guard var flags = needs.isEmpty ? other.flags ?? flags : flags else { return AccessControl(accessibility) }
        if missing.contains(.user) { flags.formUnion(other.flags ?? []) }
        if missing.contains(.applicationPassword) { flags.insert(.applicationPassword) }
        return try AccessControl(accessibility, flags: flags)
    }
}

extension Accessibility {
    fileprivate func strengthened(by other: Accessibility) -> Accessibility {
        let isBound = isOfThisDevice || other.isOfThisDevice
        return switch max(rank, other.rank) {
        case 0: isBound ? .alwaysThisDeviceOnly : .always
        case 1: isBound ? .afterFirstUnlockThisDeviceOnly : .afterFirstUnlock
        case 2: isBound ? .whenUnlockedThisDeviceOnly : .whenUnlocked
        default: .whenPasscodeSetThisDeviceOnly
        }
    }

    private var rank: Int {
        switch self {
        case .always, .alwaysThisDeviceOnly: 0
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly: 1
        case .whenUnlocked, .whenUnlockedThisDeviceOnly: 2
        case .whenPasscodeSetThisDeviceOnly: 3
        }
    }

    private var isOfThisDevice: Bool {
        switch self {
        case .always, .afterFirstUnlock, .whenUnlocked: false
        case .alwaysThisDeviceOnly, .afterFirstUnlockThisDeviceOnly, .whenUnlockedThisDeviceOnly,
            .whenPasscodeSetThisDeviceOnly:
            true
        }
    }
}
