// SPDX-License-Identifier: Apache-2.0
// The protector for the device key.

import Foundation
import KeychainCrypto
import KeychainEngine
import SecretMemory

/// Wraps under a key derived from the device key. Parameters: salt (32 bytes) ‖ device key id (16).
struct DeviceKeyProtector: Protector {
    static let kind = ProtectorKind(
        number: 1, word: "device-key", name: "device key", holder: .machine, input: .found,
        protectsFrom:
            "other users of this machine; anyone who gets a copy of the vault folder without the device key",
        doesNotProtectFrom:
            "anyone who can also read the device key: programs running as you, root, anyone with your unencrypted disk "
            + "or a backup of your whole home folder")

    let deviceKey: DeviceKey

    static func probe(_ environment: ProtectorEnvironment) -> (any Protector)? {
        environment.deviceKey.map { DeviceKeyProtector(deviceKey: $0) }
    }

    static func make(_: SecretBytes, _: ProtectorEnvironment) -> (any Protector)? { nil }

    func wrap(_ key: SecretBytes, as id: UUID, vaultID: UUID, at date: Date) throws(KeychainError) -> Keybag.Slot {
        let salt = Data.random(count: SlotSealing.saltLength)
        return try SlotSealing(deviceKey.secret, salt: salt)
            .wrap(key, Self.kind, as: id, parameters: salt + deviceKey.id.bytes, vaultID: vaultID, at: date)
    }

    /// Whether a slot was made with this key.
    func isMaker(of slot: Keybag.Slot) -> Bool {
        slot.kind == Self.kind.number && slot.parameters.count == SlotSealing.saltLength + 16
            && slot.parameters.suffix(16) == deviceKey.id.bytes
    }

    func unwrap(_ slot: Keybag.Slot, vaultID: UUID) throws(KeychainError) -> SecretBytes? {
        guard isMaker(of: slot) else { return nil }
        let sealing = SlotSealing(deviceKey.secret, salt: Data(slot.parameters.prefix(SlotSealing.saltLength)))
        // The ID matches, so a mismatch of the commitment means damage and not a wrong key.
        guard sealing.isCommitted(slot, vaultID: vaultID) else {
            throw KeychainError(.corrupt, "The slot of the device key is damaged.")
        }
        return try sealing.unwrap(slot, Self.kind, vaultID: vaultID)
    }
}
