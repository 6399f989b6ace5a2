// SPDX-License-Identifier: Apache-2.0
// What may change a keybag.

import Foundation
import SecretMemory

/// The authority to change a keybag: its root key, and the user key if the user has proven their identity.
struct Authority {
    let rootKey: SecretBytes
    let userKey: SecretBytes?
    /// The device key that the vault is bound to; `nil` if it is not on this machine.
    let deviceKey: DeviceKey?
    let wrappingKeys: WrappingKeys
    /// The slot that was opened; `nil` for keys that this process has made itself.
    private(set) var slot: Keybag.Slot?

    init(
        rootKey: SecretBytes, userKey: SecretBytes?, deviceKey: DeviceKey?, otherDeviceKey: DeviceKey? = nil,
        vaultID: UUID
    ) {
        self.rootKey = rootKey
        self.userKey = userKey
        self.deviceKey = deviceKey
        wrappingKeys = WrappingKeys(
            rootKey: rootKey, deviceKey: deviceKey, otherDeviceKey: otherDeviceKey, vaultID: vaultID)
    }

    func opened(_ slot: Keybag.Slot) -> Authority {
        var authority = self
        authority.slot = slot
        return authority
    }
}

extension Keybag {
    /// Whether the classes for this device are bound to this device key; always the case in format 1.
    func isBound(to deviceKey: DeviceKey?) -> Bool {
        always == nil || always?.deviceKeyID == deviceKey?.id
    }
}
