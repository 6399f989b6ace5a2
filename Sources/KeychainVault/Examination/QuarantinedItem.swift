// SPDX-License-Identifier: Apache-2.0
// The description of a quarantined item.

public import Foundation
public import KeychainEngine

/// An item that was moved to the quarantine because it did not open. All its bytes are kept.
public struct QuarantinedItem: Sendable {
    /// Whether it opens now, and if not, why.
    public enum State: String, Sendable, CaseIterable {
        /// It opens, and can be put back.
        case opens
        /// It opens, but another item has its primary key.
        case placeTaken
        /// Its class is locked now.
        case locked
        /// It is bound to another device key than this machine's.
        case ofAnotherDevice
        /// The keybag has no such key.
        case unknownKey
        /// It does not open under its own key.
        case damaged
    }

    /// Its number, by which it is restored or purged.
    public let id: Int64
    /// When it was quarantined.
    public let quarantinedAt: Date
    /// `nil` for a class that this version does not know.
    public let accessibility: Accessibility?
    /// The generation of its class key.
    public let generation: UInt32
    /// The size of its sealed metadata and value, in bytes.
    public let size: Int
    public let state: State
    /// The item without its value, if it opens.
    public let item: StoredItem?

    init(_ row: SealedRow, at seconds: Double, _ state: State, _ item: StoredItem?) {
        id = row.rowID
        // A damaged file may contain any number here, and calendars do not accept all of them.
        let isSensible = abs(seconds) < 100 * 365 * 86400
        quarantinedAt = isSensible ? Date(timeIntervalSinceReferenceDate: seconds) : Date.distantPast
        accessibility = Accessibility(number: row.keyClass)
        generation = row.generation
        size = row.metadata.count + (row.value?.count ?? 0)
        self.state = state
        self.item = item
    }
}

extension QuarantinedItem {
    /// - Parameter sealer: `nil` while nothing can be opened.
    init(_ row: SealedRow, at seconds: Double, _ sealer: RowSealer?, _ table: ItemTable) throws {
        guard let sealer else {
            self.init(row, at: seconds, .locked, nil)
            return
        }
        do {
            let stored = try sealer.checked(row)
            let isFree = try table.rowHolding(sealer.digests.key(stored.item)) == nil && table.row(row.rowID) == nil
            self.init(row, at: seconds, isFree ? .opens : .placeTaken, stored)
        } catch let failure as UnreadableRow {
            self.init(row, at: seconds, State(failure), nil)
        }
    }
}

extension QuarantinedItem.State {
    fileprivate init(_ failure: UnreadableRow) {
        self =
            switch failure {
            case .locked: .locked
            case .ofAnotherDevice: .ofAnotherDevice
            case .unknownKey: .unknownKey
            case .damaged, .refused: .damaged
            }
    }
}
