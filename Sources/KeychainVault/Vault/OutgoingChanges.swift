// SPDX-License-Identifier: Apache-2.0
// What one transaction changes of items that other machines share.

import Foundation

/// Notes changes of shared items in the outbox, within the transaction that makes them: both happen, or neither.
final class OutgoingChanges {
    private let tables: SyncTables
    private let time: Date
    /// The number of this transaction; `nil` until it has changed a shared item.
    private var number: Int64?

    init(_ connection: Connection, at time: Date = Date()) { (tables, self.time) = (SyncTables(connection), time) }

    /// - Parameter wasShared: `false` for a new row too. Its number may have been that of a row that was set aside.
    func wrote(_ row: Int64, isShared: Bool, wasShared: Bool = false) throws {
        guard isShared else {
            if wasShared { try removed(row) }
            return
        }
        if !wasShared { try tables.removeID(ofRow: row) }
        let change = try change()
        if let old = try tables.change(ofRow: row) { try tables.join(old, to: change) }
        try tables.add(row: row, change, milliseconds)
    }

    /// A row of which no other machine has heard is only forgotten.
    func removed(_ row: Int64) throws {
        let old = try tables.change(ofRow: row)
        let id = try tables.id(ofRow: row)
        guard old != nil || id != nil else { return }
        let change = try change()
        if let old { try tables.join(old, to: change) }
        try forget(row)
        guard let id else { return }
        if let old = try tables.change(ofID: id) { try tables.join(old, to: change) }
        try tables.add(deletion: id, change, milliseconds)
    }

    /// The row goes, and its item stays on the other machines.
    func forget(_ row: Int64) throws {
        try tables.removeOutgoing(row: row)
        try tables.removeID(ofRow: row)
    }

    private func change() throws -> Int64 {
        if let number { return number }
        let next = try tables.nextChange()
        number = next
        return next
    }

    private var milliseconds: Int64 { Int64(max(0, min(time.timeIntervalSince1970 * 1000, 1e14))) }
}
