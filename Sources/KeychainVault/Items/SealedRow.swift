// SPDX-License-Identifier: Apache-2.0
// One row of the item table, and how it is sealed and opened.

import Foundation
import KeychainCrypto
import KeychainEngine

/// A row as stored: nothing in it is readable but the accessibility class, the key generation and padded sizes.
struct SealedRow {
    var rowID: Int64
    var id: UUID
    var version: Int64
    var keyClass: UInt8
    var generation: UInt32
    /// `nil` if it was not selected.
    var key: KeyDigests?
    var metadata: Data
    /// `nil` if it was not selected.
    var value: Data?
}

/// The row does not open: damaged, moved, or sealed under a key that the keybag does not have.
struct DamagedRow: Error {}

/// Seals items into rows and opens them.
struct RowSealer {
    /// Above it a value does not fit a database cell once it is padded.
    static let valueLimit = 512 << 20
    private static let metadataLimit = 16 << 20

    let keys: ClassKeys
    let digests: ItemDigests

    init(_ keys: ClassKeys) {
        self.keys = keys
        digests = ItemDigests(index: keys.index)
    }

    // MARK: - Identities

    /// A new identity for the item in a row: row number and eight random bytes, permuted. It looks random, and still leads
    /// to the row without an index of its own, whose page every addition would have to write.
    func makeID(rowID: Int64) -> UUID {
        var block = ByteWriter(capacity: 16)
        block.append(bigEndian: rowID)
        block.append(Data.random(count: 8))
        return UUID(bytes: Data(keys.references.forward(block.bytes)))
    }

    /// The row that an identity was made for; some number that no row has for an identity of elsewhere.
    func rowID(of id: UUID) -> Int64 {
        let block = keys.references.backward(Array(id.bytes))
        return block.prefix(8).reduce(0) { $0 << 8 | Int64($1) }
    }

    // MARK: - Sealing

    /// - Throws: `unavailable` if the keybag has no key of the item's class, `tooLarge`.
    func seal(_ item: Item, rowID: Int64, id: UUID, version: UInt64) throws(KeychainFailure) -> SealedRow {
        let keyClass = item.accessControl.accessibility.number
        // A passcode cannot be set yet, so the promise of this class could not be kept.
        guard item.accessControl.accessibility != .whenPasscodeSetThisDeviceOnly else { throw .passcodeNotSet }
        guard let generation = keys.newestGeneration(keyClass), let pair = keys.pair(keyClass, generation) else {
            throw KeychainFailure(.unavailable, "The keybag has no key for the accessibility class asked for.")
        }
        let encoded = ItemCodec.encode(item)
        guard (item.value?.count ?? 0) <= Self.valueLimit, encoded.bytes.count <= Self.metadataLimit else {
            throw KeychainFailure(.tooLarge, "Values may have 512 MiB, all attributes of an item together 16 MiB.")
        }
        let place = AssociatedData(
            vaultID: keys.vaultID, role: .metadata, itemID: id, itemVersion: version, keyClass: keyClass,
            generation: generation)
        return SealedRow(
            rowID: rowID, id: id, version: Int64(bitPattern: version), keyClass: keyClass,
            generation: generation, key: digests.key(item),
            metadata: try Self.sealed { () throws(CipherFailure) in
                let padded = Padding.pad(encoded, bucket: Padding.metadataBucket)
                return try Sealing.seal(padded, with: pair.metadata, place)
            },
            value: try Self.sealed { () throws(CipherFailure) in
                var envelope = Self.envelope(item.value)
                var padded = Padding.pad(envelope, bucket: Padding.valueBucket)
                defer {
                    envelope.wipe()
                    padded.wipe()
                }
                return try Sealing.sealWithOneTimeKey(
                    padded, wrappingKey: pair.value, keyPlace: place.with(.valueKey), place.with(.value))
            })
    }

    /// One byte tells an item without a value from one with an empty value; on disk both look like a short value.
    private static func envelope(_ value: Data?) -> ByteWriter {
        var writer = ByteWriter(capacity: 1 + (value?.count ?? 0))
        writer.append(UInt8(value == nil ? 0 : 1))
        if let value { writer.append(value) }
        return writer
    }

    private static func sealed(_ body: () throws(CipherFailure) -> Data) throws(KeychainFailure) -> Data {
        do {
            return try body()
        } catch {
            throw KeychainFailure(.unavailable, "The system's cipher refused to seal.")
        }
    }

    // MARK: - Opening

    /// The item without its value.
    func open(_ row: SealedRow) throws(DamagedRow) -> StoredItem {
        guard let pair = keys.pair(row.keyClass, row.generation),
            let accessibility = Accessibility(number: row.keyClass),
            // A row under another's number would be changed and deleted in its place.
            rowID(of: row.id) == row.rowID
        else { throw DamagedRow() }
        do {
            let padded = try Sealing.open(row.metadata, with: pair.metadata, place(of: row))
            let item = try ItemCodec.decode(
                Padding.unpad(padded, bucket: Padding.metadataBucket), accessibility: accessibility)
            return StoredItem(id: row.id, version: UInt64(bitPattern: row.version), item: item)
        } catch {
            throw DamagedRow()
        }
    }

    /// The item's value; `nil` if it has none.
    func openValue(_ row: SealedRow) throws(DamagedRow) -> Data? {
        guard let pair = keys.pair(row.keyClass, row.generation), let sealed = row.value else { throw DamagedRow() }
        let place = place(of: row)
        do {
            var padded = try Sealing.openWithOneTimeKey(
                sealed, wrappingKey: pair.value, keyPlace: place.with(.valueKey), place.with(.value))
            defer { padded.wipe() }
            let envelope = try Padding.unpad(padded, bucket: Padding.valueBucket)
            switch envelope.first {
            case 0 where envelope.count == 1: return nil
            case 1: return Data(envelope.dropFirst())
            default: throw DamagedRow()
            }
        } catch {
            throw DamagedRow()
        }
    }

    /// The place of the row's metadata.
    private func place(of row: SealedRow) -> AssociatedData {
        AssociatedData(
            vaultID: keys.vaultID, role: .metadata, itemID: row.id, itemVersion: UInt64(bitPattern: row.version),
            keyClass: row.keyClass, generation: row.generation)
    }
}
