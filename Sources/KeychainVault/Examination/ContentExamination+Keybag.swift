// SPDX-License-Identifier: Apache-2.0
// The setup of a vault: its protectors, and what they protect from.

import KeychainEngine

extension ContentExamination {
    mutating func checkSetUp(_ keybag: Keybag) {
        let kinds = keybag.slots.compactMap { ProtectorKind(number: $0.kind) }
        noteUnknown(keybag.slots.count - kinds.count)
        let others = Set(kinds.filter { $0 != .deviceKey }.map(\.name))
        if opensByDeviceKey(keybag) {
            note("set-up", .warning, Self.deviceKeyAdvice(kinds))
        } else if !others.isEmpty {
            note("set-up", .ok, "The vault opens with: \(others.sorted().joined(separator: ", ")).")
        }
        if kinds.contains(.passphrase), !kinds.contains(.recoveryKey) {
            note(
                "recovery", .warning,
                "There is no recovery key: if you forget the passphrase, the items that it protects are lost. "
                    + "Run: keychainctl protect add recovery-key")
        }
        if keybag.slots.contains(where: { PassphraseProtector.isWeak($0, settings) }) {
            note(
                "passphrase-cost", .warning,
                "Guessing the passphrase costs less than it should. The next `keychainctl unlock` with it repairs that."
            )
        }
    }

    /// Whether the device key that is there opens the vault. It may be missing, or that of another vault.
    private func opensByDeviceKey(_ keybag: Keybag) -> Bool {
        guard case .success(let key?) = deviceKey else { return false }
        return keybag.slots.contains(where: DeviceKeyProtector(deviceKey: key).isMaker)
    }

    private static func deviceKeyAdvice(_ kinds: [ProtectorKind]) -> String {
        let others = kinds.contains { $0 != .deviceKey }
        let effect =
            kinds.contains { $0.holder == .person }
            ? ", so the other protectors protect only the values of items that require authentication. "
            : ", so the other protectors add no protection. "
        return "The device key opens the vault without a prompt" + (others ? effect : ". ")
            + "Anyone who can read the device key can open the vault: programs that run as you, and anyone who gets an "
            + "unencrypted disk or a backup of the home folder. To require a prompt instead, run: "
            + (others ? "" : "keychainctl protect add passphrase; ") + "keychainctl protect remove device-key"
    }

    private mutating func noteUnknown(_ count: Int) {
        guard count > 0 else { return }
        note(
            "set-up", .warning,
            "\(count) protectors were added by a newer version of swift-keychain. Use that version to see them.")
    }

    mutating func checkBinding(_ keybag: Keybag) {
        // If a key cannot be used, the finding about its file says why.
        guard case .success(let key) = deviceKey, !keybag.isBound(to: key) else { return }
        let isOpened =
            opensByDeviceKey(keybag) || keybag.slots.contains { $0.kind != DeviceKeyProtector.kind.number }
        guard isOpened else {
            note(
                "device-binding", .problem,
                "The device key that this vault is bound to is missing\(key == nil ? "" : ", another one is in its place"), and nothing "
                    + "else opens the vault. Restore the key. If it is lost, the items are lost with it, except for those in a backup "
                    + "that something else opens.")
            return
        }
        note(
            "device-binding", .warning,
            key == nil
                ? "The device key that this vault is bound to is missing, so items bound to that device cannot be opened. "
                    + "Restore the key. If it is lost, bind the vault to this device (it keeps those items): "
                    + "keychainctl protect adopt"
                : "This vault is bound to another device key, so items bound to that device cannot be opened. "
                    + "Put that key in its place, or bind the vault to this device (it keeps those items): "
                    + "keychainctl protect adopt")
    }

    mutating func checkRotation(_ keybag: Keybag, _ table: ItemTable) throws {
        let pending = keybag.unfinishedRotation(try table.keyUse())
        guard !pending.isEmpty else { return }
        let ofDevice = pending.filter { Accessibility(number: $0.key)?.isThisDeviceOnly == true }
        let waiting = ofDevice.values.reduce(0, +)
        let isHere = if case .success(let key?) = deviceKey { keybag.isBound(to: key) } else { false }
        note(
            "rotation", .warning,
            "A rotation of the class keys is not finished. Items still under the old keys: \(pending.values.reduce(0, +)). "
                + (isHere || ofDevice.isEmpty
                    ? "Run: "
                    : (waiting > 0 ? "Of these, \(waiting) need" : "It needs")
                        + " the device key that the vault is bound to. Put it in its place, then run: ")
                + "keychainctl rotate")
    }
}
