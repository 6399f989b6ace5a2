// SPDX-License-Identifier: Apache-2.0
// What can open a slot of the keybag.

import Foundation
import KeychainEngine
import SecretMemory

/// Wraps a key into a slot of the keybag with a secret, and unwraps it again.
///
/// To add a kind, add a type and one entry in ``Protectors/all``.
protocol Protector: Sendable {
    static var kind: ProtectorKind { get }

    /// A protector that opens slots without a prompt; `nil` if there is none on this machine. Only kinds whose secret is found
    /// are asked when the vault is opened; others when they are named.
    ///
    /// - Throws: The reason why an existing one cannot be used.
    static func probe(_ environment: ProtectorEnvironment) throws(KeychainError) -> (any Protector)?

    /// A protector for a given secret; `nil` if this kind takes none.
    ///
    /// - Throws: `invalidParameter` if the secret cannot be one of this kind.
    static func make(
        _ secret: SecretBytes, _ environment: ProtectorEnvironment
    ) throws(KeychainError) -> (any Protector)?

    /// - Parameter id: The slot's identity, to which the wrap is bound.
    /// - Returns: A slot that holds the key.
    func wrap(_ key: SecretBytes, as id: UUID, vaultID: UUID, at date: Date) throws(KeychainError) -> Keybag.Slot

    /// A slot for another key in place of one that this protector opens.
    ///
    /// - Throws: `ofAnotherDevice` if other hardware than that of the old slot would open the new one.
    func rewrap(
        _ slot: Keybag.Slot, around key: SecretBytes, vaultID: UUID, at date: Date
    ) throws(KeychainError) -> Keybag.Slot

    /// - Returns: The key; `nil` if the slot was made by another kind of protector or another secret of the same kind: "not
    ///   mine".
    /// - Throws: `corrupt` if the slot is this protector's and damaged.
    func unwrap(_ slot: Keybag.Slot, vaultID: UUID) throws(KeychainError) -> SecretBytes?

    /// Whether the slot is weaker than this protector would make it now.
    func shouldRewrap(_ slot: Keybag.Slot) -> Bool
}

extension Protector {
    func shouldRewrap(_: Keybag.Slot) -> Bool { false }

    func rewrap(
        _ slot: Keybag.Slot, around key: SecretBytes, vaultID: UUID, at date: Date
    ) throws(KeychainError) -> Keybag.Slot {
        try wrap(key, as: slot.id, vaultID: vaultID, at: date)
    }

    /// A new slot that holds the key.
    func wrap(_ key: SecretBytes, vaultID: UUID, at date: Date) throws(KeychainError) -> Keybag.Slot {
        try wrap(key, as: .random(), vaultID: vaultID, at: date)
    }
}

/// The environment in which protectors find their secret.
struct ProtectorEnvironment: Sendable {
    let location: VaultLocation
    /// `nil` if there is none.
    let deviceKey: DeviceKey?
    let settings: VaultSettings

    init(location: VaultLocation, deviceKey: DeviceKey?, settings: VaultSettings) {
        (self.location, self.deviceKey, self.settings) = (location, deviceKey, settings)
    }

    /// - Parameter canDoWithoutDeviceKey: Whether a damaged device key counts as none: a passphrase must work without a
    ///   file that it does not need. `doctor` reports the damage.
    init(
        _ location: VaultLocation, _ settings: VaultSettings, canDoWithoutDeviceKey: Bool
    ) throws(KeychainError) {
        do throws(KeychainError) {
            self.init(
                location: location, deviceKey: try DeviceKey.load(location.deviceKeyFile), settings: settings)
        } catch {
            guard error.reason == .corrupt, canDoWithoutDeviceKey else { throw error }
            self.init(location: location, deviceKey: nil, settings: settings)
        }
    }
}
