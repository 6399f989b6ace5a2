// SPDX-License-Identifier: Apache-2.0
// The keybag without one of its slots, under a root key that the removed secret never led to.

import Foundation
import KeychainEngine
import SecretMemory

extension Keybag {
    /// What a removal makes of a keybag.
    struct Removal {
        let keybag: Keybag
        /// What may change that keybag; `nil` if its keys are those of before.
        let renewed: Authority?
    }

    /// Without a slot, with a new root key, and with a new key of each class that the old root key never wrapped: an older
    /// copy of the keybag and the secret that was removed lead to no key that anything is sealed under from now on. With the
    /// last passphrase goes the key of the class that needs one, with the last slot of a person the user key.
    ///
    /// - Parameters:
    ///   - atHand: Protectors whose secrets are here.
    ///   - keepingKeys: Whether the keys may stay as they are, if something is missing that new ones take.
    ///   - use: The rows under each key.
    /// - Throws: `unsupported` for the last slot that can be opened here; `authenticationFailed` or `unavailable` if something
    ///   is missing.
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
        guard try next.isOpenable(by: atHand) else {
            throw KeychainError(
                .unsupported,
                "This is the only way to open the vault; without it everything would be lost. Add another protector first."
            )
        }
        if slot.kind == PassphraseProtector.kind.number, !next.hasPassphrase {
            next.keys.removeAll { $0.name.keyClass == Accessibility.whenPasscodeSetThisDeviceOnly.number }
        }
        if !next.hasPerson { next.userKey = nil }
        return next
    }

    /// Whether a slot is left that somebody can open here: the device key of another machine is none.
    private func isOpenable(by atHand: [any Protector]) throws(KeychainError) -> Bool {
        for slot in slots {
            guard let kind = ProtectorKind(number: slot.kind) else { continue }
            if kind != DeviceKeyProtector.kind { return true }
            if try atHand.first(opening: slot, vaultID) != nil { return true }
        }
        return false
    }

    // MARK: - New keys

    /// What is not here that a new root key has to be wrapped for.
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

    /// The generations of before stay, under the new root key, until no row needs them.
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
            next.slots[index] = try protector.wrap(renewed.rootKey, as: slot.id, vaultID: vaultID, at: date)
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

/// What new keys take and is not here.
enum MissingForNewKeys {
    case personsSecret
    /// `nil`: of a kind that this version does not know.
    case machinesSecret(ProtectorKind?)
    case deviceKey
    case otherDeviceKey(items: Int)

    fileprivate var text: String {
        switch self {
        case .personsSecret: "give the passphrase or recovery key"
        case .machinesSecret(.credential): "the credential is not here"
        case .machinesSecret(.keyFile):
            "the key file is not here (give it, or remove it first and add it again afterwards)"
        case .machinesSecret(.deviceKey): "the device key of another slot is not here"
        case .machinesSecret(let kind):
            kind.map { "the \($0.name) is not here" } ?? "a protector was added by a newer version of swift-keychain"
        case .deviceKey:
            "the device key that the vault is bound to is not here (if it is lost: keychainctl protect adopt)"
        case .otherDeviceKey(let items):
            "the other device key that \(items) items are for is not here (if it is lost: delete those items, then "
                + "keychainctl quarantine purge)"
        }
    }
}

extension [any Protector] {
    fileprivate func first(opening slot: Keybag.Slot, _ vaultID: UUID) throws(KeychainError) -> (any Protector)? {
        // Those of persons hold another key, and one of them may take a second to try.
        guard ProtectorKind(number: slot.kind)?.holder == .machine else { return nil }
        for protector in self {
            if try protector.unwrap(slot, vaultID: vaultID) != nil { return protector }
        }
        return nil
    }
}

extension KeychainError {
    fileprivate static func cannotRenewKeys(_ missing: [MissingForNewKeys]) -> KeychainError {
        let isForAPerson = missing.contains { if case .personsSecret = $0 { true } else { false } }
        return KeychainError(
            isForAPerson ? .authenticationFailed : .unavailable,
            "The protector was not removed, since the vault cannot get new keys here: "
                + missing.map(\.text).joined(separator: "; ")
                + ". To remove it and keep the keys: --keep-keys. Then the removed secret together with an older copy of the "
                + "vault still opens what is stored from now on.")
    }
}
