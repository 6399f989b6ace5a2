// SPDX-License-Identifier: Apache-2.0
// The class keys that are open now, which seal items and digest attributes.

import Foundation
import KeychainCrypto
import KeychainEngine
import SecretMemory

/// The open keys of a vault: for each accessibility class and generation one for metadata and one for values, and the
/// blind index.
struct ClassKeys: Sendable {
    /// The two keys that follow from one class key.
    final class Pair: Sendable {
        let metadata: SecretBytes
        let value: SecretBytes

        fileprivate init(_ key: SecretBytes, _ name: ClassKeyName, _ vaultID: UUID) {
            let context = Derivation.context(keyClass: name.keyClass, generation: name.generation, accessGroup: "")
            metadata = Derivation.key(from: key, salt: vaultID.bytes, .metadata, context: context)
            value = Derivation.key(from: key, salt: vaultID.bytes, .value, context: context)
        }
    }

    private final class HeadKeyring: Sendable {
        let keys: HeadKeys

        init(_ indexKey: SecretBytes, _ vaultID: UUID) { keys = HeadKeys(indexKey: indexKey, vaultID: vaultID) }
    }

    private struct Entry: Sendable {
        let name: ClassKeyName
        /// `nil` if the key is not open.
        let pair: Late<Pair>?
        /// Whether it is the vault's own key, so that rows of this vault are sealed with it.
        let isOwn: Bool
        /// Whether it may need another device key, regardless of the lock state.
        let mayBeOfAnotherDevice: Bool
    }

    /// The availability of the key of one class and generation.
    enum Availability {
        case open(Pair)
        /// Its class is closed in this state.
        case locked
        /// It is bound to another device key than this machine's.
        case ofAnotherDevice
        /// The keybag has no such key: the row is damaged, or the keybag has changed in the meantime.
        case unknown
    }

    let vaultID: UUID
    let state: LockState
    let index: BlindIndex
    /// Converts row numbers to item identities.
    let references: BlockPermutation
    var head: HeadKeys { lateHead.object.keys }
    private let lateHead: Late<HeadKeyring>
    /// All keys in the keybag, open or not, in ascending order of name. Pairs are derived on demand, because a process
    /// that reads one item needs only one.
    private let entries: [Entry]
    /// Format 1 made a key at once for the class that needs a passcode; it is not used without one.
    private let hasPassphrase: Bool

    /// - Parameter deviceKey: The device key of this machine.
    /// - Throws: `locked` if not even the index is open, `corrupt`.
    init(
        _ keybag: Keybag, _ keys: WrappingKeys, _ state: LockState, _ deviceKey: DeviceKey?
    ) throws(KeychainError) {
        // The cipher leaves the schedule of its last key on the stack below, and a schedule begins with the key. A thread that does nothing
        // else would keep it.
        defer { scrubStack() }
        guard let entry = keybag.keys.first(where: { $0.keyClass == Keybag.indexKeyClass }) else {
            throw KeychainError(.corrupt, "The keybag has no index key.")
        }
        guard let indexKey = try keys.unwrap(entry) else { throw .locked }
        vaultID = keybag.vaultID
        self.state = state
        hasPassphrase = keybag.hasPassphrase
        index = BlindIndex(key: indexKey)
        references = BlockPermutation(key: Derivation.key(from: indexKey, salt: vaultID.bytes, .reference))
        lateHead = Late { [vaultID = keybag.vaultID] in HeadKeyring(indexKey, vaultID) }
        let isBound = deviceKey != nil && keybag.isBound(to: deviceKey)
        var entries: [Entry] = []
        for wrapped in keybag.classKeys + keybag.keysOfOtherDevices {
            let key = try keys.unwrap(wrapped)
            let pair = key.map { key in
                Late { [name = wrapped.name, vaultID = keybag.vaultID] in Pair(key, name, vaultID) }
            }
            entries.append(
                Entry(
                    name: wrapped.name, pair: pair, isOwn: !wrapped.isOfAnotherDevice,
                    mayBeOfAnotherDevice: wrapped.isOfAnotherDevice || !isBound && wrapped.isForOneDevice))
        }
        self.entries = entries.sorted { $0.name.number < $1.name.number }
    }

    /// All keys of an authority.
    init(_ keybag: Keybag, _ authority: Authority) throws(KeychainError) {
        try self.init(keybag, authority.wrappingKeys, .unlocked, authority.deviceKey)
    }

    func availability(_ keyClass: UInt8, _ generation: UInt32) -> Availability {
        guard let entry = entry(keyClass, generation) else { return .unknown }
        if let pair = entry.pair { return .open(pair.object) }
        // If the vault was unlocked while the device key was missing, it must be unlocked again with it.
        return Keybag.state(opening: keyClass) > state || !entry.mayBeOfAnotherDevice ? .locked : .ofAnotherDevice
    }

    /// Whether a key that is locked now may need another device key.
    func mayBeOfAnotherDevice(_ keyClass: UInt8, _ generation: UInt32) -> Bool {
        entry(keyClass, generation)?.mayBeOfAnotherDevice ?? false
    }

    private func entry(_ keyClass: UInt8, _ generation: UInt32) -> Entry? {
        let number = ClassKeyName(keyClass: keyClass, generation: generation).number
        var range = entries.indices
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            let found = entries[middle].name.number
            if found == number { return entries[middle] }
            range = found < number ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return nil
    }

    /// The generation under which new rows of the class are sealed; `nil` if the keybag has no key of the class.
    func newestGeneration(_ accessibility: Accessibility) -> UInt32? {
        guard hasPassphrase || accessibility != .whenPasscodeSetThisDeviceOnly else { return nil }
        return entries.last { $0.isOwn && $0.name.keyClass == accessibility.number }?.name.generation
    }
}

extension Keybag {
    var hasPassphrase: Bool { slots.contains { $0.kind == Slot.passphraseKind } }
}
