// SPDX-License-Identifier: Apache-2.0
// Items of the vault as writes of the core, and back, within one transaction.

import Foundation
import KeychainCrypto
import KeychainEngine
package import KeychainSyncCore
import KeychainVault

/// Takes up what was changed on this machine, and changes what other machines have changed.
struct ItemExchange {
    private let transaction: RingTransaction
    private let now: UInt64
    private(set) var findings: [SyncFinding] = []
    private(set) var applied = 0
    /// Rows that stay in the outbox: each exchange says so, and no other machine's change takes their place.
    private var tooLarge: Set<Int64> = []

    init(_ transaction: RingTransaction, _ now: UInt64) { (self.transaction, self.now) = (transaction, now) }

    /// As much as the core takes in one transaction, far below its bounds.
    private static let most = (writes: 10_000, bytes: 8 << 20)

    // MARK: - From the vault

    /// Makes the outbox writes of the core. It comes first in each transaction: what is here has been written without having seen
    /// what is applied next.
    ///
    /// - Returns: How many there were.
    mutating func takeOutgoing(_ replica: inout Replica) throws(KeychainError) -> Int {
        guard replica.ring.mayWrite(replica.member) else { return 0 }
        let outgoing = try transaction.outgoing()
        guard !outgoing.isEmpty else { return 0 }
        let named = try named(outgoing, replica.keyring.ring, replica.ring.policy)
        let live = Set(named.compactMap(\.written))
        var groups: [[Named]] = []
        var last: [Int64: Int] = [:]
        for change in named {
            if let group = last[change.change] {
                groups[group].append(change)
            } else {
                last[change.change] = groups.count
                groups.append([change])
            }
        }
        for group in groups { try commit(group, live, &replica) }
        try transaction.clearOutgoing(keeping: tooLarge)
        return outgoing.count - tooLarge.count
    }

    /// A change with the names that it concerns.
    private struct Named {
        let change: Int64
        let time: UInt64
        var written: SyncID?
        var content: [UInt8] = []
        var accessibility: UInt8 = 0
        var deleted: SyncID?
    }

    private mutating func named(
        _ outgoing: [OutgoingChange], _ keys: RingKeys, _ policy: Policy
    ) throws(KeychainError) -> [Named] {
        var all: [Named] = []
        for change in outgoing {
            var named = Named(change: change.change, time: change.time)
            switch change.content {
            case .deletion(let name): named.deleted = SyncID(name)
            case .item(let row, let item):
                guard policy.shares(item.accessGroup) else { continue }
                let id = keys.item(SharedItem.primaryKey(item))
                let before = try transaction.name(ofRow: row).map { SyncID($0) }
                if let before, before != id { named.deleted = before }
                let content = SharedItem.encode(item)
                guard content.count <= Bounds.item else {
                    findings.append(.tooLargeToShare)
                    tooLarge.insert(row)
                    continue
                }
                (named.written, named.content) = (id, content)
                named.accessibility = item.accessControl.accessibility.number
                try transaction.setName(Data(id.bytes), ofRow: row)
            }
            all.append(named)
        }
        return all
    }

    private func commit(_ group: [Named], _ live: Set<SyncID>, _ replica: inout Replica) throws(KeychainError) {
        var (writes, size): ([SyncID: LocalWrite], Int) = ([:], 0)
        let time = min(now, group.map(\.time).max() ?? now)
        func flush() throws(KeychainError) {
            guard !writes.isEmpty else { return }
            do {
                _ = try replica.commit(writes.values.sorted { $0.item < $1.item }, at: time)
            } catch {
                throw KeychainError(exchange: error)
            }
            (writes, size) = ([:], 0)
        }
        for change in group {
            // What is here was written after whatever had its name was deleted.
            if let id = change.deleted, !live.contains(id) { writes[id] = LocalWrite(item: id, .deletion) }
            if let id = change.written {
                writes[id] = LocalWrite(item: id, .value(change.content, accessibility: change.accessibility))
                size += change.content.count
            }
            if writes.count >= Self.most.writes || size >= Self.most.bytes { try flush() }
        }
        try flush()
    }

    // MARK: - To the vault

    /// - Parameter before: The state that the vault's items are of.
    mutating func apply(_ changes: [ItemChange], _ replica: Replica, before: Replica) throws(KeychainError) {
        for change in changes {
            guard let shown = change.shown else {
                try remove(change, replica)
                continue
            }
            if before.items[change.item].shown?.header == shown.header { continue }
            guard let item = item(shown, replica) else { continue }
            if try transaction.put(item, named: Data(change.item.bytes)) {
                applied += 1
            } else {
                findings.append(.placeTaken(change.item))
            }
        }
    }

    private mutating func remove(_ change: ItemChange, _ replica: Replica) throws(KeychainError) {
        for record in change.replaced {
            guard let last = item(record, replica) else { continue }
            try transaction.remove(last)
            applied += 1
            return
        }
    }

    /// The item of a record; `nil` if it is none that may be shared, or of a newer version.
    private func item(_ record: SealedRecord, _ replica: Replica) -> Item? {
        guard record.header.kind == .value, var content = try? replica.open(record) else { return nil }
        defer { content.wipe() }
        guard let item = SharedItem.decode(content, accessibility: record.header.accessibility), item.isShared,
            replica.ring.policy.shares(item.accessGroup),
            replica.keyring.ring.item(SharedItem.primaryKey(item)) == record.header.item
        else { return nil }
        return item
    }
}

/// The examination of a vault has findings of its own.
package typealias SyncFinding = KeychainSyncCore.Finding
