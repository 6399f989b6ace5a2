// SPDX-License-Identifier: Apache-2.0
// The changes of one transaction to shared items.

import Foundation

/// Records changes of shared items in the outbox, within the same transaction: both happen, or neither.
final class OutgoingChanges {
    private let writer: SyncWriter
    private var tables: SyncTables { writer.tables }
    private let time: UInt64
    /// The number of this transaction; `nil` until it has changed a shared item.
    private var number: Int64?

    init(_ writer: SyncWriter, at time: Date = Date()) {
        self.writer = writer
        self.time = UInt64(max(0, min(time.timeIntervalSince1970 * 1000, 1e14)))
    }

    /// - Parameter wasShared: `false` for a new row too. Its number may have been that of a quarantined row.
    func wrote(_ row: Int64, isShared: Bool, wasShared: Bool = false) throws {
        guard isShared else {
            if wasShared { try removed(row) }
            return
        }
        if !wasShared { try writer.removeID(ofRow: row) }
        try add(.item(row), replacing: tables.outgoing(ofRow: row))
    }

    /// A row that no other machine knows is only removed from the outbox.
    func removed(_ row: Int64) throws {
        let (old, id) = (try tables.outgoing(ofRow: row), try tables.id(ofRow: row))
        guard old != nil || id != nil else { return }
        let change = try change()
        if let old { try writer.join(old.change, to: change) }
        try forget(row)
        if let id { try add(.deletion(id), replacing: tables.outgoing(ofID: id)) }
    }

    /// Removes the row from the ring; its item remains on the other machines.
    func forget(_ row: Int64) throws {
        try writer.removeOutgoing(row: row)
        try writer.removeID(ofRow: row)
    }

    private func add(_ content: SyncTables.Outgoing.Content, replacing old: SyncTables.Outgoing?) throws {
        let change = try change()
        if let old { try writer.join(old.change, to: change) }
        try writer.add(SyncTables.Outgoing(change: change, time: time, content: content), replacing: old)
    }

    private func change() throws -> Int64 {
        if let number { return number }
        let next = try tables.nextChange()
        number = next
        return next
    }
}
