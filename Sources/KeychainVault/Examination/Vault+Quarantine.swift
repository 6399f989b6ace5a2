// SPDX-License-Identifier: Apache-2.0
// Looking into the quarantine, putting items back, and erasing them.

import Foundation
import GRDB
public import KeychainEngine

extension Vault {
    /// The quarantined items, the one that was set aside last first; none if there is no vault. Each is opened, its value
    /// included, to see whether it opens now.
    public func quarantinedItems() throws(KeychainError) -> [QuarantinedItem] {
        guard try openSession() != nil else { return [] }
        let session = try currentSession()
        let sealer = try session.keyState.hasIndex ? session.keyState.sealer(.looking) : nil
        return try DatabaseFailure.translating(location.databaseFile) {
            try session.reader.read { db in
                let table = ItemTable(db)
                return try table.quarantinedRowIDs().map { try Self.quarantined($0, sealer, table) }
            }
        }
    }

    /// Puts quarantined items that open now back in their place, in one transaction. What does not open, or whose place is
    /// taken, stays in the quarantine.
    ///
    /// - Parameter ids: `nil`: all.
    /// - Returns: Each as it was found: those whose state is `opens` have been put back.
    /// - Throws: `itemNotFound` if one is not there, and nothing is changed; `locked` if nothing can be opened.
    public func restoreQuarantined(_ ids: [Int64]? = nil) throws(KeychainError) -> [QuarantinedItem] {
        guard try openSession() != nil else { throw .notQuarantined }
        return try write { sealer, transaction in
            let table = transaction.table
            return try Self.chosen(ids, table).map { id in
                guard let (row, setAside) = try table.quarantinedRow(id) else { throw KeychainError.notQuarantined }
                let quarantined = try QuarantinedItem(row, setAside: setAside, sealer, table)
                if quarantined.state == .opens, let item = quarantined.item?.item {
                    var restored = row
                    restored.key = sealer.digests.key(item)
                    try transaction.items.restoreQuarantined(restored, lookups: sealer.digests.lookups(item))
                }
                return quarantined
            }
        }
    }

    /// Erases quarantined items for good, in one transaction: their bytes are overwritten in the file, and SQLite's log is
    /// emptied of them. Takes no key but the index's.
    ///
    /// - Parameter ids: `nil`: all.
    /// - Returns: How many were erased.
    /// - Throws: `itemNotFound` if one is not there, and nothing is changed; `locked` if not even the index is open.
    public func purgeQuarantined(_ ids: [Int64]? = nil) throws(KeychainError) -> Int {
        guard try openSession() != nil else { throw .notQuarantined }
        return try writeAnything(emptyingLog: true) { _, transaction in
            let chosen = try Self.chosen(ids, transaction.table)
            for id in chosen { try transaction.items.purgeQuarantined(id) }
            return chosen.count
        }
    }

    private static func quarantined(
        _ id: Int64, _ sealer: RowSealer?, _ table: ItemTable
    ) throws -> QuarantinedItem {
        guard let (row, setAside) = try table.quarantinedRow(id) else { throw KeychainError.notQuarantined }
        return try QuarantinedItem(row, setAside: setAside, sealer, table)
    }

    /// - Throws: `itemNotFound` if there is none, or one of these is not there.
    private static func chosen(_ ids: [Int64]?, _ table: ItemTable) throws -> [Int64] {
        let present = try table.quarantinedRowIDs()
        let chosen = ids.map { ids in present.filter(Set(ids).contains) } ?? present
        guard !chosen.isEmpty, chosen.count == ids.map({ Set($0).count }) ?? present.count else {
            throw KeychainError.notQuarantined
        }
        return chosen
    }
}

extension KeychainError {
    fileprivate static let notQuarantined = KeychainError(
        .itemNotFound, "There is no such item in the quarantine; nothing was changed. See: keychainctl quarantine list")
}
