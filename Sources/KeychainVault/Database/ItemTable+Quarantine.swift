// SPDX-License-Identifier: Apache-2.0
// The SQL that reads quarantined rows.

import Foundation
import KeychainEngine

extension ItemTable {
    /// The numbers of all quarantined rows, most recently quarantined first.
    func quarantinedRowIDs() throws -> [Int64] {
        try connection.numbers("SELECT id FROM quarantine ORDER BY set_aside DESC, id DESC")
    }

    /// A quarantined row with its value, and the time of its quarantine in seconds since 2001; `nil` if no row has the
    /// number.
    func quarantinedRow(_ rowID: Int64) throws -> (row: SealedRow, quarantinedAt: Double)? {
        let sql: SQL = "SELECT \(Self.columns), set_aside FROM quarantine WHERE id = ?"
        var found: (SealedRow, Double)?
        try connection.forEach(sql, [.number(rowID)]) { row in
            found = (SealedRow(row, .all), row.real(10) ?? 0)
            return false
        }
        return found
    }
}
