// SPDX-License-Identifier: Apache-2.0
// What can open a slot of the keybag.

import Foundation
import KeychainEngine
import SecretMemory

/// A holder of a secret that wraps a key into a slot of the keybag and gets it out again.
///
/// The next kind is a type of its own and one entry in ``Protectors/all``.
protocol Protector: Sendable {
    static var kind: ProtectorKind { get }

    /// One that opens slots without anybody being asked; `nil` if there is none here.
    ///
    /// - Throws: What keeps one from being used that is there.
    static func probe(_ surroundings: Surroundings) throws(KeychainError) -> (any Protector)?

    /// One around a secret that was given; `nil` if this kind takes none.
    ///
    /// - Throws: `invalidParameter` if the secret cannot be one of this kind.
    static func make(_ secret: SecretBytes, _ surroundings: Surroundings) throws(KeychainError) -> (any Protector)?

    /// - Parameter id: The slot's identity, to which the wrap is bound.
    /// - Returns: A slot that holds the key.
    func wrap(_ key: SecretBytes, as id: UUID, vaultID: UUID, at date: Date) throws(KeychainError) -> Keybag.Slot

    /// - Returns: The key; `nil` if the slot was made by another kind of protector or another secret of the same kind: "not
    ///   mine".
    /// - Throws: `corrupt` if the slot is this protector's and damaged.
    func unwrap(_ slot: Keybag.Slot, vaultID: UUID) throws(KeychainError) -> SecretBytes?

    /// Whether the slot is weaker than this protector would make it now.
    func shouldRewrap(_ slot: Keybag.Slot) -> Bool
}

extension Protector {
    func shouldRewrap(_: Keybag.Slot) -> Bool { false }

    /// A new slot that holds the key.
    func wrap(_ key: SecretBytes, vaultID: UUID, at date: Date) throws(KeychainError) -> Keybag.Slot {
        try wrap(key, as: UUID(), vaultID: vaultID, at: date)
    }
}

/// What protectors may look at to find their secret.
struct Surroundings: Sendable {
    let location: VaultLocation
    /// `nil` if there is none.
    let deviceKey: DeviceKey?
    let settings: VaultSettings

    init(location: VaultLocation, deviceKey: DeviceKey?, settings: VaultSettings) {
        (self.location, self.deviceKey, self.settings) = (location, deviceKey, settings)
    }

    /// - Parameter canDoWithoutDeviceKey: Whether a damaged device key is as good as none: a passphrase must not be of no use
    ///   because of a file that it does not need. Doctor tells of the damage.
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

/// The registration table.
enum Protectors {
    static let all: [any Protector.Type] = [
        DeviceKeyProtector.self, PassphraseProtector.self, RecoveryKeyProtector.self, CredentialProtector.self,
        KeyFileProtector.self,
    ]

    /// Those that open slots without anybody being asked.
    static func atHand(_ surroundings: Surroundings) throws(KeychainError) -> [any Protector] {
        var found: [any Protector] = []
        for type in all {
            if let protector = try type.probe(surroundings) { found.append(protector) }
        }
        return found
    }

    static func type(_ kind: ProtectorKind) -> (any Protector.Type)? { all.first { $0.kind == kind } }
}
