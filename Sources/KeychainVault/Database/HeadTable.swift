// SPDX-License-Identifier: Apache-2.0
// The SQL of the head: one row, sealed.

import Foundation

/// The stored head, as bytes.
struct HeadTable {
    private let connection: Connection
    private static let stored = SQL.kept("SELECT bytes FROM head WHERE id = 1")
    private static let update = SQL.kept("UPDATE head SET bytes = ? WHERE id = 1")
    private static let insert = SQL.kept("INSERT INTO head (id, bytes) VALUES (1, ?)")

    init(_ connection: Connection) { self.connection = connection }

    /// - Returns: `nil` if there is none, or if the stored value is not a blob.
    func read() throws -> Data? {
        try connection.blob(Self.stored).flatMap { $0.isEmpty ? nil : $0 }
    }

    func write(_ sealed: Data) throws {
        try connection.execute(Self.update, [.blob(sealed)])
        if connection.changesCount == 0 { try connection.execute(Self.insert, [.blob(sealed)]) }
    }
}
