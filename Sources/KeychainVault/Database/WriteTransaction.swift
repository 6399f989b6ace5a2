// SPDX-License-Identifier: Apache-2.0
// The only way to change the contents of a vault.

import Foundation
import GRDB
import KeychainEngine

/// What the body of a write uses. Every change of a row or of the keybag goes through it and is therefore counted in
/// the head.
struct WriteTransaction {
    /// The rows, for reading.
    let table: ItemTable
    /// The rows, for changing.
    let items: ItemWriter
    private let db: Database
    private let changes: RowChanges

    init(_ db: Database, _ changes: RowChanges) {
        self.db = db
        self.changes = changes
        table = ItemTable(db)
        items = ItemWriter(db, changes)
    }

    /// Replaces both stored keybags.
    func write(keybag bytes: Data) throws {
        try changes.begin()
        try KeybagTable(db).write(bytes)
        changes.wrote(keybag: bytes)
    }
}
