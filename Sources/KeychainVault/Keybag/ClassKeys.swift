// SPDX-License-Identifier: Apache-2.0
// The opened keybag: the keys that seal items and digest attributes.

import Foundation
import KeychainCrypto
import KeychainEngine
import SecretMemory

/// The keys of an open vault: for each accessibility class and generation one for metadata and one for values, and the
/// blind index.
struct ClassKeys: Sendable {
    /// The two keys that follow from one class key.
    struct Pair: Sendable {
        let metadata: SecretBytes
        let value: SecretBytes
    }

    private struct Name: Hashable {
        let keyClass: UInt8
        let generation: UInt32
    }

    let vaultID: UUID
    let index: BlindIndex
    /// Makes item identities out of row numbers.
    let references: BlockPermutation
    private let pairs: [Name: Pair]
    private let newest: [UInt8: UInt32]

    /// The keys that open rows of this class and generation; `nil` if the keybag has none.
    func pair(_ keyClass: UInt8, _ generation: UInt32) -> Pair? {
        pairs[Name(keyClass: keyClass, generation: generation)]
    }

    /// The generation that new rows of the class are sealed under; `nil` if the keybag has no key of the class.
    func newestGeneration(_ keyClass: UInt8) -> UInt32? { newest[keyClass] }

    /// Whether all key memory is locked against swapping.
    var isMemoryLocked: Bool { pairs.values.allSatisfy { $0.metadata.isLocked && $0.value.isLocked } }

    fileprivate init(vaultID: UUID, indexKey: SecretBytes, classKeys: [(Keybag.WrappedKey, SecretBytes)]) {
        self.vaultID = vaultID
        index = BlindIndex(key: indexKey)
        references = BlockPermutation(key: Derivation.key(from: indexKey, salt: vaultID.bytes, .reference))
        var pairs: [Name: Pair] = [:]
        var newest: [UInt8: UInt32] = [:]
        for (entry, key) in classKeys {
            let context = Derivation.context(
                keyClass: entry.keyClass, generation: entry.generation, accessGroup: "")
            pairs[Name(keyClass: entry.keyClass, generation: entry.generation)] = Pair(
                metadata: Derivation.key(from: key, salt: vaultID.bytes, .metadata, context: context),
                value: Derivation.key(from: key, salt: vaultID.bytes, .value, context: context))
            newest[entry.keyClass] = max(newest[entry.keyClass] ?? 0, entry.generation)
        }
        self.pairs = pairs
        self.newest = newest
    }
}

// MARK: - Making and opening a keybag

extension Keybag {
    /// A new keybag: seven class keys and the index key, all random, and one slot.
    static func make(
        _ protector: any Protector, deviceKey: DeviceKey, at date: Date
    ) throws(KeychainFailure) -> Keybag {
        let rootKey = SecretBytes.random(count: 32)
        let vaultID = UUID()
        let slot = try protector.wrap(rootKey, vaultID: vaultID, at: date)
        var keybag = Keybag(vaultID: vaultID, sequence: 1, slots: [slot], keys: [], authentication: Data())
        let wrapping = Wrapping(rootKey: rootKey, deviceKey: deviceKey, vaultID: vaultID)
        for keyClass in Accessibility.allCases.map(\.number) + [indexKeyClass] {
            keybag.keys.append(try wrapping.wrap(.random(count: 32), keyClass, generation: 1, at: date))
        }
        keybag.authentication = wrapping.authenticationCode(keybag)
        return keybag
    }

    /// Opens the keybag with the first protector that fits one of its slots.
    ///
    /// - Throws: `authenticationFailed` if none fits, `corrupt` if the keybag is damaged.
    func open(_ protectors: [any Protector], deviceKey: DeviceKey) throws(KeychainFailure) -> ClassKeys {
        let wrapping = Wrapping(
            rootKey: try rootKey(protectors), deviceKey: deviceKey, vaultID: vaultID)
        guard wrapping.isAuthentic(self) else {
            throw KeychainFailure(.corrupt, "The keybag has been changed by something else than this program.")
        }
        var classKeys: [(WrappedKey, SecretBytes)] = []
        var indexKey: SecretBytes?
        for entry in keys {
            let key = try wrapping.unwrap(entry)
            if entry.keyClass == Self.indexKeyClass { indexKey = key } else { classKeys.append((entry, key)) }
        }
        guard let indexKey else { throw KeychainFailure(.corrupt, "The keybag has no index key.") }
        return ClassKeys(vaultID: vaultID, indexKey: indexKey, classKeys: classKeys)
    }

    private func rootKey(_ protectors: [any Protector]) throws(KeychainFailure) -> SecretBytes {
        for slot in slots {
            for protector in protectors {
                if let rootKey = try protector.unwrap(slot, vaultID: vaultID) { return rootKey }
            }
        }
        throw KeychainFailure(.authenticationFailed, "None of the keys at hand opens this vault.")
    }
}

/// The keys derived from a root key: one that wraps each class's key, one that authenticates the keybag.
private struct Wrapping {
    let rootKey: SecretBytes
    let deviceKey: DeviceKey
    let vaultID: UUID

    func wrap(
        _ key: SecretBytes, _ keyClass: UInt8, generation: UInt32, at date: Date
    ) throws(KeychainFailure) -> Keybag.WrappedKey {
        do {
            let wrapped = try Sealing.wrap(
                key, under: wrappingKey(keyClass), context: place(keyClass, generation).bytes)
            return Keybag.WrappedKey(
                keyClass: keyClass, generation: generation, created: date.timeIntervalSinceReferenceDate,
                wrapped: wrapped)
        } catch {
            throw KeychainFailure(.unavailable, "The system's cipher refused to wrap a key.")
        }
    }

    func unwrap(_ entry: Keybag.WrappedKey) throws(KeychainFailure) -> SecretBytes {
        do {
            let context = place(entry.keyClass, entry.generation).bytes
            return try Sealing.unwrap(entry.wrapped, with: wrappingKey(entry.keyClass), context: context)
        } catch {
            throw KeychainFailure(.corrupt, "A key in the keybag is damaged.")
        }
    }

    func authenticationCode(_ keybag: Keybag) -> Data {
        Authentication.code(for: keybag.authenticatedBytes, key: authenticationKey)
    }

    func isAuthentic(_ keybag: Keybag) -> Bool {
        Authentication.isValid(keybag.authentication, for: keybag.authenticatedBytes, key: authenticationKey)
    }

    private var authenticationKey: SecretBytes {
        Derivation.key(from: rootKey, salt: vaultID.bytes, .keybagAuthentication)
    }

    /// The classes for this device only take the device key too, so that another way to the root key is not enough.
    private func wrappingKey(_ keyClass: UInt8) -> SecretBytes {
        let isThisDeviceOnly = Accessibility(number: keyClass)?.isThisDeviceOnly ?? false
        let source = isThisDeviceOnly ? .concatenating(rootKey, deviceKey.binding(vaultID: vaultID)) : rootKey
        return Derivation.key(from: source, salt: vaultID.bytes, .keybagWrap, context: Data([keyClass]))
    }

    private func place(_ keyClass: UInt8, _ generation: UInt32) -> AssociatedData {
        AssociatedData(
            vaultID: vaultID, role: .keybagKey, itemID: .zero, itemVersion: 0, keyClass: keyClass,
            generation: generation)
    }
}
