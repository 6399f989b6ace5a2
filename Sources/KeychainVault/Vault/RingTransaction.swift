// SPDX-License-Identifier: Apache-2.0
// The interface of a vault for sync, within one transaction.

package import Foundation
import KeychainCrypto
package import KeychainEngine

/// A local change that must reach the other machines.
package struct OutgoingChange: Sendable {
    package enum Content: Sendable {
        case item(row: Int64, Item)
        /// The name in the ring of an item that was deleted, or is not shared any more.
        case deletion(Data)
    }

    /// Entries with the same number belong together.
    package let change: Int64
    /// In milliseconds since 1970, by the clock of this machine.
    package let time: UInt64
    package let content: Content
}

/// The vault during one transaction of sync. Items are changed as by any other program, and observers are notified, but
/// these changes are not sent back.
package struct RingTransaction {
    private let transaction: VaultTransaction
    private let writer: SyncWriter
    private var tables: SyncTables { writer.tables }
    private let path: String
    private let machineID: Data

    init(_ transaction: VaultTransaction, machineID: Data) {
        (self.transaction, self.machineID) = (transaction, machineID)
        writer = transaction.content.sync
        path = transaction.session.location.databaseFile
    }

    package var isInRing: Bool { transaction.session.isInRing }

    /// Differs from what it was once the vault was restored from a backup, or is on another machine.
    package func incarnation() throws(KeychainError) -> Data {
        try translating {
            let keys = try transaction.session.headKeys()
            let head = try HeadTable(transaction.connection).read().flatMap { Head(sealed: $0, keys) }
            var bytes = ByteWriter(capacity: 64)
            bytes.append(bigEndian: head?.epoch ?? 0)
            bytes.append(machineID)
            return Checksum.sha256(bytes.data).prefix(16)
        }
    }

    /// Rises when the vault gets new keys: when they are rotated, and when something that opened the vault is removed. An
    /// attacker with an older copy of the vault may then still know what it contained.
    package func keyGeneration() throws(KeychainError) -> UInt32 {
        try transaction.sealer().newestKeys(.whenUnlockedThisDeviceOnly).0
    }

    // MARK: - Entering and leaving

    /// Puts the vault in a ring. All shared items then count as changed.
    package func enter() throws(KeychainError) {
        try translating {
            try transaction.move(.entered)
            let sealer = try transaction.sealer()
            var shared: [(row: Int64, modified: Date)] = []
            try transaction.content.table.forEach(.all, .metadata) { row in
                // A row that cannot be opened is not shared. Examinations report the damage.
                if let stored = try? sealer.open(row), stored.item.isShared {
                    shared.append((row.rowID, stored.item.modified))
                }
                return true
            }
            // Each is a separate change with the time of its last write: if the ring also has the item, the later one
            // is shown.
            for (row, modified) in shared.sorted(by: { ($0.modified, $0.row) < ($1.modified, $1.row) }) {
                try OutgoingChanges(writer, at: modified).wrote(row, isShared: true)
            }
        }
    }

    /// Removes the state of the ring; the items remain.
    package func leave() throws(KeychainError) {
        try translating { try transaction.move(.left) }
    }

    // MARK: - Changes of this machine

    /// The changes that were not sent to the core yet, in order. Damaged rows are omitted: they remain here, and other
    /// machines keep their versions.
    ///
    /// - Throws: `locked` if a changed item cannot be opened now; `rolledBack` if an entry is none that this vault has made.
    package func outgoing() throws(KeychainError) -> [OutgoingChange] {
        try translating {
            if let known = try transaction.keeper.ringTotals()?.outbox {
                try check(try tables.outboxTotal(transaction.session.headKeys().rows) == known)
            }
            let sealer = try transaction.sealer()
            return try tables.outgoing().compactMap { entry in
                switch entry.content {
                case .deletion(let id): return OutgoingChange(entry, .deletion(id))
                case .item(let row):
                    return try item(row, sealer).map { OutgoingChange(entry, .item(row: row, $0)) }
                }
            }
        }
    }

    /// ``Vault/outboxMark``, within this transaction.
    package func outboxMark() throws(KeychainError) -> OutboxMark? { try translating { try tables.mark() } }

    /// How many there are, without looking at them.
    package func outgoingCount() throws(KeychainError) -> Int { try translating { try tables.outgoing().count } }

    private func item(_ row: Int64, _ sealer: RowSealer) throws -> Item? {
        guard let sealed = try transaction.content.table.wholeRow(row) else { return nil }
        do {
            var item = try sealer.open(sealed).item
            item.value = try sealer.openValue(sealed)
            return item
        } catch {
            if case .locked = error { throw KeychainError.locked }
            return nil
        }
    }

    /// Call it once the stored state contains all of them.
    ///
    /// - Parameter rows: The rows whose entries remain.
    package func clearOutgoing(keeping rows: Set<Int64> = []) throws(KeychainError) {
        try translating { try writer.removeOutgoing(keeping: rows) }
    }

    /// The name of a row's item in the ring, if it has one.
    package func name(ofRow row: Int64) throws(KeychainError) -> Data? { try translating { try tables.id(ofRow: row) } }

    package func setName(_ name: Data, ofRow row: Int64) throws(KeychainError) {
        try translating { try writer.set(name, ofRow: row) }
    }

    package func removeName(ofRow row: Int64) throws(KeychainError) {
        try translating { try writer.removeID(ofRow: row) }
    }

    // MARK: - Changes of other machines

    /// Where an item of another machine went.
    package enum Placement: Sendable {
        case placed
        /// An item that is not shared has its primary key, and stays.
        case takenByUnshared
        /// An item that could not be sent has its primary key, and stays.
        case takenByUnsent
    }

    /// Puts an item in the place of the one with its primary key, or adds it.
    package func put(_ item: Item, named name: Data) throws(KeychainError) -> Placement {
        try transaction.withoutTelling { () throws(KeychainError) in
            let selection = Self.selection(item)
            let found = try transaction.select(selection, limit: 1, includingValues: false, .none).items.first
            if let found {
                guard found.item.isShared else { return .takenByUnshared }
                guard try !isUnsent(found) else { return .takenByUnsent }
            }
            let stored: StoredItem
            if let found {
                var replaced = try transaction.update(selection, .none) { _ in item }
                for index in replaced.items.indices { replaced.items[index].item.value?.wipe() }
                stored = found
            } else {
                stored = try transaction.insert(item, .none)
            }
            try translating {
                try writer.set(name, ofRow: transaction.sealer().rowID(of: stored.id))
                // A machine that only reads sends no deletion, and the item is here again.
                try writer.removeOutgoing(id: name)
            }
            return .placed
        }
    }

    /// Removes the item that has a name in the ring, if it is shared and nothing of it waits to be sent.
    ///
    /// - Returns: Whether there was one.
    package func remove(named name: Data) throws(KeychainError) -> Bool {
        try transaction.withoutTelling { () throws(KeychainError) in
            guard let row = try translating({ try tables.row(ofID: name) }), var item = try item(atRow: row),
                item.isShared
            else { return false }
            // Only its primary key is needed.
            item.value?.wipe()
            let selection = Self.selection(item)
            let found = try transaction.select(selection, limit: 1, includingValues: false, .none).items.first
            guard let found, try !isUnsent(found) else { return false }
            _ = try transaction.delete(selection, .none)
            try translating { try writer.removeID(ofRow: row) }
            return true
        }
    }

    private func isUnsent(_ stored: StoredItem) throws(KeychainError) -> Bool {
        try translating { try tables.outgoing(ofRow: transaction.sealer().rowID(of: stored.id)) != nil }
    }

    private func item(atRow row: Int64) throws(KeychainError) -> Item? {
        try translating { try item(row, transaction.sealer()) }
    }

    private static func selection(_ item: Item) -> Selection {
        let schema = item.itemClass.schema
        var conditions = Attributes()
        for rule in [schema.major, schema.minor] + schema.scope {
            // In a primary key, absent and empty values are the same.
            conditions[rule.attribute] = item.attributes[rule.attribute] ?? .data(Data())
        }
        return Selection(itemClass: item.itemClass, conditions: conditions)
    }

    // MARK: - The stored state

    /// All parts of the state, by name. The caller seals them before it writes them.
    ///
    /// - Throws: `rolledBack` if they are not the ones that this vault has stored last.
    package func state() throws(KeychainError) -> [Data: Data] {
        try translating {
            if let known = try transaction.keeper.ringTotals() {
                try check(try tables.totals(transaction.session.headKeys().rows) == known)
            }
            return try tables.state()
        }
    }

    private func check(_ isAsStored: Bool) throws {
        guard !isAsStored else { return }
        throw KeychainError.rolledBack([.changed(.ring)], transaction.session.location)
    }

    package func part(_ name: Data) throws(KeychainError) -> Data? { try translating { try tables.part(name) } }

    package func write(_ bytes: Data, as name: Data) throws(KeychainError) {
        try translating { try writer.write(bytes, as: name) }
    }

    package func removePart(_ name: Data) throws(KeychainError) { try translating { try writer.removePart(name) } }

    /// The items of the vault, for the keys of the ring.
    package var items: any ItemOperations { transaction }

    private func translating<Result>(_ body: () throws -> Result) throws(KeychainError) -> Result {
        try DatabaseFailure.translating(path, body)
    }
}

extension Item {
    fileprivate var modified: Date {
        guard case .date(let seconds) = attributes[.modificationDate], seconds.isFinite else { return .distantPast }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }
}

extension OutgoingChange {
    fileprivate init(_ entry: SyncTables.Outgoing, _ content: Content) {
        self.init(change: entry.change, time: entry.time, content: content)
    }
}
