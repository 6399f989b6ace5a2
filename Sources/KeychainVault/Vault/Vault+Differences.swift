// SPDX-License-Identifier: Apache-2.0
// Finding the items that changed since an earlier comparison, without opening the others.

public import Foundation
public import KeychainEngine

extension Vault {
    /// Looking for differences does not count as use of the vault: it does not reset the idle timeout.
    ///
    /// Versions count the writes of an item. So if an older copy of the vault is put back, and an item is then changed
    /// as often as before until the next comparison, the item is reported as unchanged.
    public func differences(
        _ selections: [Selection], from known: [UUID: UInt64]
    ) throws(KeychainError) -> ItemDifferences {
        try undisturbed(age: Self.lookInterval) { (session) throws(KeychainError) -> ItemDifferences in
            guard let session else { return ItemDifferences(gone: Set(known.keys)) }
            let comparison = try comparison(session, selections, known)
            // Another process may be rotating the class keys at this moment.
            if comparison.metUnknownKey, try closeIfKeybagChanged(session), let session = try openSession() {
                return try self.comparison(session, selections, known).differences
            }
            return comparison.differences
        }
    }

    private func comparison(
        _ session: Session, _ selections: [Selection], _ known: [UUID: UInt64]
    ) throws(KeychainError) -> Comparison {
        var comparison = Comparison(selections, known, try session.keyState.sealer(.looking))
        return try DatabaseFailure.translating(location.databaseFile) {
            // Not one transaction: a row that changes in the meantime is read in its new state, and the observer is
            // notified again.
            try session.reader.use { connection in
                try comparison.run(ItemTable(connection))
                return comparison
            }
        }
    }
}

/// One comparison of rows with earlier versions. Identity and version of a row are not secret, so an unchanged row need
/// not be opened, and is recognized also while it is locked.
struct Comparison {
    private(set) var differences = ItemDifferences()
    /// Whether a row is sealed under a key that the keybag did not have when it was read.
    private(set) var metUnknownKey = false
    private let selections: [Selection]
    private let known: [UUID: UInt64]
    private let sealer: RowSealer

    init(_ selections: [Selection], _ known: [UUID: UInt64], _ sealer: RowSealer) {
        self.selections = selections
        self.known = known
        self.sealer = sealer
    }

    mutating func run(_ table: ItemTable) throws {
        var gone = Set(known.keys)
        var others: [Int64] = []
        let candidates: ItemTable.Candidates =
            try selections.count == 1 ? Search(selections[0], sealer, .deleting).candidates(table) : .all
        try table.forEachVersion(candidates) { rowID, id, version in
            if known[id] == version { gone.remove(id) } else { others.append(rowID) }
        }
        differences.gone = gone
        for rowID in others {
            try table.forEach(.row(rowID), .metadata) { row in
                consider(row)
                return false
            }
        }
    }

    private mutating func consider(_ row: SealedRow) {
        do throws(UnreadableRow) {
            let stored = try sealer.open(row)
            guard selections.contains(where: { $0.matches(stored) }) else { return }
            differences.changed.append(stored.listingEntry)
        } catch {
            if case .locked = error { differences.closed[row.id] = UInt64(bitPattern: row.version) }
            if case .unknownKey = error { metUnknownKey = true }
        }
        // A row that cannot be opened now counts as unchanged.
        differences.gone.remove(row.id)
    }
}
