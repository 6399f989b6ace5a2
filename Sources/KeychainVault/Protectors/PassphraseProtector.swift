// SPDX-License-Identifier: Apache-2.0
// The protector for a passphrase: scrypt, with every parameter checked before it is used.

import Foundation
import KeychainCrypto
import KeychainEngine
import SecretMemory

/// Wraps under a key that scrypt (RFC 7914) derives from a passphrase.
/// Parameters: salt (32 bytes) ‖ N (8) ‖ r (4) ‖ p (4).
struct PassphraseProtector: Protector {
    static let kind = ProtectorKind(
        number: Keybag.Slot.passphraseKind, word: "passphrase", name: "passphrase", holder: .person, input: .typed,
        protectsFrom:
            "anyone who has the files but not the passphrase, if it is hard to guess; programs running "
            + "as you, while the vault is locked",
        doesNotProtectFrom: "programs running as you and root, while the vault is unlocked or you type it")

    private static let parametersLength = SlotSealing.saltLength + 16

    let passphrase: SecretBytes
    let settings: VaultSettings

    static func probe(_: ProtectorEnvironment) -> (any Protector)? { nil }

    static func make(
        _ secret: SecretBytes, _ environment: ProtectorEnvironment
    ) throws(KeychainError) -> (any Protector)? {
        do {
            return PassphraseProtector(
                passphrase: try PassphraseDerivation.normalised(secret), settings: environment.settings)
        } catch {
            throw KeychainError(
                .invalidParameter, "A passphrase is UTF-8 text of 1 to 1024 bytes. Give another one.")
        }
    }

    func wrap(_ key: SecretBytes, as id: UUID, vaultID: UUID, at date: Date) throws(KeychainError) -> Keybag.Slot {
        let salt = Data.random(count: SlotSealing.saltLength)
        let cost = try settings.scryptCost.calibrated()
        return try sealing(salt, cost)
            .wrap(key, Self.kind, as: id, parameters: Self.parameters(salt, cost), vaultID: vaultID, at: date)
    }

    func unwrap(_ slot: Keybag.Slot, vaultID: UUID) throws(KeychainError) -> SecretBytes? {
        guard slot.kind == Self.kind.number else { return nil }
        let (salt, cost) = try Self.read(slot)
        let sealing = try sealing(salt, cost)
        guard sealing.isCommitted(slot, vaultID: vaultID) else { return nil }
        return try sealing.unwrap(slot, Self.kind, vaultID: vaultID)
    }

    func shouldRewrap(_ slot: Keybag.Slot) -> Bool { Self.isWeak(slot, settings) }

    /// Whether guessing the passphrase behind a slot costs less than it should.
    static func isWeak(_ slot: Keybag.Slot, _ settings: VaultSettings) -> Bool {
        guard slot.kind == Self.kind.number else { return false }
        do {
            return try Self.read(slot).1.isBelow(settings.scryptCost.floor)
        } catch {
            return false
        }
    }

    private func sealing(_ salt: Data, _ cost: ScryptParameters) throws(KeychainError) -> SlotSealing {
        do {
            let keys = try PassphraseDerivation.keys(from: passphrase, salt: salt, cost)
            return SlotSealing(wrapping: keys.wrapping, commitment: keys.commitment)
        } catch {
            throw KeychainError(
                .unavailable,
                "The key of the passphrase could not be derived: it needs \(cost.memory >> 20) MiB of memory. Free some."
            )
        }
    }

    private static func parameters(_ salt: Data, _ cost: ScryptParameters) -> Data {
        var writer = ByteWriter(capacity: parametersLength)
        writer.append(salt)
        writer.append(bigEndian: cost.rounds)
        writer.append(bigEndian: cost.blockSize)
        writer.append(bigEndian: cost.parallelism)
        return writer.data
    }

    /// - Throws: `corrupt` for parameters that no valid slot has: they could exhaust the memory, or end the process.
    private static func read(_ slot: Keybag.Slot) throws(KeychainError) -> (Data, ScryptParameters) {
        do throws(MalformedBytes) {
            var reader = ByteReader(slot.parameters)
            let salt = try reader.bytes(SlotSealing.saltLength)
            let cost = ScryptParameters(
                rounds: try reader.number(), blockSize: try reader.number(), parallelism: try reader.number())
            guard reader.isAtEnd, cost.isAcceptable else { throw MalformedBytes() }
            return (salt, cost)
        } catch {
            throw KeychainError(
                .corrupt,
                "The passphrase's slot has invalid cost parameters. It was refused; restore a backup.")
        }
    }
}
