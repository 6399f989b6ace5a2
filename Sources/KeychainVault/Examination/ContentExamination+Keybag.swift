// SPDX-License-Identifier: Apache-2.0
// How a vault is set up: what opens it, and what that is worth.

import KeychainEngine

extension ContentExamination {
    mutating func checkSetUp(_ keybag: Keybag) {
        let kinds = keybag.slots.compactMap { ProtectorKind(number: $0.kind) }
        noteUnknown(keybag.slots.count - kinds.count)
        guard !kinds.isEmpty else { return }
        if kinds.contains(.deviceKey) {
            note("set-up", .warning, Self.deviceKeyAdvice(kinds))
        } else {
            let names = Set(kinds.map(\.name)).sorted().joined(separator: ", ")
            note("set-up", .ok, "The vault opens with: \(names).")
        }
        if kinds.contains(.passphrase), !kinds.contains(.recoveryKey) {
            note(
                "recovery", .warning,
                "There is no recovery key: with the passphrase forgotten, what it guards is lost. "
                    + "Run: keychainctl protect add recovery-key")
        }
        if keybag.slots.contains(where: { PassphraseProtector.isWeak($0, settings) }) {
            note(
                "passphrase-cost", .warning,
                "Guessing the passphrase costs less than it should. The next `keychainctl unlock` with it mends that.")
        }
    }

    private static func deviceKeyAdvice(_ kinds: [ProtectorKind]) -> String {
        let others = kinds.contains { $0 != .deviceKey }
        return "The device key opens the vault without anybody being asked"
            + (others ? ", so the other ways add no protection. " : ". ")
            + "Whoever can read it has everything: programs that run as you, and whoever gets an unencrypted disk or a "
            + "backup of the home folder. To be asked instead, run: "
            + (others ? "" : "keychainctl protect add passphrase; ") + "keychainctl protect remove device-key"
    }

    private mutating func noteUnknown(_ count: Int) {
        guard count > 0 else { return }
        note(
            "set-up", .warning,
            "\(count) ways to open the vault were made by a newer version. Use that to see what they are.")
    }

    mutating func checkBinding(_ keybag: Keybag) {
        if keybag.isBound(to: deviceKey) { return }
        note(
            "device-binding", .warning,
            deviceKey == nil
                ? "The device key that this vault belongs to is not here, so items for that device alone stay closed. Restore "
                    + "it. If it is lost, bind the vault to this device; those items are kept: keychainctl protect adopt"
                : "This vault belongs to another device key than the one here, so items for that device alone stay closed. "
                    + "Put that key in its place, or bind the vault to this device; those items are kept: "
                    + "keychainctl protect adopt")
    }

    mutating func checkRotation(_ keybag: Keybag, _ table: ItemTable) throws {
        let pending = keybag.pendingRotation(try table.keyUse())
        guard !pending.isEmpty else { return }
        let waiting = pending.filter { Accessibility(number: $0.key)?.isThisDeviceOnly == true }.values.reduce(0, +)
        let isHere = keybag.isBound(to: deviceKey) && deviceKey != nil
        note(
            "rotation", .warning,
            "A rotation of the class keys has not ended; items still under the old keys: \(pending.values.reduce(0, +)). "
                + (waiting > 0 && !isHere
                    ? "Of these, \(waiting) take the device key that the vault is bound to: put it in its place, then run: "
                    : "Run: ") + "keychainctl rotate")
    }
}
