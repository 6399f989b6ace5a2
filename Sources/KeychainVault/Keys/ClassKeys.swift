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
    struct Pair: Sendable {
        let metadata: SecretBytes
        let value: SecretBytes
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
    let head: HeadKeys
    private let pairs: [ClassKeyName: Pair]
    /// The names of all keys in the keybag, open or not.
    private let names: Set<ClassKeyName>
    /// The keys that may need another device key, regardless of the lock state.
    private let ofAnotherDevice: Set<ClassKeyName>
    private let newest: [UInt8: UInt32]
    /// Format 1 made a key at once for the class that needs a passcode; it is not used without one.
    private let hasPassphrase: Bool

    /// - Parameter deviceKey: The device key of this machine.
    /// - Throws: `locked` if not even the index is open, `corrupt`.
    init(
        _ keybag: Keybag, _ keys: WrappingKeys, _ state: LockState, _ deviceKey: DeviceKey?
    ) throws(KeychainError) {
        guard let entry = keybag.keys.first(where: { $0.keyClass == Keybag.indexKeyClass }) else {
            throw KeychainError(.corrupt, "The keybag has no index key.")
        }
        guard let indexKey = try keys.unwrap(entry) else { throw .locked }
        vaultID = keybag.vaultID
        self.state = state
        hasPassphrase = keybag.hasPassphrase
        index = BlindIndex(key: indexKey)
        references = BlockPermutation(key: Derivation.key(from: indexKey, salt: vaultID.bytes, .reference))
        head = HeadKeys(indexKey: indexKey, vaultID: vaultID)
        newest = keybag.newestGenerations
        let entries = keybag.classKeys + keybag.keysOfOtherDevices
        names = Set(entries.map(\.name))
        let isBound = deviceKey != nil && keybag.isBound(to: deviceKey)
        ofAnotherDevice = Set(entries.filter { $0.isOfAnotherDevice || !isBound && $0.isForOneDevice }.map(\.name))
        var pairs: [ClassKeyName: Pair] = [:]
        for entry in entries {
            if let key = try keys.unwrap(entry) { pairs[entry.name] = Pair(key, entry, keybag.vaultID) }
        }
        self.pairs = pairs
    }

    /// All keys of an authority.
    init(_ keybag: Keybag, _ authority: Authority) throws(KeychainError) {
        try self.init(keybag, authority.wrappingKeys, .unlocked, authority.deviceKey)
    }

    func availability(_ keyClass: UInt8, _ generation: UInt32) -> Availability {
        let name = ClassKeyName(keyClass: keyClass, generation: generation)
        if let pair = pairs[name] { return .open(pair) }
        guard names.contains(name) else { return .unknown }
        // If the vault was unlocked while the device key was missing, it must be unlocked again with it.
        return Keybag.state(opening: keyClass) > state || !ofAnotherDevice.contains(name) ? .locked : .ofAnotherDevice
    }

    /// Whether a key that is locked now may need another device key.
    func mayBeOfAnotherDevice(_ keyClass: UInt8, _ generation: UInt32) -> Bool {
        ofAnotherDevice.contains(ClassKeyName(keyClass: keyClass, generation: generation))
    }

    /// The generation under which new rows of the class are sealed; `nil` if the keybag has no key of the class.
    func newestGeneration(_ accessibility: Accessibility) -> UInt32? {
        guard hasPassphrase || accessibility != .whenPasscodeSetThisDeviceOnly else { return nil }
        return newest[accessibility.number]
    }
}

extension ClassKeys.Pair {
    fileprivate init(_ key: SecretBytes, _ entry: Keybag.WrappedKey, _ vaultID: UUID) {
        let context = Derivation.context(keyClass: entry.rowClass, generation: entry.generation, accessGroup: "")
        metadata = Derivation.key(from: key, salt: vaultID.bytes, .metadata, context: context)
        value = Derivation.key(from: key, salt: vaultID.bytes, .value, context: context)
    }
}

extension Keybag {
    var hasPassphrase: Bool { slots.contains { $0.kind == Slot.passphraseKind } }
}
