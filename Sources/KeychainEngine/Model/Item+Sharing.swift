// SPDX-License-Identifier: Apache-2.0
// Which items reach other machines.

extension Item {
    /// Whether the item is shared with the other machines of a ring.
    ///
    /// The one rule that decides it: the item is synchronizable, is not bound to this machine, and can be used without asking the
    /// user. Everything else never leaves the machine, and is not accepted from another one either.
    public var isShared: Bool {
        guard case .number(let number) = attributes[.synchronizable], number != 0, !isOnToken else { return false }
        return accessControl.flags == nil
            && (Accessibility.whenUnlocked.number...Accessibility.always.number)
                .contains(accessControl.accessibility.number)
    }
}
