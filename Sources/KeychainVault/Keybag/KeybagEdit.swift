// SPDX-License-Identifier: Apache-2.0
// The changes of a keybag, each from one whole keybag to the next.

import Foundation
import KeychainCrypto
import KeychainEngine
import SecretMemory

extension Keybag {
    /// With one more slot.
    ///
    /// - Throws: `authenticationFailed` if the slot is a person's, there are such slots, and none of their secrets was given.
    func adding(
        _ protector: any Protector, _ authority: Authority, at date: Date
    ) throws(KeychainError) -> Keybag {
        let kind = type(of: protector).kind
        let passphrases = slots.filter { $0.kind == PassphraseProtector.kind.number }.count
        guard slots.count < Self.slotLimit, kind != PassphraseProtector.kind || passphrases < Self.passphraseLimit
        else {
            throw KeychainError(
                .tooLarge,
                "A vault has at most \(Self.slotLimit) protectors, \(Self.passphraseLimit) of them passphrases. "
                    + "Remove one first.")
        }
        var next = self
        let key = try kind.holder == .machine ? authority.rootKey : next.prepareUserKey(authority)
        next.slots.append(try protector.wrap(key, vaultID: vaultID, at: date))
        if kind == PassphraseProtector.kind, !hasPassphrase { try next.renewPasscodeClass(authority, at: date) }
        return try next.signed(authority)
    }

    /// With another secret in place of a slot's.
    func changing(
        _ id: UUID, to protector: any Protector, _ authority: Authority, at date: Date
    ) throws(KeychainError) -> Keybag {
        guard let index = slots.firstIndex(where: { $0.id == id }) else { throw .noSuchSlot }
        var next = self
        let key = try type(of: protector).kind.holder == .machine ? authority.rootKey : next.prepareUserKey(authority)
        next.slots[index] = try protector.wrap(key, as: id, vaultID: vaultID, at: date)
        return try next.signed(authority)
    }

    /// Without a slot. With the last passphrase goes the key of the class that needs one, with the last slot of a person
    /// the user key. If all that is left can be wrapped anew, the root key changes: an older copy of the keybag and the
    /// secret that was removed then lead to keys that open nothing any more.
    ///
    /// - Parameter atHand: Protectors that open without asking.
    /// - Throws: `unsupported` for the last slot that can be opened here.
    func removing(
        _ id: UUID, _ authority: Authority, _ atHand: [any Protector], at date: Date
    ) throws(KeychainError) -> Keybag {
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
            next.keys.removeAll { $0.keyClass == Accessibility.whenPasscodeSetThisDeviceOnly.number }
        }
        if !next.hasPerson { next.userKey = nil }
        if let renewed = try next.renewingRoot(authority, atHand, at: date) { return renewed }
        return try next.signed(authority)
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

    /// - Returns: `nil` if a slot is held by somebody who is not here, or a class is bound to another device.
    private func renewingRoot(
        _ authority: Authority, _ atHand: [any Protector], at date: Date
    ) throws(KeychainError) -> Keybag? {
        let renewed = Authority(
            rootKey: .random(count: 32), userKey: authority.userKey, deviceKey: authority.deviceKey, vaultID: vaultID)
        var next = self
        if hasPerson {
            guard let key = authority.userKey else { return nil }
            next.userKey = try UserKeyEntry(key, rootKey: renewed.rootKey, vaultID: vaultID)
        }
        for (index, slot) in slots.enumerated() where ProtectorKind(number: slot.kind)?.holder != .person {
            guard let protector = try atHand.first(opening: slot, vaultID) else { return nil }
            next.slots[index] = try protector.wrap(renewed.rootKey, as: slot.id, vaultID: vaultID, at: date)
        }
        for (index, entry) in keys.enumerated() {
            guard let key = try authority.wrappingKeys.unwrap(entry) else { return nil }
            let wrapped = try renewed.wrappingKeys.wrap(key, entry.keyClass, generation: entry.generation, at: date)
            next.keys[index].wrapped = wrapped.wrapped
        }
        next.always = nil
        return try next.signed(renewed)
    }

    var hasPerson: Bool { slots.contains { ProtectorKind(number: $0.kind)?.holder == .person } }

    /// The key that all slots of persons hold; made now if this is the first.
    private mutating func prepareUserKey(_ authority: Authority) throws(KeychainError) -> SecretBytes {
        guard hasPerson, let entry = userKey else {
            let key = UserKey.make()
            userKey = try UserKeyEntry(key, rootKey: authority.rootKey, vaultID: vaultID)
            return key
        }
        guard let key = authority.userKey, entry.fits(key) else {
            throw KeychainError(
                .authenticationFailed,
                "Give the present passphrase, or the recovery key: only they can vouch for another one.")
        }
        return key
    }

    /// A fresh key: what was stored under an earlier passphrase stays closed for good.
    private mutating func renewPasscodeClass(_ authority: Authority, at date: Date) throws(KeychainError) {
        let number = Accessibility.whenPasscodeSetThisDeviceOnly.number
        let earlier = keys.filter { $0.keyClass == number }.map(\.generation).max() ?? 0
        keys.removeAll { $0.keyClass == number }
        guard authority.deviceKey != nil else { return }
        keys.append(
            try authority.wrappingKeys.wrap(.random(count: 32), number, generation: earlier + 1, at: date))
    }

    /// Bound to this device key instead of another one: what was for that device alone stays closed.
    func adopting(_ deviceKey: DeviceKey, _ authority: Authority, at date: Date) throws(KeychainError) -> Keybag {
        guard !isBound(to: deviceKey) else { return self }
        let adopted = Authority(
            rootKey: authority.rootKey, userKey: authority.userKey, deviceKey: deviceKey, vaultID: vaultID)
        var next = self
        next.always = nil
        for entry in keys where Accessibility(number: entry.keyClass)?.isThisDeviceOnly == true {
            next.keys.removeAll { $0.keyClass == entry.keyClass && $0.generation <= entry.generation }
            next.keys.append(
                try adopted.wrappingKeys.wrap(
                    .random(count: 32), entry.keyClass, generation: entry.generation + 1, at: date))
        }
        return try next.signed(adopted)
    }

    // MARK: - Rotation

    /// With a new generation of every class key; the earlier ones stay until no item needs them.
    func rotating(_ authority: Authority, at date: Date) throws(KeychainError) -> Keybag {
        let keys = authority.wrappingKeys
        var next = self
        for (keyClass, generations) in Dictionary(grouping: classKeys, by: \.keyClass).sorted(by: { $0.key < $1.key })
        where keys.opens(keyClass) {
            let newest = generations.map(\.generation).max() ?? 0
            guard newest < .max, next.keys.count < Self.keyLimit else {
                throw KeychainError(.unsupported, "The class keys have been rotated as often as the format allows.")
            }
            next.keys.append(try keys.wrap(.random(count: 32), keyClass, generation: newest + 1, at: date))
        }
        return try next.signed(authority)
    }

    /// Class numbers that have keys which newer ones are replacing.
    var rotatingClasses: [UInt8] {
        Dictionary(grouping: classKeys, by: \.keyClass).filter { $0.value.count > 1 }.map(\.key).sorted()
    }

    /// Without all but the newest key of each class.
    func finishingRotation(_ authority: Authority) throws(KeychainError) -> Keybag {
        var next = self
        next.keys.removeAll { entry in
            Accessibility(number: entry.keyClass) != nil
                && keys.contains { $0.keyClass == entry.keyClass && $0.generation > entry.generation }
        }
        return try next.signed(authority)
    }
}

extension [any Protector] {
    fileprivate func first(opening slot: Keybag.Slot, _ vaultID: UUID) throws(KeychainError) -> (any Protector)? {
        for protector in self {
            if try protector.unwrap(slot, vaultID: vaultID) != nil { return protector }
        }
        return nil
    }
}

extension KeychainError {
    static let noSuchSlot = KeychainError(
        .itemNotFound, "There is no such protector. List them: keychainctl protect list")
}
