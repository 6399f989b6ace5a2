// SPDX-License-Identifier: Apache-2.0
// How rows are opened.

import Foundation
import KeychainCrypto
import KeychainEngine
import SecretMemory

extension RowSealer {
    /// The item without its value.
    func open(_ row: SealedRow) throws(UnreadableRow) -> StoredItem {
        try open(row, number: rowID(of: row.id)) { (key) throws(CipherFailure) in
            try Sealing.open(row.metadata, with: key, place(of: row))
        }
    }

    /// - Parameters:
    ///   - number: The row number in its identity.
    ///   - metadata: Opens the metadata with the key.
    func open(
        _ row: SealedRow, number: Int64, _ metadata: (SecretBytes) throws(CipherFailure) -> Data
    ) throws(UnreadableRow) -> StoredItem {
        let pair = try pair(of: row)
        // A row with another row's number would be changed or deleted instead of that row.
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
    ///   - needs: The required proofs of the item.
    ///   - series: The series of the search.
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
    /// - Parameter needs: The required proofs of the item.
    func checkValue(_ row: SealedRow, _ needs: Proofs.Needs) throws(UnreadableRow) {
        guard needs.isEmpty else {
            _ = try rewrapped(row, needs, pair(of: row), place(of: row))
            return
        }
        var value = try openValue(row)
        value?.wipe()
    }

    func pair(of row: SealedRow) throws(UnreadableRow) -> ClassKeys.Pair {
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
    func place(of row: SealedRow) -> AssociatedData {
        AssociatedData(
            vaultID: keys.vaultID, role: .metadata, itemID: row.id, itemVersion: UInt64(bitPattern: row.version),
            keyClass: row.keyClass, generation: row.generation)
    }
}
