// SPDX-License-Identifier: Apache-2.0
// The cost of the head, for Benchmarks.

import Foundation
import KeychainCrypto
import SecretMemory

/// Transactions that add or replace a row, with the head and without. Use it only for a vault that is deleted
/// afterwards: a vault with an outdated head counts as changed by others.
package struct HeadCost {
    private let session: Session
    private static let rest = Data.random(count: 224)

    /// - Parameter vault: An existing vault.
    package init(_ vault: Vault) throws { session = try vault.currentSession() }

    /// One durable transaction of a row with one entry of the index.
    ///
    /// - Parameters:
    ///   - number: The number of the row, which is replaced if it exists.
    ///   - keepingHead: If false, work for the head is left out: no check of the head or of an anchor, and no digest of
    ///     a row.
    package func write(row number: Int, keepingHead: Bool) throws {
        try session.writingConnection().use { connection in
            let keeper = keepingHead ? HeadKeeper(session, connection) : nil
            let items = keeper?.transaction.items ?? ItemWriter(connection, RowChanges { nil })
            try connection.begin()
            keeper?.began()
            let isReplaced = try ItemTable(connection).row(Int64(number)) != nil
            try write(Int64(number), items, isReplaced, keeper?.random ?? RandomBatch())
            try keeper?.finish()
            try connection.commit(session.location.databaseFile)
            keeper?.committed()
        }
    }

    /// Removes the kernel's record of the vault, which otherwise stays until the machine is shut down.
    package func forget() { session.anchors.removeKey() }

    /// As many random bytes as sealing an item takes from the same batch; the rest of the row is always the same.
    private func write(_ number: Int64, _ items: ItemWriter, _ isReplaced: Bool, _ random: RandomBatch) throws {
        let (id, nonces) = (Data.random(count: 16, random), Data.random(count: 60, random))
        let row = SealedRow(
            rowID: number, id: UUID(bytes: id), version: 1, keyClass: 6, generation: 1,
            key: KeyDigests(major: id, minor: nonces.prefix(16), scope: nonces.suffix(16)),
            metadata: nonces + Self.rest.prefix(224), value: nonces + Self.rest.prefix(92))
        let lookup = Data(repeating: UInt8(truncatingIfNeeded: number), count: 16)
        if isReplaced {
            try items.replace(row, lookups: [lookup], previous: [lookup])
        } else {
            try items.insert(row, lookups: [lookup])
        }
    }
}
