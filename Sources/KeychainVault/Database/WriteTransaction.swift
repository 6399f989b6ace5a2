// SPDX-License-Identifier: Apache-2.0
// The one way to change what is in a vault.

import Foundation
import GRDB
import KeychainEngine

/// What the body of a write works with: each change of a row or of the keybag goes through it, and so gets into the head.
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

    /// Puts a keybag in the place of both stored ones.
    func write(keybag bytes: Data) throws {
        try changes.begin()
        try KeybagTable(db).write(bytes)
        changes.wrote(keybag: bytes)
    }
}
