// SPDX-License-Identifier: Apache-2.0
// Sealing rows again with the newest keys.

import Foundation
import KeychainCrypto
import KeychainEngine
import SecretMemory

extension RowSealer {
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
    func rewrapped(
        _ row: SealedRow, _ needs: Proofs.Needs, _ pair: ClassKeys.Pair, _ newPlace: AssociatedData
    ) throws(UnreadableRow) -> Data {
        guard let sealed = row.value else { throw .damaged }
        let old = constrainedKey(needs, try self.pair(of: row), place(of: row))
        return try old.rewrap(sealed, for: constrainedKey(needs, pair, newPlace))
    }
}
