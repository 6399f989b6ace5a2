// SPDX-License-Identifier: Apache-2.0
// One row of a statement's result.

import CKeychainSQLite
package import Foundation

/// The columns of the present row of a statement; valid until the statement continues. In a damaged file a column may
/// have another type than declared.
package struct RowReader {
    private let statement: OpaquePointer

    init(_ statement: OpaquePointer) { self.statement = statement }

    /// `nil` for a value of another type.
    package func number(_ column: Int32) -> Int64? {
        sqlite3_column_type(statement, column) == SQLITE_INTEGER ? sqlite3_column_int64(statement, column) : nil
    }

    /// `nil` for a value of another type.
    package func real(_ column: Int32) -> Double? {
        sqlite3_column_type(statement, column) == SQLITE_FLOAT ? sqlite3_column_double(statement, column) : nil
    }

    /// Text, or another value in SQLite's text form; `nil` for NULL.
    package func text(_ column: Int32) -> String? {
        sqlite3_column_text(statement, column).map { String(cString: $0) }
    }

    package func isBlob(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_BLOB }

    /// Passes SQLite's own bytes to `body`, without a copy; no bytes for a value of another type.
    func withBlob<Result>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard isBlob(column), let bytes = sqlite3_column_blob(statement, column)
        else { return body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        return body(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, column))))
    }

    /// A copy of the bytes; empty for a value of another type.
    package func blob(_ column: Int32) -> Data {
        guard isBlob(column), let bytes = sqlite3_column_blob(statement, column) else { return Data() }
        return Data(bytes: bytes, count: Int(sqlite3_column_bytes(statement, column)))
    }
}
