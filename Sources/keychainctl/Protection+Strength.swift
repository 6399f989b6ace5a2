// SPDX-License-Identifier: Apache-2.0
// Comparing protections, so that a kept version never has less than the item.

import KeychainEngine
import KeychainKit

extension AccessControl {
    /// The conditions of both, as far as they concern when items open; its own requirements for the user, else the other
    /// ones.
    func strengthened(by other: AccessControl) throws(KeychainError) -> AccessControl {
        let accessibility = accessibility.strengthened(by: other.accessibility)
        guard let flags = needs.isEmpty ? other.flags ?? flags : flags else { return AccessControl(accessibility) }
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
