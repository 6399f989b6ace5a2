// SPDX-License-Identifier: Apache-2.0
// The changes of a keybag; each makes a complete new keybag.

import Foundation
import KeychainCrypto
import KeychainEngine
import SecretMemory

extension Keybag {
    /// With one more slot.
    ///
    /// - Throws: `authenticationFailed` if the slot is for a passphrase or recovery key, there are already such slots,
    ///   and none of their secrets was given.
    func adding(
        _ protector: any Protector, _ authority: Authority, at date: Date
    ) throws(KeychainError) -> Keybag {
        let kind = type(of: protector).kind
        if kind == TPMProtector.kind { try checkMayAddTPM() }
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

    var hasPerson: Bool { slots.contains { ProtectorKind(number: $0.kind)?.holder == .person } }

    /// The user key, which all slots of passphrases and recovery keys contain; created for the first of them.
    private mutating func prepareUserKey(_ authority: Authority) throws(KeychainError) -> SecretBytes {
        guard hasPerson, let entry = userKey else {
            let key = UserKey.make()
            userKey = try UserKeyEntry(key, rootKey: authority.rootKey, vaultID: vaultID)
            return key
        }
        guard let key = authority.userKey, entry.fits(key) else {
            throw KeychainError(
                .authenticationFailed,
                "A new passphrase or recovery key needs a current one. Give the current passphrase or recovery key.")
        }
        return key
    }

    /// A new key: items stored under an earlier passphrase stay closed for ever.
    private mutating func renewPasscodeClass(_ authority: Authority, at date: Date) throws(KeychainError) {
        let number = Accessibility.whenPasscodeSetThisDeviceOnly.number
        let earlier = keys.filter { $0.name.keyClass == number }.map(\.generation).max() ?? 0
        let date = notBeforeKeys(date)
        keys.removeAll { $0.name.keyClass == number }
        guard authority.deviceKey != nil else { return }
        guard earlier < .max, keys.count < Self.keyLimit else { throw .keyLimitReached }
        keys.append(
            try authority.wrappingKeys.wrap(.random(count: 32), number, generation: earlier + 1, at: date))
    }
}

extension KeychainError {
    static let noSuchSlot = KeychainError(
        .itemNotFound, "There is no such protector. List them: keychainctl protect list")
}
