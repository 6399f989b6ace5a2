// SPDX-License-Identifier: Apache-2.0
// One row of the item table, as stored.

import Foundation
import KeychainEngine

/// A row as stored: only the accessibility class, the key generation and padded sizes are readable.
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

    /// The same without the parts that only a search needs, which may be large.
    var withValueOnly: SealedRow {
        var row = self
        (row.key, row.metadata) = (nil, Data())
        return row
    }
}

/// A row that a search has found, and opened: it can be opened again without being looked for.
final class FoundRow: Sendable {
    /// In bytes. For a longer value, the search costs little beside opening it.
    static let longestValue = 1024

    let row: SealedRow

    /// - Returns: `nil` if each read needs a search: the item has constraints, whose proofs a search asks for; or it is on a token, whose
    ///   object would be given out; or its value is long.
    init?(_ row: SealedRow, of item: Item) {
        guard item.accessControl.needs.isEmpty, !item.isOnToken, row.value?.count ?? 0 <= Self.longestValue else {
            return nil
        }
        self.row = row.withValueOnly
    }
}

/// Why a row cannot be opened.
enum UnreadableRow: Error {
    /// Changed or moved.
    case damaged
    /// Bound to another device's key.
    case ofAnotherDevice
    /// Its class is closed now.
    case locked
    /// Sealed under a key that the keybag did not have when it was read: damaged, unless the keybag has changed since.
    case unknownKey
    /// Intact, but the given proofs do not open it.
    case refused(Proofs.Needs)
}
