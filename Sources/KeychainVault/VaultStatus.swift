// SPDX-License-Identifier: Apache-2.0
// What can be told about a vault without showing anything in it.

public import Foundation
import GRDB
public import KeychainEngine

/// The state of a vault, for people and monitoring: no names, no values.
public struct VaultStatus: Sendable {
    /// One way to open the vault.
    public struct Slot: Sendable {
        /// `nil` for a kind that this version does not know.
        public let kind: ProtectorKind?
        public let created: Date
    }

    public let location: VaultLocation
    /// `false` until something is written for the first time; everything below is then empty.
    public let exists: Bool
    public let formatVersion: Int
    public let isReadOnly: Bool
    public let slots: [Slot]
    /// Items that open, by class.
    public let itemCounts: [ItemClass: Int]
    /// Items that do not open; they stay where they are.
    public let damagedCount: Int
    /// Damaged items that were moved out of the way by an addition or a deletion; their bytes are kept.
    public let quarantinedCount: Int
    /// Whether one of the two copies of the keybag is damaged; the next write mends it.
    public let isKeybagCopyDamaged: Bool
    /// Whether the memory that holds the vault's keys is kept out of swap.
    public let isKeyMemoryLocked: Bool
}

extension Vault {
    /// Looks at the whole vault: opens the metadata of every item, so it takes about 10 µs for each.
    public func status() throws(KeychainFailure) -> VaultStatus {
        guard let session = try openSession() else { return VaultStatus(absentAt: location) }
        return try DatabaseFailure.translating(location.databaseFile) {
            try session.reader.read { db in
                let table = ItemTable(db)
                var counts = ItemCounts()
                try table.forEach(.all, .metadataAndKey) { row in
                    counts.add(row, session.sealer)
                    return true
                }
                return VaultStatus(session, counts, quarantined: try table.quarantineCount())
            }
        }
    }
}

/// Counts items by class, and those that do not open or are filed under another key than their own.
private struct ItemCounts {
    var byClass: [ItemClass: Int] = [:]
    var damaged = 0

    mutating func add(_ row: SealedRow, _ sealer: RowSealer) {
        do throws(DamagedRow) {
            let item = try sealer.open(row).item
            guard sealer.digests.key(item) == row.key, sealer.rowID(of: row.id) == row.rowID else { throw DamagedRow() }
            byClass[item.itemClass, default: 0] += 1
        } catch {
            damaged += 1
        }
    }
}

extension VaultStatus {
    fileprivate init(absentAt location: VaultLocation) {
        self.init(
            location: location, exists: false, formatVersion: Int(VaultSchema.version), isReadOnly: false, slots: [],
            itemCounts: [:], damagedCount: 0, quarantinedCount: 0, isKeybagCopyDamaged: false,
            isKeyMemoryLocked: true)
    }

    fileprivate init(_ session: Session, _ counts: ItemCounts, quarantined: Int) {
        self.init(
            location: session.location, exists: true, formatVersion: Int(VaultSchema.version),
            isReadOnly: session.isReadOnly,
            slots: session.keybag.slots.map {
                Slot(kind: ProtectorKind(rawValue: $0.kind), created: Date(timeIntervalSinceReferenceDate: $0.created))
            },
            itemCounts: counts.byClass, damagedCount: counts.damaged, quarantinedCount: quarantined,
            isKeybagCopyDamaged: session.needsKeybagRepair, isKeyMemoryLocked: session.sealer.keys.isMemoryLocked)
    }
}
