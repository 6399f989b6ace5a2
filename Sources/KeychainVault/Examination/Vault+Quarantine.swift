// SPDX-License-Identifier: Apache-2.0
// Listing, restoring and erasing quarantined items.

import Foundation
public import KeychainEngine

extension Vault {
    /// The quarantined items, most recent first; none if there is no vault. Each is opened with its value, to check
    /// whether it opens now.
    public func quarantinedItems() throws(KeychainError) -> [QuarantinedItem] {
        try undisturbed { (session) throws(KeychainError) -> [QuarantinedItem] in
            guard session != nil else { return [] }
            return try quarantinedItems(currentSession())
        }
    }

    private func quarantinedItems(_ session: Session) throws(KeychainError) -> [QuarantinedItem] {
        let sealer = try session.keyState.hasIndex ? session.keyState.sealer(.looking) : nil
        return try DatabaseFailure.translating(location.databaseFile) {
            try session.reader.read { connection in
                let table = ItemTable(connection)
                return try table.quarantinedRowIDs().map { try Self.quarantined($0, sealer, table) }
            }
        }
    }

    /// Restores quarantined items that open now, in one transaction. Items that do not open, or whose primary key is
    /// taken, stay in the quarantine.
    ///
    /// - Parameter ids: `nil`: all.
    /// - Returns: Each item as it was found: those with the state `opens` have been restored.
    /// - Throws: `itemNotFound` if one does not exist, and nothing is changed; `locked` if nothing can be opened.
    public func restoreQuarantined(_ ids: [Int64]? = nil) throws(KeychainError) -> [QuarantinedItem] {
        guard try openSession() != nil else { throw .notQuarantined }
        return try write { transaction in
            let (sealer, content) = (try transaction.sealer(), transaction.content)
            let table = content.table
            return try Self.chosen(ids, table).map { id in
                guard let (row, seconds) = try table.quarantinedRow(id) else { throw KeychainError.notQuarantined }
                let quarantined = try QuarantinedItem(row, at: seconds, sealer, table)
                if quarantined.state == .opens, let item = quarantined.item?.item {
                    var restored = row
                    restored.key = sealer.digests.key(item)
                    try content.items.restoreQuarantined(restored, lookups: sealer.digests.lookups(item))
                    try transaction.outgoing?.wrote(row.rowID, isShared: item.isShared)
                }
                return quarantined
            }
        }
    }

    /// Erases quarantined items for good, in one transaction: their bytes are overwritten in the file and removed from
    /// the WAL. Needs only the index key.
    ///
    /// - Parameter ids: `nil`: all.
    /// - Returns: How many were erased.
    /// - Throws: `itemNotFound` if one does not exist, and nothing is changed; `locked` if not even the index is open.
    public func purgeQuarantined(_ ids: [Int64]? = nil) throws(KeychainError) -> Int {
        guard try openSession() != nil else { throw .notQuarantined }
        return try write(.removal) { transaction in
            let content = transaction.content
            let chosen = try Self.chosen(ids, content.table)
            for id in chosen { try content.items.purgeQuarantined(id) }
            return chosen.count
        }
    }

    private static func quarantined(
        _ id: Int64, _ sealer: RowSealer?, _ table: ItemTable
    ) throws -> QuarantinedItem {
        guard let (row, seconds) = try table.quarantinedRow(id) else { throw KeychainError.notQuarantined }
        return try QuarantinedItem(row, at: seconds, sealer, table)
    }

    /// - Throws: `itemNotFound` if there is none, or one of these does not exist.
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
        .itemNotFound,
        "There is no such item in the quarantine; nothing was changed. To list the items, run: keychainctl quarantine list"
    )
}
