// SPDX-License-Identifier: Apache-2.0
// The keybag with new class keys, and the keybag of another device key.

import Foundation
import KeychainEngine
import SecretMemory

extension Keybag {
    // MARK: - Rotation

    /// With a new generation of every class key whose wrapping key is available; earlier generations stay until no row
    /// needs them.
    func rotating(_ authority: Authority, at date: Date) throws(KeychainError) -> Keybag {
        var next = self
        let classes = newestGenerations.keys.filter { authority.wrappingKeys.opens($0) }
        try next.addGenerations(of: classes, authority, at: later(than: date))
        return try next.signed(authority)
    }

    /// A date after those of all class keys, also if the clock was set back. The classes that a rotation leaves out are told by
    /// their keys, which are older.
    private func later(than date: Date) -> Date {
        let newest = keys.map(\.created).max() ?? -.infinity
        return max(date, Date(timeIntervalSinceReferenceDate: newest + 1))
    }

    /// The keybag at the start of a rotation, with new keys for all classes. If a rotation is in progress, with new
    /// keys for the classes that were left out because their wrapping keys were missing.
    ///
    /// - Returns: `nil` if none is left out.
    func nextRotation(_ authority: Authority, _ use: KeyUse, at date: Date) throws(KeychainError) -> Keybag? {
        let pending = pendingRotation(use)
        guard !pending.isEmpty else { return try rotating(authority, at: date) }
        // All keys of one rotation have the same date.
        let began = pending.keys.compactMap { newestKey($0)?.created }.max() ?? 0
        let leftOut = newestGenerations.keys.filter { keyClass in
            pending[keyClass] == nil && authority.wrappingKeys.opens(keyClass)
                && (newestKey(keyClass)?.created ?? began) < began
        }
        guard !leftOut.isEmpty else { return nil }
        var next = self
        try next.addGenerations(of: leftOut, authority, at: Date(timeIntervalSinceReferenceDate: began))
        return try next.signed(authority)
    }

    /// The classes that the last rotation has not renewed, because their wrapping keys are missing: items are still under
    /// their earlier keys, or their newest key is older than those of the rotation.
    func classesLeftOut(_ authority: Authority, _ use: KeyUse) -> [UInt8] {
        let (classes, pending) = (newestGenerations.keys, pendingRotation(use))
        let began = classes.filter(authority.wrappingKeys.opens).compactMap { newestKey($0)?.created }.max() ?? 0
        return classes.filter { keyClass in
            !authority.wrappingKeys.opens(keyClass)
                && (pending[keyClass] != nil || (newestKey(keyClass)?.created ?? began) < began)
        }
    }

    /// For a single new key: one that is older than the others would look as if a rotation had left it out.
    func notBeforeKeys(_ date: Date) -> Date {
        max(date, Date(timeIntervalSinceReferenceDate: keys.map(\.created).max() ?? -.infinity))
    }

    private func newestKey(_ keyClass: UInt8) -> WrappedKey? {
        classKeys.filter { $0.keyClass == keyClass }.max { $0.generation < $1.generation }
    }

    /// Generation numbers are unique across all devices, since rows identify their keys by them.
    mutating func addGenerations(
        of classes: some Sequence<UInt8>, _ authority: Authority, at date: Date
    ) throws(KeychainError) {
        for keyClass in classes.sorted() {
            let newest = keys.filter { $0.name.keyClass == keyClass }.map(\.generation).max() ?? 0
            guard newest < .max, keys.count < Self.keyLimit else { throw .keyLimitReached }
            keys.append(
                try authority.wrappingKeys.wrap(.random(count: 32), keyClass, generation: newest + 1, at: date))
        }
    }

    // MARK: - Another device key

    /// Binds the keybag to this device key instead of another one. The keys bound to the other one stay until that
    /// device key is put back. Keys that are bound to this device key become the vault's own again.
    func adopting(_ deviceKey: DeviceKey, _ authority: Authority, at date: Date) throws(KeychainError) -> Keybag {
        guard !isBound(to: deviceKey) else { return self }
        let adopted = Authority(
            rootKey: authority.rootKey, userKey: authority.userKey, deviceKey: deviceKey, vaultID: vaultID)
        let returned = Authority(
            rootKey: authority.rootKey, userKey: authority.userKey, deviceKey: nil, otherDeviceKey: deviceKey,
            vaultID: vaultID)
        var next = self
        next.always = nil
        var closed: Set<UInt8> = []
        for (index, entry) in keys.enumerated() {
            if Accessibility(number: entry.keyClass)?.isThisDeviceOnly == true {
                next.keys[index].keyClass = entry.keyClass + Self.otherDeviceOffset
                closed.insert(entry.keyClass)
            } else if entry.isOfAnotherDevice, try returned.wrappingKeys.unwrap(entry) != nil {
                next.keys[index].keyClass = entry.rowClass
            }
        }
        let withoutKey = closed.filter { next.newestGenerations[$0] == nil }
        try next.addGenerations(of: withoutKey, adopted, at: notBeforeKeys(date))
        return try next.signed(adopted)
    }
}

extension KeychainError {
    static let keyLimitReached = KeychainError(
        .unsupported, "The class keys have been rotated as often as the format allows.")
}
