// SPDX-License-Identifier: Apache-2.0
// The SQL of the keybag: two copies, each in a table of its own.

import Foundation

/// The two stored copies of the keybag, always written in one transaction.
struct KeybagTable {
    private static let tables = ["keybag", "keybag_copy"]
    private static let first = SQL.kept("SELECT bytes FROM keybag WHERE id = 1")
    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    /// The bytes of both copies; `nil` for a copy that is missing or not a blob.
    func copies() throws -> [Data?] {
        try Self.tables.map { try connection.blob("SELECT bytes FROM \($0) WHERE id = 1") }
    }

    /// Whether the first copy is unchanged since it was read.
    func isStill(_ bytes: Data?) throws -> Bool {
        // A value that is not a blob was read as no copy before.
        try connection.blob(Self.first) ?? Data() == bytes ?? Data()
    }

    func write(_ bytes: Data) throws {
        for table in Self.tables {
            try connection.execute("INSERT OR REPLACE INTO \(table) (id, bytes) VALUES (1, ?)", [.blob(bytes)])
        }
    }
}
