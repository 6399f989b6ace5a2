// SPDX-License-Identifier: Apache-2.0
// The protector behind the device key.

import Foundation
import KeychainCrypto
import KeychainEngine
import SecretMemory

/// Wraps the root key under a key derived from the device key. Parameters: salt (32 bytes) ‖ device key id (16).
struct DeviceKeyProtector: Protector {
    static let kind = ProtectorKind.deviceKey
    private static let saltLength = 32

    let deviceKey: DeviceKey

    func wrap(_ rootKey: SecretBytes, vaultID: UUID, at date: Date) throws(KeychainFailure) -> Keybag.Slot {
        let salt = Data.random(count: Self.saltLength)
        var slot = Keybag.Slot(
            kind: Self.kind.rawValue, id: UUID(), created: date.timeIntervalSinceReferenceDate,
            parameters: salt + deviceKey.id.bytes, commitment: Data(), wrappedRootKey: Data())
        let context = slot.context(vaultID: vaultID)
        slot.commitment = Authentication.code(for: context, key: key(.slotCommitment, salt: salt))
        do {
            slot.wrappedRootKey = try Sealing.wrap(rootKey, under: key(.slotWrap, salt: salt), context: context)
        } catch {
            throw KeychainFailure(.unavailable, "The system's cipher refused to wrap a key.")
        }
        return slot
    }

    func unwrap(_ slot: Keybag.Slot, vaultID: UUID) throws(KeychainFailure) -> SecretBytes? {
        guard slot.kind == Self.kind.rawValue, slot.parameters.count == Self.saltLength + 16 else { return nil }
        guard slot.parameters.suffix(16) == deviceKey.id.bytes else { return nil }
        let salt = Data(slot.parameters.prefix(Self.saltLength))
        let context = slot.context(vaultID: vaultID)
        let commitmentKey = key(.slotCommitment, salt: salt)
        do {
            // The id says that the slot is ours, so what does not fit now is damage and not a wrong key.
            guard Authentication.isValid(slot.commitment, for: context, key: commitmentKey) else {
                throw CipherFailure()
            }
            return try Sealing.unwrap(slot.wrappedRootKey, with: key(.slotWrap, salt: salt), context: context)
        } catch {
            throw KeychainFailure(.corrupt, "The slot of the device key is damaged.")
        }
    }

    private func key(_ purpose: Derivation.Purpose, salt: Data) -> SecretBytes {
        Derivation.key(from: deviceKey.secret, salt: salt, purpose)
    }
}
