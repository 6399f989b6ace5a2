// SPDX-License-Identifier: Apache-2.0
// Reads rows directly from SQLite's statement.

import Foundation
import GRDB
import GRDBSQLite

/// Steps through the rows of a prepared statement. GRDB's `Row` would first look up the column names, which takes as
/// long as opening the item's metadata.
struct RowReader {
    private let statement: OpaquePointer

    /// Hands each row to `body` until it returns `false`.
    static func forEach(
        _ statement: Statement, _ arguments: StatementArguments, _ db: Database, _ body: (RowReader) throws -> Bool
    ) throws {
        try statement.setArguments(arguments)
        let reader = RowReader(statement: statement.sqliteStatement)
        // Ends the read, and clears an error that was already reported.
        defer { sqlite3_reset(reader.statement) }
        while true {
            switch sqlite3_step(reader.statement) {
            case SQLITE_ROW: guard try body(reader) else { return }
            case SQLITE_DONE: return
            default: throw DatabaseError(resultCode: db.lastErrorCode, message: db.lastErrorMessage)
            }
        }
    }

    /// `nil` for a value of another type, which a damaged file may hold despite the column's declaration.
    func number(_ column: Int32) -> Int64? {
        sqlite3_column_type(statement, column) == SQLITE_INTEGER ? sqlite3_column_int64(statement, column) : nil
    }

    /// `nil` for a value of another type.
    func real(_ column: Int32) -> Double? {
        sqlite3_column_type(statement, column) == SQLITE_FLOAT ? sqlite3_column_double(statement, column) : nil
    }

    /// Hands SQLite's own bytes to `body`, without a copy; no bytes for a value of another type.
    func withBlob<Result>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard sqlite3_column_type(statement, column) == SQLITE_BLOB,
            let bytes = sqlite3_column_blob(statement, column)
        else { return body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        return body(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, column))))
    }

    /// A copy of the bytes; empty for a value of another type.
    func blob(_ column: Int32) -> Data {
        guard sqlite3_column_type(statement, column) == SQLITE_BLOB,
            let bytes = sqlite3_column_blob(statement, column)
        else { return Data() }
        return Data(bytes: bytes, count: Int(sqlite3_column_bytes(statement, column)))
    }
}
