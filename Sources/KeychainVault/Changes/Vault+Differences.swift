// SPDX-License-Identifier: Apache-2.0
// Which items have changed since an earlier look, without opening the others.

public import Foundation
import GRDB
public import KeychainEngine

extension Vault {
    /// Looking for differences is no use of the vault: it does not put the idle timeout off.
    ///
    /// Versions count the writes of an item. So where an older copy of the vault is put back, and an item changed as often as
    /// it had been before anybody looks, the item shows as unchanged.
    public func differences(
        _ selections: [Selection], from known: [UUID: UInt64]
    ) throws(KeychainError) -> ItemDifferences {
        guard let session = try openSession(age: Self.lookInterval) else {
            return ItemDifferences(gone: Set(known.keys))
        }
        let comparison = try comparison(session, selections, known)
        // Another process may be rotating the class keys.
        if comparison.metUnknownKey, try closeIfKeybagChanged(session), let session = try openSession() {
            return try self.comparison(session, selections, known).differences
        }
        return comparison.differences
    }

    private func comparison(
        _ session: Session, _ selections: [Selection], _ known: [UUID: UInt64]
    ) throws(KeychainError) -> Comparison {
        var comparison = Comparison(selections, known, try session.keyState.sealer(.looking))
        return try DatabaseFailure.translating(location.databaseFile) {
            // Not one transaction: a row that changes meanwhile is seen as it is then, and the observer told again.
            try session.reader.unsafeRead { db in
                try comparison.run(ItemTable(db))
                return comparison
            }
        }
    }
}

/// One comparison of rows with the versions of before. Identity and version of a row are no secret, so what has not changed
/// need not be opened, and can be told also while it is locked.
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
        try table.forEachVersion(try candidates(table)) { rowID, id, version in
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

    private func candidates(_ table: ItemTable) throws -> ItemTable.Candidates {
        guard selections.count == 1 else { return .all }
        return try Search(selections[0], sealer, .deleting).candidates(table)
    }

    private mutating func consider(_ row: SealedRow) {
        do throws(UnreadableRow) {
            let stored = try sealer.open(row)
            guard selections.contains(where: { $0.matches(stored) }) else { return }
            differences.changed.append(stored.sighting)
        } catch {
            if case .locked = error { differences.closed[row.id] = UInt64(bitPattern: row.version) }
            if case .unknownKey = error { metUnknownKey = true }
        }
        // What cannot be opened now counts as it was before.
        differences.gone.remove(row.id)
    }
}
