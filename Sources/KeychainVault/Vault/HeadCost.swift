// SPDX-License-Identifier: Apache-2.0
// The cost of the head, for Benchmarks.

import Foundation
import KeychainCrypto
import KeychainEngine
import SecretMemory

/// Transactions that add or replace a row, with the head and without. Use it only for a vault that is deleted
/// afterwards: a vault with an outdated head counts as changed by others.
package struct HeadCost {
    private let session: Session

    /// - Parameter vault: An existing vault.
    package init(_ vault: Vault) throws { session = try vault.currentSession() }

    /// One durable transaction of a new item, or of one that replaces another.
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

    /// Seals an item as any other write does: what that brings into the processor's caches, the head finds there as well.
    private func write(_ number: Int64, _ items: ItemWriter, _ isReplaced: Bool, _ random: RandomBatch) throws {
        let sealer = try session.keyState.sealer()
        let item = Item(
            itemClass: .genericPassword,
            attributes: [
                .account: .string("account \(number)"), .service: .string("benchmark"), .accessGroup: .string(""),
                .synchronizable: .number(0), .label: .string("label \(number)"),
            ],
            accessControl: AccessControl(.afterFirstUnlock), value: Data(count: 32))
        let row = try sealer.seal(
            item, rowID: number, id: sealer.makeID(rowID: number, random), version: 1, Proofs(), random)
        let lookups = sealer.digests.lookups(item)
        if isReplaced {
            try items.replace(row, lookups: lookups, previous: lookups)
        } else {
            try items.insert(row, lookups: lookups)
        }
    }
}
