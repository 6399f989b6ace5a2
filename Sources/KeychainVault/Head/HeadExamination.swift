// SPDX-License-Identifier: Apache-2.0
// Compares a vault with its head, and the head with what this machine has seen.

import Foundation
import GRDB
import KeychainCrypto

/// What one look at a vault says about its head. All of it has to be read in one transaction.
struct HeadExamination {
    /// How much is read.
    enum Extent {
        case wholeVault
        /// The rows only if they are few; else their numbers have to do.
        case quick
    }

    /// Above them a quick look counts rows and does not add them up.
    private static let (rowLimit, byteLimit): (UInt64, Int64) = (4096, 16 << 20)

    private(set) var findings: [HeadFinding] = []
    /// `nil` if there is none that opens.
    private(set) var head: Head?
    private(set) var sealed: Data?
    /// Whether the vault is of a format without heads, and this machine has seen no other.
    private(set) var isOfFormerFormat = false

    private let db: Database
    private let keys: HeadKeys
    private let extent: Extent

    /// - Parameters:
    ///   - authentic: The keybag that open keys authenticate.
    ///   - anchor: What this machine has seen, read before the transaction began: what is committed later is newer.
    init(_ db: Database, _ keys: HeadKeys, authentic: Keybag?, anchor: HeadMark?, _ extent: Extent) throws {
        (self.db, self.keys, self.extent) = (db, keys, extent)
        let version = try VaultSchema.version(db)
        guard try VaultSchema.hasHead(db) else {
            noteNoHead(version, anchor)
            return
        }
        if version < VaultSchema.firstVersionWithHead { findings.append(.changedFormat) }
        sealed = try HeadTable(db).read()
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

    /// The keybag that is open has to be the one that was stored last. Before one is, its being there has to do: an older or damaged
    /// copy beside it is repaired by the next write.
    private mutating func compareKeybag(_ head: Head, _ authentic: Keybag?) throws {
        let copies = try KeybagTable(db).copies().compactMap { $0 }
        let inUse = authentic.map(\.bytes).flatMap { copies.contains($0) ? [$0] : nil }
        if !(inUse ?? copies).contains(where: { Checksum.sha256($0) == head.keybag }) { findings.append(.otherKeybag) }
    }

    private mutating func compareRows(_ head: Head) throws {
        let table = ItemTable(db)
        let (items, lookups) = (UInt64(try table.count()), UInt64(try table.lookupCount()))
        let counts = [
            HeadFinding.count(.items, items, expected: head.items.count),
            .count(.index, lookups, expected: head.lookups.count),
            .count(.quarantine, UInt64(try table.quarantineCount()), expected: head.quarantined),
        ]
        findings += counts.compactMap { $0 }
        guard try extent == .wholeVault || isSmall(rows: items + lookups) else { return }
        let totals = try Self.totals(table, keys)
        if items == head.items.count, totals.items.sum != head.items.sum { findings.append(.changed(.items)) }
        if lookups == head.lookups.count, totals.lookups.sum != head.lookups.sum { findings.append(.changed(.index)) }
    }

    private func isSmall(rows: UInt64) throws -> Bool {
        guard rows <= Self.rowLimit else { return false }
        let sizes = try ["page_count", "page_size"].map { try Int64.fetchOne(db, sql: "PRAGMA \($0)") ?? .max }
        return sizes[0].multipliedReportingOverflow(by: sizes[1]).partialValue <= Self.byteLimit
    }

    /// Differs between any two states of a vault that a head could tell apart, whatever the head itself says.
    static func state(_ db: Database, _ keys: HeadKeys) throws -> Data {
        let copies = try KeybagTable(db).copies().compactMap { $0 }
        var rows = Head(keybag: copies.reduce(Data()) { $0 + Checksum.sha256($1) })
        try rows.count(ItemTable(db), keys)
        let head = try VaultSchema.hasHead(db) ? HeadTable(db).read() : nil
        return Checksum.sha256(Data(rows.bytes) + (head ?? Data()))
    }

    /// What all rows come to.
    static func totals(_ table: ItemTable, _ keys: HeadKeys) throws -> (items: RowTotal, lookups: RowTotal) {
        var (items, lookups) = (RowTotal(), RowTotal())
        try table.forEachTrace(.all) { items.add(keys.rows.digest($0.bytes)) }
        try table.forEachLookupTrace { lookups.add(keys.rows.digest($0.bytes)) }
        return (items, lookups)
    }
}

extension HeadExamination {
    /// - Parameter seen: Read before the transaction began.
    init(_ session: Session, _ db: Database, _ seen: SeenAnchors, _ extent: Extent) throws {
        let keys = try session.headKeys()
        try self.init(db, keys, authentic: session.keyState.authentic, anchor: seen.newest(keys), extent)
    }
}
