// SPDX-License-Identifier: Apache-2.0
// What can open a slot of the keybag.

import Foundation
import KeychainEngine
import SecretMemory

/// A holder of a secret that wraps the keybag's root key into a slot and gets it out again.
protocol Protector: Sendable {
    static var kind: ProtectorKind { get }

    func wrap(_ rootKey: SecretBytes, vaultID: UUID, at date: Date) throws(KeychainFailure) -> Keybag.Slot

    /// - Returns: `nil` if the slot was made by another kind of protector or another secret of the same kind: "not mine".
    /// - Throws: `corrupt` if the slot is this protector's and damaged.
    func unwrap(_ slot: Keybag.Slot, vaultID: UUID) throws(KeychainFailure) -> SecretBytes?
}

/// The kinds of protectors and their numbers in the format.
public enum ProtectorKind: UInt8, Sendable, CaseIterable {
    case deviceKey = 1

    /// What people call it.
    public var name: String {
        switch self {
        case .deviceKey: "device key"
        }
    }

    /// Who is kept out while the vault has a slot of this kind, in plain words.
    public var protectsFrom: String {
        switch self {
        case .deviceKey: "other users of this machine; whoever gets a copy of the vault folder without the device key"
        }
    }

    /// Who is not.
    public var doesNotProtectFrom: String {
        switch self {
        case .deviceKey:
            "whoever can read the device key too: programs running as you, root, a stolen unencrypted disk, "
                + "a backup of your whole home folder"
        }
    }
}
