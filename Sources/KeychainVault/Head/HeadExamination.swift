// SPDX-License-Identifier: Apache-2.0
// Compares a vault with its head, and the head with this machine's records.

import Foundation
import KeychainCrypto

/// The result of comparing a vault with its head. All of it must be read in one transaction.
struct HeadExamination {
    /// How much is read.
    enum Extent {
        case wholeVault
        /// Reads the rows only if they are few; otherwise only counts them.
        case quick
    }

    /// Above these limits a quick comparison counts the rows but does not add up their digests.
    private static let (rowLimit, byteLimit): (UInt64, Int64) = (4096, 16 << 20)

    private(set) var findings: [HeadFinding] = []
    /// `nil` if there is none that opens.
    private(set) var head: Head?
    private(set) var sealed: Data?
    /// Whether the vault has a format without heads, and this machine has seen no newer one.
    private(set) var isOfFormerFormat = false

    /// Whether only the sums of the rows differ, and a quick comparison would not add them up: then changes are not refused.
    private(set) var isNotSeenByChanges = false

    private let connection: Connection
    private let keys: HeadKeys
    private let extent: Extent

    /// - Parameters:
    ///   - authentic: The keybag that open keys authenticate.
    ///   - anchor: This machine's record, read before the transaction began, since later commits are newer.
    init(_ connection: Connection, _ keys: HeadKeys, authentic: Keybag?, anchor: HeadMark?, _ extent: Extent) throws {
        (self.connection, self.keys, self.extent) = (connection, keys, extent)
        let version = try VaultSchema.version(connection)
        guard try VaultSchema.hasHead(connection) else {
            noteNoHead(version, anchor)
            return
        }
        if try !VaultSchema.fitsVersion(connection) { findings.append(.changedFormat) }
        sealed = try HeadTable(connection).read()
        guard let head = sealed.flatMap({ Head(sealed: $0, keys) }) else {
            findings.append(.unreadableHead)
            return
        }
        self.head = head
        compare(head, anchor)
        try compareKeybag(head, authentic)
        try compareRows(head)
    }

    private mutating func noteNoHead(_ version: Int32, _ anchor: HeadMark?) {
        if version >= VaultSchema.firstVersionWithHead {
            findings.append(.unreadableHead)
        } else if anchor != nil {
            findings.append(.formerFormat)
        } else {
            isOfFormerFormat = true
        }
    }

    private mutating func compare(_ head: Head, _ anchor: HeadMark?) {
        guard let anchor, head.isOlder(than: anchor) else { return }
        findings.append(.older(changes: anchor.sequence > head.sequence ? anchor.sequence - head.sequence : nil))
    }

    /// The open keybag must be the one that was stored last. Before a keybag is open, it is enough that this one is
    /// present: the next write repairs an older or damaged copy beside it.
    private mutating func compareKeybag(_ head: Head, _ authentic: Keybag?) throws {
        let copies = try KeybagTable(connection).copies().compactMap { $0 }
        let inUse = authentic.map(\.bytes).flatMap { copies.contains($0) ? [$0] : nil }
        if !(inUse ?? copies).contains(where: { Checksum.sha256($0) == head.keybag }) { findings.append(.otherKeybag) }
    }

    private mutating func compareRows(_ head: Head) throws {
        let table = ItemTable(connection)
        let (items, lookups) = (UInt64(try table.count()), UInt64(try table.lookupCount()))
        let counts = [
            HeadFinding.count(.items, items, expected: head.items.count),
            .count(.index, lookups, expected: head.lookups.count),
            .count(.quarantine, UInt64(try table.quarantineCount()), expected: head.quarantined),
        ]
        findings += counts.compactMap { $0 }
        let tables = try VaultSchema.hasRing(connection) ? SyncTables(connection) : nil
        guard (head.ring == nil) == (tables == nil), try tables?.count() ?? 0 == head.ring?.count ?? 0 else {
            findings.append(.changed(.ring))
            return
        }
        let (isLarge, isSoFarGood) = (try !isSmall(rows: items + lookups), findings.isEmpty)
        guard extent == .wholeVault || !isLarge else { return }
        let totals = try Self.totals(table, keys)
        if items == head.items.count, totals.items.sum != head.items.sum { findings.append(.changed(.items)) }
        if lookups == head.lookups.count, totals.lookups.sum != head.lookups.sum { findings.append(.changed(.index)) }
        if let tables, try tables.totals(keys.rows) != head.ring { findings.append(.changed(.ring)) }
        isNotSeenByChanges = isSoFarGood && isLarge && !findings.isEmpty
    }

    private func isSmall(rows: UInt64) throws -> Bool {
        guard rows <= Self.rowLimit else { return false }
        let sizes = try ["page_count", "page_size"].map { try connection.number("PRAGMA \($0)") ?? .max }
        return sizes[0].multipliedReportingOverflow(by: sizes[1]).partialValue <= Self.byteLimit
    }

    /// A digest that differs between any two states of a vault that a head could distinguish, regardless of the stored
    /// head.
    static func state(_ connection: Connection, _ keys: HeadKeys) throws -> Data {
        let copies = try KeybagTable(connection).copies().compactMap { $0 }
        var rows = Head(keybag: copies.reduce(Data()) { $0 + Checksum.sha256($1) })
        try rows.count(connection, keys)
        let head = try VaultSchema.hasHead(connection) ? HeadTable(connection).read() : nil
        return Checksum.sha256(Data(rows.bytes) + (head ?? Data()))
    }

    /// The totals of all rows.
    static func totals(_ table: ItemTable, _ keys: HeadKeys) throws -> (items: RowTotal, lookups: RowTotal) {
        var (items, lookups) = (RowTotal(), RowTotal())
        try table.forEachTrace(.all) { items.add(keys.rows.digest($0.bytes)) }
        try table.forEachLookupTrace { lookups.add(keys.rows.digest($0.bytes)) }
        return (items, lookups)
    }
}

extension Head {
    /// Sets the totals to those of the present rows.
    mutating func count(_ connection: Connection, _ keys: HeadKeys) throws {
        let table = ItemTable(connection)
        (items, lookups) = try HeadExamination.totals(table, keys)
        quarantined = UInt64(try table.quarantineCount())
        ring = try VaultSchema.hasRing(connection) ? SyncTables(connection).totals(keys.rows) : nil
    }
}

extension RingTotals {
    fileprivate var count: UInt64 { outbox.count &+ others.count }
}
