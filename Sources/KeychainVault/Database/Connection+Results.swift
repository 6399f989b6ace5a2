// SPDX-License-Identifier: Apache-2.0
// The results of statements as values.

package import Foundation

extension Connection {
    /// The first column of the first row; `nil` if there is no row, or if it is not a number.
    package func number(_ sql: SQL, _ arguments: [SQLValue] = []) throws -> Int64? {
        try first(sql, arguments) { $0.number(0) }
    }

    /// The first column of the first row; `nil` if there is no row, or if it is not a blob. A blob may be empty.
    package func blob(_ sql: SQL, _ arguments: [SQLValue] = []) throws -> Data? {
        try first(sql, arguments) { $0.isBlob(0) ? $0.blob(0) : nil }
    }

    /// The first column of the first row as text; `nil` if there is no row, or if it is NULL.
    package func text(_ sql: SQL, _ arguments: [SQLValue] = []) throws -> String? {
        try first(sql, arguments) { $0.text(0) }
    }

    private func first<Value>(
        _ sql: SQL, _ arguments: [SQLValue], _ value: (RowReader) -> Value?
    ) throws -> Value? {
        var found: Value?
        try forEach(sql, arguments) { row in
            found = value(row)
            return false
        }
        return found
    }

    /// The first column of each row that has a number there.
    package func numbers(_ sql: SQL, _ arguments: [SQLValue] = []) throws -> [Int64] {
        try all(sql, arguments) { $0.number(0) }
    }

    /// The first column of each row as text, without those that are NULL.
    package func texts(_ sql: SQL, _ arguments: [SQLValue] = []) throws -> [String] {
        try all(sql, arguments) { $0.text(0) }
    }

    /// The first column of each row that has a blob there.
    package func blobs(_ sql: SQL, _ arguments: [SQLValue] = []) throws -> [Data] {
        try all(sql, arguments) { $0.isBlob(0) ? $0.blob(0) : nil }
    }

    private func all<Value>(
        _ sql: SQL, _ arguments: [SQLValue], _ value: (RowReader) -> Value?
    ) throws -> [Value] {
        var found: [Value] = []
        try forEach(sql, arguments) { row in
            if let value = value(row) { found.append(value) }
            return true
        }
        return found
    }
}
