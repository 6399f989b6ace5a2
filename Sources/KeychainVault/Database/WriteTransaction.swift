// SPDX-License-Identifier: Apache-2.0
// The only way to change the contents of a vault.

import Foundation
import KeychainEngine

/// What the body of a write uses. Every change of a row or of the keybag goes through it and is therefore counted in
/// the head.
struct WriteTransaction {
    /// The rows, for reading.
    let table: ItemTable
    /// The rows, for changing.
    let items: ItemWriter
    /// The tables of a vault in a ring.
    let sync: SyncWriter
    private let connection: Connection
    private let changes: RowChanges

    init(_ connection: Connection, _ changes: RowChanges) {
        self.connection = connection
        self.changes = changes
        table = ItemTable(connection)
        items = ItemWriter(connection, changes)
        sync = SyncWriter(connection, changes)
    }

    /// Replaces both stored keybags.
    func write(keybag bytes: Data) throws {
        try changes.begin()
        try KeybagTable(connection).write(bytes)
        changes.wrote(keybag: bytes)
    }
}
