// SPDX-License-Identifier: Apache-2.0
// What the head costs, for Benchmarks.

import Foundation
import GRDB
import KeychainCrypto

/// Transactions that add or replace a row, with the head and without. Only for a vault that is thrown away afterwards: a vault whose
/// head was left behind is not as it was left.
package struct HeadCost {
    private let session: Session

    /// - Parameter vault: One that was made.
    package init(_ vault: Vault) throws { session = try vault.currentSession() }

    /// One durable transaction of a row with one entry of the index.
    ///
    /// - Parameter number: Of the row, which is replaced if it is there.
    package func write(row number: Int, keepingHead: Bool) throws {
        try session.writingConnection().writeWithoutTransaction { db in
            let keeper = HeadKeeper(session, db)
            let changes = RowChanges { nil }
            let items = keepingHead ? keeper.transaction.items : ItemWriter(db, changes)
            try Connection.begin(db)
            try Self.write(Int64(number), items, try ItemTable(db).row(Int64(number)) != nil)
            if keepingHead { try keeper.finish() }
            try Connection.commit(db, session.location.databaseFile)
            if keepingHead { keeper.committed() }
        }
    }

    private static func write(_ number: Int64, _ items: ItemWriter, _ isReplaced: Bool) throws {
        let row = SealedRow(
            rowID: number, id: UUID(), version: 1, keyClass: 6, generation: 1,
            key: KeyDigests(major: .random(count: 16), minor: .random(count: 16), scope: .random(count: 16)),
            metadata: .random(count: 284), value: .random(count: 152))
        let lookup = Data(repeating: UInt8(truncatingIfNeeded: number), count: 16)
        if isReplaced {
            try items.replace(row, lookups: [lookup], previous: [lookup])
        } else {
            try items.insert(row, lookups: [lookup])
        }
    }
}
