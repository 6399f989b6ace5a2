// SPDX-License-Identifier: Apache-2.0
// How items are sealed into rows, and rows opened.

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

    private func sealMetadata(
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

    private func sealValue(
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

    private func constrainedKey(
        _ needs: Proofs.Needs, _ pair: ClassKeys.Pair, _ place: AssociatedData
    ) -> ConstrainedKey {
        ConstrainedKey(needs: needs, valueKey: pair.value, userPublicKey: userPublicKey, place: place)
    }

    // MARK: - Opening

    /// The item without its value.
    func open(_ row: SealedRow) throws(UnreadableRow) -> StoredItem {
        try open(row, number: rowID(of: row.id)) { (key) throws(CipherFailure) in
            try Sealing.open(row.metadata, with: key, place(of: row))
        }
    }

    /// - Parameters:
    ///   - number: The row that its identity was made for.
    ///   - metadata: Opens the metadata with the key.
    func open(
        _ row: SealedRow, number: Int64, _ metadata: (SecretBytes) throws(CipherFailure) -> Data
    ) throws(UnreadableRow) -> StoredItem {
        let pair = try pair(of: row)
        // A row with another row's number would be changed and deleted instead of it.
        guard let accessibility = Accessibility(number: row.keyClass), number == row.rowID else {
            throw .damaged
        }
        do {
            let item = try ItemCodec.decode(
                Padding.unpad(metadata(pair.metadata), bucket: Padding.metadataBucket), accessibility: accessibility)
            return StoredItem(id: row.id, version: UInt64(bitPattern: row.version), item: item)
        } catch {
            throw .damaged
        }
    }

    /// The item's value; `nil` if it has none.
    ///
    /// - Parameters:
    ///   - needs: Those of the item.
    ///   - series: That of the search.
    func openValue(
        _ row: SealedRow, _ needs: Proofs.Needs = [], _ proofs: Proofs = Proofs(),
        _ series: SeriesOpening = SeriesOpening()
    ) throws(UnreadableRow) -> Data? {
        let pair = try pair(of: row)
        guard let sealed = row.value else { throw .damaged }
        let place = place(of: row)
        var padded =
            try needs.isEmpty
            ? Self.opened { () throws(CipherFailure) in
                try series.openWithOneTimeKey(
                    sealed, wrappingKey: pair.value, keyPlace: place.with(.valueKey), place.with(.value))
            }
            : constrainedKey(needs, pair, place).open(sealed, proofs)
        defer { padded.wipe() }
        do throws(MalformedBytes) {
            let envelope = try Padding.unpad(padded, bucket: Padding.valueBucket)
            switch envelope.first {
            case 0 where envelope.count == 1: return nil
            case 1: return Data(envelope.dropFirst())
            default: throw MalformedBytes()
            }
        } catch {
            throw .damaged
        }
    }

    /// Whether the row is an intact item, as far as this can be checked without proofs.
    func isWhole(_ row: SealedRow) throws(UnreadableRow) -> Bool {
        digests.key(try checked(row).item) == row.key
    }

    /// The item without its value, after checking that the value opens too; for a constrained item as far as possible
    /// without proofs.
    func checked(_ row: SealedRow) throws(UnreadableRow) -> StoredItem {
        let stored = try open(row)
        try checkValue(row, stored.item.accessControl.needs)
        return stored
    }

    /// Opens the value and wipes it; for a constrained item only the outer wrap.
    ///
    /// - Parameter needs: Those of the item.
    func checkValue(_ row: SealedRow, _ needs: Proofs.Needs) throws(UnreadableRow) {
        guard needs.isEmpty else {
            _ = try rewrapped(row, needs, pair(of: row), place(of: row))
            return
        }
        var value = try openValue(row)
        value?.wipe()
    }

    private func pair(of row: SealedRow) throws(UnreadableRow) -> ClassKeys.Pair {
        switch keys.availability(row.keyClass, row.generation) {
        case .open(let pair): return pair
        case .locked: throw .locked
        case .ofAnotherDevice: throw .ofAnotherDevice
        case .unknown: throw .unknownKey
        }
    }

    private static func opened(_ body: () throws(CipherFailure) -> Data) throws(UnreadableRow) -> Data {
        do {
            return try body()
        } catch {
            throw .damaged
        }
    }

    /// The associated data of the row's metadata.
    private func place(of row: SealedRow) -> AssociatedData {
        AssociatedData(
            vaultID: keys.vaultID, role: .metadata, itemID: row.id, itemVersion: UInt64(bitPattern: row.version),
            keyClass: row.keyClass, generation: row.generation)
    }

    // MARK: - Rotation

    /// The same item version under the newest key of its class. Constrained items need no proof for that: the layer
    /// sealed to the user key is unchanged, and only the outer wrap is new.
    ///
    /// - Throws: ``UnreadableRow``, `KeychainError`.
    func rotated(_ row: SealedRow) throws -> SealedRow {
        var item = try open(row).item
        let needs = item.accessControl.needs
        let (generation, pair) = try newestKeys(item.accessControl.accessibility)
        let newPlace = place(of: row).with(.metadata, generation: generation)
        var next = row
        next.generation = generation
        let random = RandomBatch()
        next.metadata = try sealMetadata(ItemCodec.encode(item), pair, newPlace, random)
        if needs.isEmpty {
            item.value = try openValue(row)
            next.value = try sealValue(item, pair, newPlace, Proofs(), random)
        } else {
            next.value = try rewrapped(row, needs, pair, newPlace)
        }
        return next
    }

    /// A constrained value with its outer wrap under another key.
    private func rewrapped(
        _ row: SealedRow, _ needs: Proofs.Needs, _ pair: ClassKeys.Pair, _ newPlace: AssociatedData
    ) throws(UnreadableRow) -> Data {
        guard let sealed = row.value else { throw .damaged }
        let old = constrainedKey(needs, try self.pair(of: row), place(of: row))
        return try old.rewrap(sealed, for: constrainedKey(needs, pair, newPlace))
    }
}
