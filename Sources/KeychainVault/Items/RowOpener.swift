// SPDX-License-Identifier: Apache-2.0
// Opening the rows of one search.

import Foundation
import KeychainCrypto
import KeychainEngine

/// Opens the rows of one search, and computes shared values once. Use it on one thread, within one call.
final class RowOpener {
    private let sealer: RowSealer
    private let series = SeriesOpening()
    private var place: AssociatedData

    init(_ sealer: RowSealer) {
        self.sealer = sealer
        place = AssociatedData(
            vaultID: sealer.keys.vaultID, role: .metadata, itemID: .zero, itemVersion: 0, keyClass: 0, generation: 0)
    }

    /// Hands to `body` each row with its item, or with the reason why it does not open.
    func open(_ rows: [SealedRow], _ body: (SealedRow, OpenedRow) -> Void) {
        for (row, number) in zip(rows, sealer.rowIDs(of: rows.map(\.id))) {
            body(row, OpenedRow { () throws(UnreadableRow) in try open(row, number) })
        }
    }

    func open(_ row: SealedRow) throws(UnreadableRow) -> StoredItem { try open(row, sealer.rowID(of: row.id)) }

    func openValue(_ row: SealedRow, _ needs: Proofs.Needs, _ proofs: Proofs) throws(UnreadableRow) -> Data? {
        try sealer.openValue(row, needs, proofs, series)
    }

    private func open(_ row: SealedRow, _ number: Int64) throws(UnreadableRow) -> StoredItem {
        try sealer.open(row, number: number) { (key) throws(CipherFailure) in
            place.move(
                toItem: row.id, version: UInt64(bitPattern: row.version), keyClass: row.keyClass,
                generation: row.generation)
            return try series.open(row.metadata, with: key, place)
        }
    }
}

/// A row that was opened, or the reason why not. With `Result`, the runtime would first search all protocol
/// conformances of the program.
enum OpenedRow {
    case item(StoredItem)
    case unreadable(UnreadableRow)

    init(_ open: () throws(UnreadableRow) -> StoredItem) {
        do throws(UnreadableRow) {
            self = .item(try open())
        } catch {
            self = .unreadable(error)
        }
    }
}
