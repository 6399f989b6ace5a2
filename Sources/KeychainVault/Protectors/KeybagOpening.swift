// SPDX-License-Identifier: Apache-2.0
// Creating a keybag, and opening it with a protector.

import Foundation
import KeychainCrypto
import KeychainEngine
import SecretMemory

extension Keybag {
    /// A new keybag: a key for each class that needs no passphrase and the index key, all random, and one slot.
    static func make(
        _ protector: any Protector, deviceKey: DeviceKey, at date: Date
    ) throws(KeychainError) -> Keybag {
        let rootKey = SecretBytes.random(count: 32)
        let vaultID = UUID.random()
        let authority = Authority(rootKey: rootKey, userKey: nil, deviceKey: deviceKey, vaultID: vaultID)
        let keys = authority.wrappingKeys
        var keybag = Keybag(
            format: newestFormat, vaultID: vaultID, sequence: 0, slots: [], keys: [], authentication: Data())
        keybag.slots = [try protector.wrap(rootKey, vaultID: vaultID, at: date)]
        for keyClass in Accessibility.allCases.map(\.number) + [indexKeyClass]
        where Accessibility(number: keyClass) != .whenPasscodeSetThisDeviceOnly {
            keybag.keys.append(try keys.wrap(.random(count: 32), keyClass, generation: 1, at: date))
        }
        return try keybag.signed(authority)
    }

    /// The keybag as it is stored next: with an incremented sequence, and everything derived from its contents computed
    /// again.
    func signed(_ authority: Authority) throws(KeychainError) -> Keybag {
        let keys = authority.wrappingKeys
        guard let key = keys.authentication else { throw .locked }
        var next = self
        next.format = Self.newestFormat
        next.sequence += 1
        if always == nil, let deviceKey = authority.deviceKey { next.always = try keys.alwaysSection(deviceKey) }
        next.authentication = Authentication.code(for: next.authenticatedBytes, key: key)
        try next.checkIsReadable()
        return next
    }

    /// Both copies are replaced by it: nobody could open a vault with one that cannot be read.
    private func checkIsReadable() throws(KeychainError) {
        do throws(MalformedBytes) {
            if try Keybag(bytes: bytes).bytes == bytes { return }
        } catch {}
        throw KeychainError(
            .unsupported, "The changed keybag could not be read again. Nothing was changed. Please report this.")
    }

    // MARK: - Opening

    /// The authority that a protector opens; `nil` if none of the slots belongs to it.
    ///
    /// - Throws: `corrupt` if the keybag is damaged.
    func authority(
        _ protector: any Protector, _ deviceKey: DeviceKey?
    ) throws(KeychainError) -> Authority? {
        try opening(protector, deviceKey)?.authority
    }

    /// The same, and the slot that was opened.
    func opening(
        _ protector: any Protector, _ deviceKey: DeviceKey?
    ) throws(KeychainError) -> (authority: Authority, slot: Slot)? {
        let kind = type(of: protector).kind
        // A slot that is damaged, or of another TPM, must not prevent the use of another one of its kind; it is reported only if
        // none opens.
        var refusal: KeychainError?
        for slot in slots {
            do throws(KeychainError) {
                guard let key = try protector.unwrap(slot, vaultID: vaultID) else { continue }
                let authority = try authority(key, heldBy: kind.holder, deviceKey)
                guard isAuthentic(authority.wrappingKeys) else { throw .changedKeybag }
                return (authority.opened(slot), slot)
            } catch {
                guard error.reason == .corrupt || error.reason == .ofAnotherDevice else { throw error }
                refusal = error
            }
        }
        if let refusal { throw refusal }
        return nil
    }

    private func authority(
        _ key: SecretBytes, heldBy holder: ProtectorKind.Holder, _ deviceKey: DeviceKey?
    ) throws(KeychainError) -> Authority {
        let bound = isBound(to: deviceKey) ? deviceKey : nil
        let other = bound == nil ? deviceKey : nil
        switch holder {
        case .machine:
            return Authority(
                rootKey: key, userKey: nil, deviceKey: bound, otherDeviceKey: other, vaultID: vaultID)
        case .person:
            guard let userKey else {
                throw KeychainError(
                    .corrupt, "The keybag has a slot for a passphrase or recovery key, but no user key.")
            }
            let rootKey = try userKey.rootKey(key, vaultID: vaultID)
            return Authority(
                rootKey: rootKey, userKey: key, deviceKey: bound, otherDeviceKey: other, vaultID: vaultID)
        }
    }
}

extension Keybag.UserKeyEntry {
    /// Wraps the root key under the user key.
    init(_ userKey: SecretBytes, rootKey: SecretBytes, vaultID: UUID) throws(KeychainError) {
        do {
            publicKey = try UserKey.publicKey(of: userKey)
            wrappedRootKey = try Sealing.wrap(
                rootKey, under: Self.wrappingKey(userKey, vaultID), context: Self.context(publicKey, vaultID))
        } catch {
            throw .refusedCipher
        }
    }

    func rootKey(_ userKey: SecretBytes, vaultID: UUID) throws(KeychainError) -> SecretBytes {
        do {
            return try Sealing.unwrap(
                wrappedRootKey, with: Self.wrappingKey(userKey, vaultID), context: Self.context(publicKey, vaultID))
        } catch {
            throw KeychainError(.corrupt, "The root key in the keybag is damaged.")
        }
    }

    /// Whether this is the key's public half.
    func fits(_ userKey: SecretBytes) -> Bool {
        do {
            return try UserKey.publicKey(of: userKey) == publicKey
        } catch {
            return false
        }
    }

    private static func wrappingKey(_ userKey: SecretBytes, _ vaultID: UUID) -> SecretBytes {
        Derivation.key(from: userKey, salt: vaultID.bytes, .userRootWrap)
    }

    private static func context(_ publicKey: Data, _ vaultID: UUID) -> [UInt8] {
        var writer = ByteWriter(capacity: 64)
        writer.append("user")
        writer.append(vaultID)
        writer.append(publicKey)
        return writer.bytes
    }
}

extension KeychainError {
    static let changedKeybag = KeychainError(
        .corrupt, "The keybag is damaged, or was changed outside swift-keychain. " + KeychainError.restoreAdvice)
}
