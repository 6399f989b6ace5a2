// SPDX-License-Identifier: Apache-2.0
// The part that all slots share: a commitment to the secret, and the wrapped key.

import Foundation
import KeychainCrypto
import KeychainEngine
import SecretMemory

/// The two keys that a protector derives from its secret for one slot.
///
/// With a cipher that is not committing, an attacker can make one blob that opens under several secrets, which speeds
/// up guessing. Such a cipher also cannot distinguish a wrong secret from a damaged blob. So the commitment is compared
/// first.
struct SlotSealing {
    let wrapping: SecretBytes
    let commitment: SecretBytes

    init(wrapping: SecretBytes, commitment: SecretBytes) {
        self.wrapping = wrapping
        self.commitment = commitment
    }

    /// For secrets that are keys already, and need no slow derivation.
    init(_ secret: SecretBytes, salt: Data) {
        wrapping = Derivation.key(from: secret, salt: salt, .slotWrap)
        commitment = Derivation.key(from: secret, salt: salt, .slotCommitment)
    }

    static let saltLength = 32

    func wrap(
        _ key: SecretBytes, _ kind: ProtectorKind, as id: UUID, parameters: Data, vaultID: UUID, at date: Date
    ) throws(KeychainError) -> Keybag.Slot {
        var slot = Keybag.Slot(
            kind: kind.number, id: id, created: date.timeIntervalSinceReferenceDate, parameters: parameters,
            commitment: Data(), wrappedKey: Data())
        let context = slot.context(vaultID: vaultID)
        slot.commitment = Authentication.code(for: context, key: commitment)
        do {
            slot.wrappedKey = try Sealing.wrap(key, under: wrapping, context: context)
            return slot
        } catch {
            throw .refusedCipher
        }
    }

    /// Whether the slot was made with this secret.
    func isCommitted(_ slot: Keybag.Slot, vaultID: UUID) -> Bool {
        Authentication.isValid(slot.commitment, for: slot.context(vaultID: vaultID), key: commitment)
    }

    /// - Throws: `corrupt`: the commitment was checked before, so a failure to open means damage.
    func unwrap(
        _ slot: Keybag.Slot, _ kind: ProtectorKind, vaultID: UUID
    ) throws(KeychainError) -> SecretBytes {
        do {
            return try Sealing.unwrap(slot.wrappedKey, with: wrapping, context: slot.context(vaultID: vaultID))
        } catch {
            throw KeychainError(.corrupt, "A slot of the keybag (\(kind.name)) is damaged.")
        }
    }
}

/// A protector whose secret is a key already. Parameters: salt (32 bytes).
protocol KeyProtector: Protector {
    var secret: SecretBytes { get }
}

extension KeyProtector {
    func wrap(_ key: SecretBytes, as id: UUID, vaultID: UUID, at date: Date) throws(KeychainError) -> Keybag.Slot {
        let salt = Data.random(count: SlotSealing.saltLength)
        return try SlotSealing(secret, salt: salt)
            .wrap(key, Self.kind, as: id, parameters: salt, vaultID: vaultID, at: date)
    }

    func unwrap(_ slot: Keybag.Slot, vaultID: UUID) throws(KeychainError) -> SecretBytes? {
        guard slot.kind == Self.kind.number, slot.parameters.count == SlotSealing.saltLength else { return nil }
        let sealing = SlotSealing(secret, salt: slot.parameters)
        guard sealing.isCommitted(slot, vaultID: vaultID) else { return nil }
        return try sealing.unwrap(slot, Self.kind, vaultID: vaultID)
    }
}
