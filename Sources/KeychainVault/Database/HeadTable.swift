// SPDX-License-Identifier: Apache-2.0
// The SQL of the head: one row, sealed.

import Foundation

/// The stored head, as bytes.
struct HeadTable {
    private let connection: Connection
    private static let stored = SQL.kept("SELECT bytes FROM head WHERE id = 1")
    private static let replace = SQL.kept("INSERT OR REPLACE INTO head (id, bytes) VALUES (1, ?)")

    init(_ connection: Connection) { self.connection = connection }

    /// - Returns: `nil` if there is none, or if the stored value is not a blob.
    func read() throws -> Data? {
        try connection.blob(Self.stored).flatMap { $0.isEmpty ? nil : $0 }
    }

    func write(_ sealed: Data) throws { try connection.execute(Self.replace, [.blob(sealed)]) }
}
