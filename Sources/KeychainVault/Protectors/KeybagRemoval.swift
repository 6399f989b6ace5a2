// SPDX-License-Identifier: Apache-2.0
// The keybag without one of its slots, under a root key that the removed secret never opened.

import Foundation
import KeychainEngine
import SecretMemory

extension Keybag {
    /// The result of a removal.
    struct Removal {
        let keybag: Keybag
        /// The authority for the new keybag; `nil` if its keys are unchanged.
        let renewed: Authority?
    }

    /// Without a slot, with a new root key, and with a new key of each class that the old root key never wrapped: an
    /// older copy of the keybag and the removed secret open no key that is used for sealing from now on. Removing the
    /// last passphrase removes the key of the class that needs one; removing the last passphrase or recovery key
    /// removes the user key.
    ///
    /// - Parameters:
    ///   - atHand: Protectors whose secrets are available.
    ///   - keepingKeys: Whether the keys may stay unchanged if a secret is missing that new keys require.
    ///   - use: The rows under each key.
    /// - Throws: `unsupported` for the last slot that can be opened here; `authenticationFailed` or `unavailable` if a
    ///   secret is missing.
    func removing(
        _ id: UUID, _ authority: Authority, _ atHand: [any Protector], keepingKeys: Bool = false,
        _ use: KeyUse = KeyUse(),
        at date: Date
    ) throws(KeychainError) -> Removal {
        let next = try without(id, atHand)
        let missing = try next.missingForNewKeys(authority, atHand, use)
        guard missing.isEmpty else {
            guard keepingKeys else { throw .cannotRenewKeys(missing) }
            return Removal(keybag: try next.signed(authority), renewed: nil)
        }
        return try next.renewingRoot(authority, atHand, at: date)
    }

    private func without(_ id: UUID, _ atHand: [any Protector]) throws(KeychainError) -> Keybag {
        guard let slot = slots.first(where: { $0.id == id }) else { throw .noSuchSlot }
        var next = self
        next.slots.removeAll { $0.id == id }
        try next.checkTPMIsNotAlone()
        guard try next.isOpenable(by: atHand) else {
            throw KeychainError(
                .unsupported,
                "The protector was not removed: it is the only way to open the vault. Add another protector first."
            )
        }
        if slot.kind == PassphraseProtector.kind.number, !next.hasPassphrase {
            next.keys.removeAll { $0.name.keyClass == Accessibility.whenPasscodeSetThisDeviceOnly.number }
        }
        if !next.hasPerson { next.userKey = nil }
        return next
    }

    /// Whether a slot remains that can be opened here: the device key of another machine does not count.
    private func isOpenable(by atHand: [any Protector]) throws(KeychainError) -> Bool {
        for slot in slots {
            guard let kind = ProtectorKind(number: slot.kind) else { continue }
            if kind != DeviceKeyProtector.kind { return true }
            if try atHand.first(opening: slot, vaultID) != nil { return true }
        }
        return false
    }

    // MARK: - New keys

    /// The missing secrets for which a new root key must be wrapped.
    private func missingForNewKeys(
        _ authority: Authority, _ atHand: [any Protector], _ use: KeyUse
    ) throws(KeychainError) -> [MissingForNewKeys] {
        var missing: [MissingForNewKeys] = []
        if hasPerson, authority.userKey == nil { missing.append(.personsSecret) }
        for slot in slots where ProtectorKind(number: slot.kind)?.holder != .person {
            if try atHand.first(opening: slot, vaultID) == nil {
                missing.append(.machinesSecret(ProtectorKind(number: slot.kind)))
            }
        }
        if classKeys.contains(where: { !authority.wrappingKeys.opens($0.keyClass) }) { missing.append(.deviceKey) }
        let others = keysOfOtherDevices.filter { use.needs($0.name) }
        if !others.isEmpty {
            let count = others.reduce(0) { $0 + (use.items[$1.name] ?? 0) + (use.quarantined[$1.name] ?? 0) }
            missing.append(.otherDeviceKey(items: count))
        }
        return missing
    }

    /// The previous generations stay, under the new root key, until no row needs them.
    private func renewingRoot(
        _ authority: Authority, _ atHand: [any Protector], at date: Date
    ) throws(KeychainError) -> Removal {
        let renewed = Authority(
            rootKey: .random(count: 32), userKey: authority.userKey, deviceKey: authority.deviceKey, vaultID: vaultID)
        var next = self
        if hasPerson, let key = authority.userKey {
            next.userKey = try UserKeyEntry(key, rootKey: renewed.rootKey, vaultID: vaultID)
        }
        for (index, slot) in slots.enumerated() {
            guard let protector = try atHand.first(opening: slot, vaultID) else { continue }
            next.slots[index] = try protector.rewrap(slot, around: renewed.rootKey, vaultID: vaultID, at: date)
        }
        next.keys = []
        for entry in keys where !entry.isOfAnotherDevice {
            guard let key = try authority.wrappingKeys.unwrap(entry) else { throw .locked }
            var wrapped = entry
            wrapped.wrapped = try renewed.wrappingKeys.wrap(
                key, entry.keyClass, generation: entry.generation, at: date
            ).wrapped
            next.keys.append(wrapped)
        }
        try next.addGenerations(of: next.newestGenerations.keys, renewed, at: date)
        next.always = nil
        return Removal(keybag: try next.signed(renewed), renewed: renewed)
    }
}

/// A missing secret that new keys require.
enum MissingForNewKeys {
    case personsSecret
    /// `nil`: of a kind that this version does not know.
    case machinesSecret(ProtectorKind?)
    case deviceKey
    case otherDeviceKey(items: Int)

    fileprivate var text: String {
        switch self {
        case .personsSecret: "give the passphrase or recovery key"
        case .machinesSecret(.credential): "the credential is missing"
        case .machinesSecret(.keyFile):
            "a key file is missing (give it, with --other-key-file beside another secret)"
        case .machinesSecret(.tpm):
            "the TPM does not open its slot, or needs its PIN (remove it first and add it again afterwards)"
        case .machinesSecret(.deviceKey): "the device key of another slot is missing"
        case .machinesSecret(let kind):
            kind.map { "the \($0.name) is missing" } ?? "a protector was added by a newer version of swift-keychain"
        case .deviceKey:
            "the device key that the vault is bound to is missing (if it is lost, run: keychainctl protect adopt)"
        case .otherDeviceKey(let items):
            "the other device key, which \(items) items need, is missing (if it is lost, delete those items, then "
                + "run: keychainctl quarantine purge)"
        }
    }
}

extension [any Protector] {
    fileprivate func first(opening slot: Keybag.Slot, _ vaultID: UUID) throws(KeychainError) -> (any Protector)? {
        // Slots of passphrases and recovery keys contain another key, and a passphrase may take a second to try.
        guard ProtectorKind(number: slot.kind)?.holder == .machine else { return nil }
        for protector in self {
            do throws(KeychainError) {
                if try protector.unwrap(slot, vaultID: vaultID) != nil { return protector }
            } catch {
                // A TPM that is gone or wants a PIN counts as missing.
                guard protector is TPMProtector, error.reason != .corrupt else { throw error }
            }
        }
        return nil
    }
}

extension KeychainError {
    fileprivate static func cannotRenewKeys(_ missing: [MissingForNewKeys]) -> KeychainError {
        let isForAPerson = missing.contains { if case .personsSecret = $0 { true } else { false } }
        return KeychainError(
            isForAPerson ? .authenticationFailed : .unavailable,
            "The protector was not removed, because the vault cannot get new keys: "
                + missing.map(\.text).joined(separator: "; ")
                + ". To remove it and keep the keys, add: --keep-keys. Then the removed secret and an older copy of the "
                + "vault still open what is stored from now on.")
    }
}
