// SPDX-License-Identifier: Apache-2.0
// The protector for a secret that a TPM keeps.

import Foundation
import KeychainCrypto
import KeychainEngine
import SecretMemory

/// Wraps under a key derived from 32 random bytes that the TPM sealed.
/// Parameters: salt (32 bytes) ‖ whether there is a PIN (1) ‖ sealed bytes.
///
/// The TPM is only asked when it is named: it takes too long for each process that opens the vault.
struct TPMProtector: Protector {
    static let kind = ProtectorKind(
        number: 6, word: "tpm2", name: "TPM", holder: .machine, input: .sealed,
        protectsFrom:
            "anyone who has the files or the disk but not this machine; with a PIN also anyone who has the machine but not the PIN",
        doesNotProtectFrom:
            "without a PIN: programs running as you, root, and anyone who starts a program on this machine; with a PIN: "
            + "programs running as you and root, while the vault is unlocked or you type it")

    let sealer: any SecretSealer
    let pin: SecretBytes?

    static func probe(_ environment: ProtectorEnvironment) throws(KeychainError) -> (any Protector)? {
        TPMProtector(sealer: try sealer(environment), pin: nil)
    }

    /// - Parameter secret: The PIN.
    static func make(
        _ secret: SecretBytes, _ environment: ProtectorEnvironment
    ) throws(KeychainError) -> (any Protector)? {
        TPMProtector(sealer: try sealer(environment), pin: try normalised(secret))
    }

    /// As a passphrase, so that the same PIN typed on another keyboard costs no try. Bytes that are not text stay as they are.
    private static func normalised(_ pin: SecretBytes) throws(KeychainError) -> SecretBytes {
        do throws(PassphraseFailure) {
            return try PassphraseDerivation.normalised(pin)
        } catch {
            guard case .notText = error, pin.count <= longestPIN else {
                throw KeychainError(.invalidParameter, "A PIN has 1 to \(longestPIN) bytes. Give another one.")
            }
            return pin
        }
    }

    private static let longestPIN = 1024

    private static func sealer(_ environment: ProtectorEnvironment) throws(KeychainError) -> any SecretSealer {
        guard let sealer = environment.settings.sealer else {
            throw KeychainError(
                .unavailable,
                "This program does not use TPMs. Use another protector, or a program that was built with the trait TPM."
            )
        }
        return sealer
    }

    func wrap(_ key: SecretBytes, as id: UUID, vaultID: UUID, at date: Date) throws(KeychainError) -> Keybag.Slot {
        try wrap(key, as: id, vaultID: vaultID, at: date, like: nil)
    }

    /// In the same TPM. Another one could be put in its place between the two, and would learn the new secret.
    func rewrap(
        _ slot: Keybag.Slot, around key: SecretBytes, vaultID: UUID, at date: Date
    ) throws(KeychainError) -> Keybag.Slot {
        try wrap(key, as: slot.id, vaultID: vaultID, at: date, like: Self.object(slot))
    }

    /// - Parameter sibling: What the TPM must have sealed; `nil`: any TPM is good enough.
    private func wrap(
        _ key: SecretBytes, as id: UUID, vaultID: UUID, at date: Date, like sibling: Data?
    ) throws(KeychainError) -> Keybag.Slot {
        let (salt, secret) = (Data.random(count: SlotSealing.saltLength), SecretBytes.random(count: Self.secretLength))
        let object = try sealer.seal(secret, pin: pin, like: sibling)
        guard object.count <= Self.longestObject else {
            throw KeychainError(
                .unsupported,
                "What the TPM has sealed has \(object.count) bytes, which is more than the maximum of \(Self.longestObject)."
            )
        }
        return try SlotSealing(secret, salt: salt).wrap(
            key, Self.kind, as: id, parameters: salt + [pin == nil ? 0 : 1] + object, vaultID: vaultID, at: date)
    }

    func unwrap(_ slot: Keybag.Slot, vaultID: UUID) throws(KeychainError) -> SecretBytes? {
        guard slot.kind == Self.kind.number, slot.parameters.count > Self.objectStart else { return nil }
        let secret = try sealer.unseal(Self.object(slot), pin: pin)
        let sealing = SlotSealing(secret, salt: Data(slot.parameters.prefix(SlotSealing.saltLength)))
        // Only the slot's own secret is sealed in it, so a mismatch of the commitment means damage.
        guard secret.count == Self.secretLength, sealing.isCommitted(slot, vaultID: vaultID) else {
            throw KeychainError(.corrupt, "The slot of the TPM is damaged.")
        }
        return try sealing.unwrap(slot, Self.kind, vaultID: vaultID)
    }

    private static let secretLength = 32
    private static let objectStart = SlotSealing.saltLength + 1
    /// With the salt it is less than a keybag's slot can hold.
    private static let longestObject = 4000

    private static func object(_ slot: Keybag.Slot) -> Data { Data(slot.parameters.dropFirst(objectStart)) }

    /// Whether the slot needs a PIN.
    static func needsPIN(_ slot: Keybag.Slot) -> Bool {
        slot.kind == kind.number && slot.parameters.dropFirst(SlotSealing.saltLength).first == 1
    }
}

extension Keybag {
    private var hasTPM: Bool { slots.contains { $0.kind == TPMProtector.kind.number } }

    /// Checks that a slot of a TPM may be added.
    ///
    /// - Throws: `unsupported`
    func checkMayAddTPM() throws(KeychainError) {
        guard hasPerson else { throw .loneTPM }
        guard !hasTPM else {
            throw KeychainError(
                .unsupported,
                "There is a protector of a TPM already. To replace it: keychainctl protect change tpm2. If that TPM was "
                    + "cleared or is gone: keychainctl protect remove tpm2")
        }
    }

    /// Checks that the keybag has another way to open it than a TPM.
    ///
    /// - Throws: `unsupported`
    func checkTPMIsNotAlone() throws(KeychainError) {
        guard !hasTPM || hasPerson else {
            throw KeychainError(
                .unsupported,
                "The protector was not removed: beside a TPM, which can be cleared or break, the vault needs a passphrase or a "
                    + "recovery key. Add another one, or remove the TPM first: keychainctl protect remove tpm2")
        }
    }
}

extension KeychainError {
    static let loneTPM = KeychainError(
        .unsupported,
        "A TPM can be cleared or break. Add a passphrase or a recovery key first: keychainctl protect add recovery-key")
}
