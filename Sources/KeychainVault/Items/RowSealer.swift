// SPDX-License-Identifier: Apache-2.0
// How items are sealed into rows.

import Foundation
import KeychainCrypto
import KeychainEngine
import SecretMemory
import Synchronization

/// Seals items into rows and opens them, with the keys that are open now.
final class RowSealer: Sendable {
    /// A larger value would not fit into a database cell after padding.
    static let valueLimit = 512 << 20
    private static let metadataLimit = 16 << 20

    /// Different for each set of open keys of the process.
    let serial = lastSerial.wrappingAdd(1, ordering: .relaxed).newValue
    private static let lastSerial = Atomic<UInt64>(0)
    let keys: ClassKeys
    let digests: ItemDigests
    /// The public key to which constrained items are sealed; `nil` while there is no passphrase.
    private let userPublicKey: Data?

    init(_ keys: ClassKeys, userPublicKey: Data? = nil) {
        self.keys = keys
        self.userPublicKey = userPublicKey
        digests = ItemDigests(index: keys.index)
    }

    // MARK: - Identities

    /// A new identity for the item in a row: row number and eight random bytes, permuted. It looks random, but still
    /// leads to the row without a separate index, whose page every addition would have to write.
    func makeID(rowID: Int64, _ random: RandomBatch? = nil) -> UUID {
        var block = ByteWriter(capacity: 16)
        block.append(bigEndian: rowID)
        block.append(Data.random(count: 8, random))
        return UUID(bytes: Data(keys.references.forward(block.bytes)))
    }

    /// The row that an identity was made for; for an identity of another vault, a number that no row has.
    func rowID(of id: UUID) -> Int64 {
        keys.references.backward(FieldWriter.bytes(capacity: 16) { $0.put(id) }).withUnsafeBytes {
            Int64(bigEndian: $0.loadUnaligned(as: Int64.self))
        }
    }

    /// The same for several at once.
    func rowIDs(of ids: [UUID]) -> [Int64] {
        let identities = FieldWriter.bytes(capacity: 16 * ids.count) { writer in
            for id in ids { writer.put(id) }
        }
        return keys.references.backwardAll(identities).withUnsafeBytes { blocks in
            ids.indices.map { Int64(bigEndian: blocks.loadUnaligned(fromByteOffset: 16 * $0, as: Int64.self)) }
        }
    }

    // MARK: - Sealing

    /// - Parameter proofs: The application key, for an item that an application password protects.
    /// - Throws: `locked`, `tooLarge`; `unavailable` if the item needs a passphrase and there is none.
    func seal(
        _ item: Item, rowID: Int64, id: UUID, version: UInt64, _ proofs: Proofs = Proofs(),
        _ random: RandomBatch = RandomBatch()
    ) throws(KeychainError) -> SealedRow {
        let (generation, pair) = try newestKeys(item.accessControl.accessibility)
        let encoded = ItemCodec.encode(item)
        guard (item.value?.count ?? 0) <= Self.valueLimit, encoded.bytes.count <= Self.metadataLimit else {
            throw KeychainError(
                .tooLarge,
                "The item is too large. A value can have 512 MiB, and all attributes of an item together 16 MiB.")
        }
        let place = AssociatedData(
            vaultID: keys.vaultID, role: .metadata, itemID: id, itemVersion: version,
            keyClass: item.accessControl.accessibility.number, generation: generation)
        return SealedRow(
            rowID: rowID, id: id, version: Int64(bitPattern: version),
            keyClass: item.accessControl.accessibility.number, generation: generation, key: digests.key(item),
            metadata: try sealMetadata(encoded, pair, place, random),
            value: try sealValue(item, pair, place, proofs, random))
    }

    func sealMetadata(
        _ encoded: ByteWriter, _ pair: ClassKeys.Pair, _ place: AssociatedData, _ random: RandomBatch
    ) throws(KeychainError) -> Data {
        try Self.sealed { () throws(CipherFailure) in
            try Sealing.seal(Padding.pad(encoded, bucket: Padding.metadataBucket), with: pair.metadata, place, random)
        }
    }

    /// - Throws: `locked` if the class is closed, `unavailable` if it has no key.
    func newestKeys(_ accessibility: Accessibility) throws(KeychainError) -> (UInt32, ClassKeys.Pair) {
        guard let generation = keys.newestGeneration(accessibility) else {
            if accessibility == .whenPasscodeSetThisDeviceOnly { throw .passcodeNotSet }
            throw KeychainError(.unavailable, "The keybag has no key for this accessibility class.")
        }
        switch keys.availability(accessibility.number, generation) {
        case .open(let pair): return (generation, pair)
        case .locked: throw .locked
        case .ofAnotherDevice, .unknown:
            throw KeychainError(
                .ofAnotherDevice,
                "This vault is bound to another device key, so items for this device only cannot be stored. "
                    + "Use an accessibility class without 'this device only', or run: keychainctl protect adopt")
        }
    }

    func sealValue(
        _ item: Item, _ pair: ClassKeys.Pair, _ place: AssociatedData, _ proofs: Proofs, _ random: RandomBatch
    ) throws(KeychainError) -> Data {
        var envelope = Self.envelope(item.value)
        var padded = Padding.pad(envelope, bucket: Padding.valueBucket)
        defer {
            envelope.wipe()
            padded.wipe()
        }
        let needs = item.accessControl.needs
        guard !needs.isEmpty else {
            return try Self.sealed { () throws(CipherFailure) in
                try Sealing.sealWithOneTimeKey(
                    padded, wrappingKey: pair.value, keyPlace: place.with(.valueKey), place.with(.value), random)
            }
        }
        // Before the first unlock the public key in the keybag is not authenticated.
        if needs.contains(.user), userPublicKey == nil, keys.state == .beforeFirstUnlock { throw .locked }
        return try constrainedKey(needs, pair, place).seal(padded, proofs)
    }

    /// One byte distinguishes an item without a value from one with an empty value; on disk both look like a short
    /// value.
    private static func envelope(_ value: Data?) -> ByteWriter {
        var writer = ByteWriter(capacity: 1 + (value?.count ?? 0))
        writer.append(UInt8(value == nil ? 0 : 1))
        if let value { writer.append(value) }
        return writer
    }

    private static func sealed(_ body: () throws(CipherFailure) -> Data) throws(KeychainError) -> Data {
        do {
            return try body()
        } catch {
            throw .refusedCipher
        }
    }

    func constrainedKey(
        _ needs: Proofs.Needs, _ pair: ClassKeys.Pair, _ place: AssociatedData
    ) -> ConstrainedKey {
        ConstrainedKey(needs: needs, valueKey: pair.value, userPublicKey: userPublicKey, place: place)
    }
}
