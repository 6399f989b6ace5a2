// SPDX-License-Identifier: Apache-2.0
// The keys that wrap the class keys: they are derived from the root key, and an unlocked vault caches them.

import Foundation
import KeychainCrypto
import KeychainEngine
import SecretMemory

/// One wrapping key for each class that is open, and the key that authenticates the keybag.
///
/// Unlocking caches these and not the class keys: they stay the same when class keys are rotated, and there are at most
/// thirteen of them regardless of the number of generations.
struct WrappingKeys: Sendable {
    let vaultID: UUID
    /// By class number, or ``Keybag/indexKeyClass``.
    private let keys: KeysByClass
    /// `nil` before the first unlock.
    let authentication: SecretBytes?

    private static let allClasses = Accessibility.allCases.map(\.number) + [Keybag.indexKeyClass]

    /// All keys; without `deviceKey` those that are not bound to this device.
    ///
    /// - Parameter otherDeviceKey: A device key on this machine that the vault is not bound to; keys from before an
    ///   adoption may be bound to it.
    init(rootKey: SecretBytes, deviceKey: DeviceKey?, otherDeviceKey: DeviceKey? = nil, vaultID: UUID) {
        var keys = KeysByClass()
        let (own, other) = (deviceKey?.binding(vaultID: vaultID), otherDeviceKey?.binding(vaultID: vaultID))
        for keyClass in Self.allClasses {
            guard Accessibility(number: keyClass)?.isThisDeviceOnly ?? false else {
                keys[keyClass] = Self.key(rootKey, keyClass, nil, vaultID)
                continue
            }
            if let own { keys[keyClass] = Self.key(rootKey, keyClass, own, vaultID) }
            if let other {
                keys[keyClass + Keybag.otherDeviceOffset] = Self.key(rootKey, keyClass, other, vaultID)
            }
        }
        self.init(
            vaultID: vaultID, keys: keys,
            authentication: Derivation.key(from: rootKey, salt: vaultID.bytes, .keybagAuthentication))
    }

    private static func key(
        _ rootKey: SecretBytes, _ keyClass: UInt8, _ binding: SecretBytes?, _ vaultID: UUID
    ) -> SecretBytes {
        let source = binding.map { SecretBytes.concatenating(rootKey, $0) } ?? rootKey
        return Derivation.key(from: source, salt: vaultID.bytes, .keybagWrap, context: Data([keyClass]))
    }

    private init(vaultID: UUID, keys: KeysByClass, authentication: SecretBytes?) {
        self.vaultID = vaultID
        self.keys = keys
        self.authentication = authentication
    }

    /// Whether the class's key can be unwrapped.
    func opens(_ keyClass: UInt8) -> Bool { keys[keyClass] != nil }

    /// The keys that are available in a state.
    func limited(to state: LockState) -> WrappingKeys {
        WrappingKeys(
            vaultID: vaultID, keys: keys.filter { Keybag.state(opening: $0) <= state },
            authentication: state == .beforeFirstUnlock ? nil : authentication)
    }

    // MARK: - Class keys

    func wrap(
        _ key: SecretBytes, _ keyClass: UInt8, generation: UInt32, at date: Date
    ) throws(KeychainError) -> Keybag.WrappedKey {
        guard let wrappingKey = keys[keyClass] else { throw .locked }
        do {
            let wrapped = try Sealing.wrap(key, under: wrappingKey, context: place(keyClass, generation).bytes)
            return Keybag.WrappedKey(
                keyClass: keyClass, generation: generation, created: date.timeIntervalSinceReferenceDate,
                wrapped: wrapped)
        } catch {
            throw .refusedCipher
        }
    }

    /// - Returns: `nil` if the class is not open, or the key is bound to a device key that is not on this machine.
    func unwrap(_ entry: Keybag.WrappedKey) throws(KeychainError) -> SecretBytes? {
        guard let wrappingKey = keys[entry.keyClass] else { return nil }
        do {
            let context = place(entry.rowClass, entry.generation).bytes
            return try Sealing.unwrap(entry.wrapped, with: wrappingKey, context: context)
        } catch {
            // The keybag does not record to which of several other device keys it is bound.
            if entry.isOfAnotherDevice { return nil }
            throw KeychainError(.corrupt, "A key in the keybag is damaged.")
        }
    }

    private func place(_ keyClass: UInt8, _ generation: UInt32) -> AssociatedData {
        AssociatedData(
            vaultID: vaultID, role: .keybagKey, itemID: .zero, itemVersion: 0, keyClass: keyClass,
            generation: generation)
    }

    // MARK: - As bytes

    /// Used as a class number for the key that authenticates the keybag.
    private static let authenticationClass: UInt8 = 0

    /// class (1) ‖ key (32), for each key in ascending order of class.
    var bytes: SecretBytes {
        var all = keys
        all[Self.authenticationClass] = authentication
        return SecretBytes(count: all.entries.count * 33) { target in
            for (index, entry) in all.entries.enumerated() {
                target[index * 33] = entry.keyClass
                entry.key.withUnsafeBytes {
                    UnsafeMutableRawBufferPointer(rebasing: target[(index * 33 + 1)...]).copyMemory(from: $0)
                }
            }
        }
    }

    /// - Returns: `nil` for bytes of another layout.
    init?(bytes: SecretBytes, vaultID: UUID) {
        guard bytes.count % 33 == 0 else { return nil }
        var keys = KeysByClass()
        bytes.withUnsafeBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: 33) {
                let key = UnsafeRawBufferPointer(rebasing: bytes[(start + 1)..<(start + 33)])
                keys[bytes[start]] = SecretBytes(copying: key)
            }
        }
        let authentication = keys[Self.authenticationClass]
        keys[Self.authenticationClass] = nil
        self.init(vaultID: vaultID, keys: keys, authentication: authentication)
    }
}

/// A few keys by their class, in ascending order. For a dictionary the runtime would first search all protocol
/// conformances of the program, which takes longer than the other work of a first read.
private struct KeysByClass: Sendable {
    private(set) var entries: [(keyClass: UInt8, key: SecretBytes)] = []

    subscript(keyClass: UInt8) -> SecretBytes? {
        get { entries.first { $0.keyClass == keyClass }?.key }
        set {
            entries.removeAll { $0.keyClass == keyClass }
            guard let newValue else { return }
            let index = entries.firstIndex { $0.keyClass > keyClass } ?? entries.count
            entries.insert((keyClass, newValue), at: index)
        }
    }

    func filter(_ isIncluded: (UInt8) -> Bool) -> KeysByClass {
        var some = self
        some.entries.removeAll { !isIncluded($0.keyClass) }
        return some
    }
}

extension Keybag {
    /// The least unlocked state in which the key of this class is available.
    static func state(opening keyClass: UInt8) -> LockState {
        let isOfAnotherDevice = keyClass > otherDeviceOffset
        return Accessibility(number: isOfAnotherDevice ? keyClass - otherDeviceOffset : keyClass)?.opensIn
            ?? .beforeFirstUnlock
    }

    func isAuthentic(_ keys: WrappingKeys) -> Bool {
        guard let key = keys.authentication else { return false }
        return Authentication.isValid(authentication, for: authenticatedBytes, key: key)
    }
}

// MARK: - The always section

extension WrappingKeys {
    /// The keys that the device key opens by itself.
    init(_ section: Keybag.AlwaysSection, deviceKey: DeviceKey, vaultID: UUID) throws(KeychainError) {
        do {
            let bytes = try Sealing.open(
                section.sealed, with: Self.alwaysKey(deviceKey, section), context: section.context(vaultID: vaultID))
            var keys = KeysByClass()
            bytes.withUnsafeBytes { bytes in
                for (index, keyClass) in Keybag.AlwaysSection.keyClasses.enumerated() {
                    let key = bytes[(index * 32)..<(index * 32 + 32)]
                    keys[keyClass] = SecretBytes(copying: UnsafeRawBufferPointer(rebasing: key))
                }
            }
            self.init(vaultID: vaultID, keys: keys, authentication: nil)
        } catch {
            throw KeychainError(.corrupt, "The part of the keybag that the device key opens is damaged.")
        }
    }

    /// - Returns: `nil` if not all of its keys are available.
    func alwaysSection(_ deviceKey: DeviceKey) throws(KeychainError) -> Keybag.AlwaysSection? {
        let parts = Keybag.AlwaysSection.keyClasses.compactMap { keys[$0] }
        guard parts.count == Keybag.AlwaysSection.keyClasses.count else { return nil }
        let joined = parts.dropFirst().reduce(parts[0]) { SecretBytes.concatenating($0, $1) }
        var section = Keybag.AlwaysSection(
            deviceKeyID: deviceKey.id, salt: Data.random(count: Keybag.AlwaysSection.saltLength), sealed: Data())
        do {
            section.sealed = try Sealing.seal(
                joined, under: Self.alwaysKey(deviceKey, section), context: section.context(vaultID: vaultID))
            return section
        } catch {
            throw .refusedCipher
        }
    }

    private static func alwaysKey(_ deviceKey: DeviceKey, _ section: Keybag.AlwaysSection) -> SecretBytes {
        Derivation.key(from: deviceKey.secret, salt: section.salt, .alwaysSection)
    }
}

extension Keybag.AlwaysSection {
    fileprivate func context(vaultID: UUID) -> [UInt8] {
        var writer = ByteWriter(capacity: 72)
        writer.append("always")
        writer.append(vaultID)
        writer.append(deviceKeyID)
        writer.append(salt)
        return writer.bytes
    }
}

extension KeychainError {
    static let refusedCipher = KeychainError(.unavailable, "The system's cipher refused to seal or wrap.")
}
