// SPDX-License-Identifier: Apache-2.0
// Converts items of the vault to writes of the core, and back, within one transaction.

import Foundation
import KeychainCrypto
import KeychainEngine
package import KeychainSyncCore
import KeychainVault

/// Collects local changes, and applies the changes of other machines.
struct ItemExchange {
    private let transaction: RingTransaction
    private let now: UInt64
    private(set) var findings: [SyncFinding] = []
    private(set) var applied = 0
    /// Items whose shown value is not in the vault: their place is taken, or this version cannot read them. Each exchange tries
    /// again. A user who changes such an item here has not seen that value, so it is kept beside the user's.
    private(set) var hidden: Set<SyncID>
    /// Items that were written on this machine.
    private(set) var written: Set<SyncID> = []
    /// Items written here of which another machine's value is shown.
    private var overruled: Set<SyncID> = []
    /// Rows that stay in the outbox: each exchange reports them, and no other machine's change takes their place.
    private var tooLarge: Set<Int64> = []

    init(_ transaction: RingTransaction, _ now: UInt64, hidden: Set<SyncID>) {
        (self.transaction, self.now, self.hidden) = (transaction, now, hidden)
    }

    // MARK: - From the vault

    /// Converts the outbox to writes of the core. It runs first in each transaction: local changes were made without
    /// knowledge of what is applied next.
    ///
    /// - Returns: The number of writes.
    mutating func takeOutgoing(_ replica: inout Replica) throws(KeychainError) -> Int {
        guard replica.ring.mayWrite(replica.member) else {
            try noteUnsent(replica)
            return 0
        }
        let outgoing = try transaction.outgoing()
        guard !outgoing.isEmpty else { return 0 }
        defer { for case .item(_, let item) in outgoing.map(\.content) { item.value?.wipeWithCopies() } }
        let named = try named(outgoing, replica.keyring.ring, replica.ring.policy)
        // They are sealed by then.
        defer { for change in named { change.content.wipeWithCopies() } }
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

    /// What a machine changes that only reads stays on it.
    private mutating func noteUnsent(_ replica: Replica) throws(KeychainError) {
        guard replica.ring.isActive(replica.member) else { return }
        let changes = try transaction.outgoingCount()
        if changes > 0 { findings.append(.notSent(changes: changes)) }
    }

    /// A change with its item names.
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
                let before = try transaction.name(ofRow: row).map { SyncID($0) }
                guard policy.shares(item.accessGroup) else {
                    // It may have been in a group that is shared.
                    guard let before else { continue }
                    try transaction.removeName(ofRow: row)
                    named.deleted = before
                    break
                }
                let id = keys.item(SharedItem.primaryKey(item))
                if let before, before != id { named.deleted = before }
                let content = SharedItem.encode(item)
                guard content.count <= Bounds.item else {
                    findings.append(.tooLargeToShare(item: item.nameForPeople))
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

    /// What belongs together is one transaction of the core, unless it is larger than one can be.
    private mutating func commit(
        _ group: [Named], _ live: Set<SyncID>, _ replica: inout Replica
    ) throws(KeychainError) {
        let time = min(now, group.map(\.time).max() ?? now)
        var (writes, size): ([SyncID: LocalWrite], Int) = ([:], 0)
        for change in group {
            for write in localWrites(change, live) {
                if !writes.isEmpty, writes.count == Bounds.records || size + write.length > Outbox.room {
                    try commit(writes, at: time, &replica)
                    (writes, size) = ([:], 0)
                }
                size += write.length
                writes[write.item] = write
            }
        }
        try commit(writes, at: time, &replica)
    }

    private func localWrites(_ change: Named, _ live: Set<SyncID>) -> [LocalWrite] {
        var writes: [LocalWrite] = []
        // What is here was written after whatever had its name was deleted.
        if let id = change.deleted, !live.contains(id) {
            writes.append(LocalWrite(item: id, .deletion, hasSeenAll: !hidden.contains(id)))
        }
        if let id = change.written {
            let content = LocalWrite.Content.value(change.content, accessibility: change.accessibility)
            writes.append(LocalWrite(item: id, content, hasSeenAll: !hidden.contains(id)))
        }
        return writes
    }

    private mutating func commit(
        _ writes: [SyncID: LocalWrite], at time: UInt64, _ replica: inout Replica
    ) throws(KeychainError) {
        guard !writes.isEmpty else { return }
        let changes: [ItemChange]
        do {
            changes = try replica.commit(writes.values.sorted { $0.item < $1.item }, at: time)
        } catch {
            throw KeychainError(exchange: error)
        }
        for change in changes {
            written.insert(change.item)
            let isOwn = change.shown.map { $0.header.dot.writer == replica.writer } ?? true
            if isOwn { hidden.remove(change.item) } else { overruled.insert(change.item) }
        }
    }

    // MARK: - To the vault

    /// - Parameters:
    ///   - before: The state that the vault's items are of, but for those that are hidden.
    ///   - isRetrying: Whether hidden items are tried again.
    mutating func apply(
        _ changes: [ItemChange], _ replica: Replica, before: Replica, isRetrying: Bool
    ) throws(KeychainError) {
        // Several changes of one item may have come together. Only the last state counts.
        var items = Set(changes.map(\.item)).union(overruled)
        if isRetrying { items.formUnion(hidden) }
        for id in items.sorted() {
            let shown = replica.items[id].shown
            let isThere = shown?.header == before.items[id].shown?.header
            if isThere, !hidden.contains(id), !overruled.contains(id) { continue }
            hidden.remove(id)
            if let shown { try show(shown, id, replica) } else { try remove(id) }
        }
    }

    private mutating func show(_ record: SealedRecord, _ id: SyncID, _ replica: Replica) throws(KeychainError) {
        // The only reference, so that wiping it leaves no copy.
        var item: Item
        do {
            guard let opened = try replica.item(of: record, isApplied: true) else {
                findings.append(.notUnderstood(id))
                hidden.insert(id)
                return
            }
            item = opened
        } catch {
            findings.append(.notOpened(id, error))
            hidden.insert(id)
            return
        }
        defer { item.value?.wipe() }
        switch try transaction.put(item, named: Data(id.bytes)) {
        case .placed: applied += 1
        case .takenByUnshared:
            findings.append(.placeTaken(id))
            hidden.insert(id)
        case .takenByUnsent: hidden.insert(id)
        }
    }

    private mutating func remove(_ id: SyncID) throws(KeychainError) {
        if try transaction.remove(named: Data(id.bytes)) { applied += 1 }
    }

}

extension Item {
    /// The account and the service or server, as far as it has them; those of a key or certificate: its label. A name may be as long as
    /// a value, so only its beginning is shown.
    fileprivate var nameForPeople: String {
        func text(_ attribute: Attribute) -> String? {
            guard case .string(let text) = attributes[attribute], !text.isEmpty else { return nil }
            let beginning = String(String.UnicodeScalarView(text.unicodeScalars.prefix(64)))
            return "'\(beginning.withoutControls)\(beginning.utf8.count < text.utf8.count ? "…" : "")'"
        }
        let name = text(.account) ?? text(.label)
        let place = (text(.service) ?? text(.server)).map { "of \($0)" }
        return [name, place].compactMap(\.self).joined(separator: " ")
    }
}

extension Replica {
    /// The item of a record; `nil` if it must not be shared, or is from a newer version.
    ///
    /// - Parameter isApplied: Whether it is among the items of the replica, so that its signature was checked before.
    /// - Throws: Why the record cannot be opened.
    func item(of record: SealedRecord, isApplied: Bool = false) throws(Refusal) -> Item? {
        guard record.header.kind == .value else { return nil }
        var content = try isApplied ? openApplied(record) : open(record)
        defer { content.wipe() }
        guard let item = SharedItem.decode(content, accessibility: record.header.accessibility), item.isShared,
            ring.policy.shares(item.accessGroup),
            keyring.ring.item(SharedItem.primaryKey(item)) == record.header.item
        else { return nil }
        return item
    }
}

/// A second name, because the examination of a vault has findings of its own.
package typealias SyncFinding = KeychainSyncCore.Finding
