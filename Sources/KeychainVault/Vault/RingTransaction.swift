// SPDX-License-Identifier: Apache-2.0
// What a vault in a ring tells of itself, and takes in from other machines, within one transaction.

package import Foundation
package import KeychainEngine

/// A change that was made on this machine and has to reach the others.
package struct OutgoingChange: Sendable {
    package enum Content: Sendable {
        case item(row: Int64, Item)
        /// The name in the ring of an item that was deleted, or shared no longer.
        case deletion(Data)
    }

    /// Those with one number belong together.
    package let change: Int64
    /// In milliseconds since 1970, by the clock of this machine.
    package let time: UInt64
    package let content: Content
}

/// The vault during one transaction of the machine's part in a ring. Items are changed as by any other program, and observers are
/// told; the changes themselves are not sent back.
package struct RingTransaction {
    private let transaction: VaultTransaction
    private let tables: SyncTables
    private let path: String

    init(_ transaction: VaultTransaction) {
        self.transaction = transaction
        tables = SyncTables(transaction.connection)
        path = transaction.session.location.databaseFile
    }

    package var isInRing: Bool { transaction.session.isInRing }

    // MARK: - Entering and leaving

    /// Makes the vault one of a ring. All items that are shared then count as changed.
    package func enter() throws(KeychainError) {
        try translating {
            try transaction.changeFormat(VaultSchema.addRing)
            let sealer = try transaction.sealer()
            var shared: [(row: Int64, modified: Date)] = []
            try transaction.content.table.forEach(.all, .metadata) { row in
                // A row that does not open is not shared either; it is reported wherever damage is.
                if let stored = try? sealer.open(row), stored.item.isShared {
                    shared.append((row.rowID, stored.item.modified))
                }
                return true
            }
            // Each is a change of its own, of the time at which it was made: where the ring has the item too, the later one is shown.
            for (row, modified) in shared.sorted(by: { ($0.modified, $0.row) < ($1.modified, $1.row) }) {
                try OutgoingChanges(transaction.connection, at: modified).wrote(row, isShared: true)
            }
        }
    }

    /// The items stay; what the vault knew of the ring goes.
    package func leave() throws(KeychainError) {
        try translating { try transaction.changeFormat(VaultSchema.removeRing) }
    }

    // MARK: - Changes of this machine

    /// The changes that were not taken yet, in their order. A row that is damaged is left out: it stays where it is, and other
    /// machines keep what they have.
    ///
    /// - Throws: `locked` if a changed item cannot be opened now.
    package func outgoing() throws(KeychainError) -> [OutgoingChange] {
        try translating {
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

    /// Call it once all of them are in the stored state.
    ///
    /// - Parameter rows: Those whose entries stay.
    package func clearOutgoing(keeping rows: Set<Int64> = []) throws(KeychainError) {
        try translating { try tables.removeOutgoing(keeping: rows) }
    }

    /// The name in the ring of a row's item, as far as it was settled.
    package func name(ofRow row: Int64) throws(KeychainError) -> Data? { try translating { try tables.id(ofRow: row) } }

    package func setName(_ name: Data, ofRow row: Int64) throws(KeychainError) {
        try translating { try tables.set(name, ofRow: row) }
    }

    // MARK: - Changes of other machines

    /// Puts an item in the place of the one with its primary key, or adds it.
    ///
    /// - Returns: `false` if its place is taken by an item that is not shared, or could not be sent. That one stays.
    package func put(_ item: Item, named name: Data) throws(KeychainError) -> Bool {
        try transaction.withoutTelling { () throws(KeychainError) in
            let selection = Self.selection(item)
            let found = try transaction.select(selection, limit: 1, includingValues: false, .none).items.first
            if let found, try stays(found) { return false }
            let stored: StoredItem
            if let found {
                _ = try transaction.update(selection, .none) { _ in item }
                stored = found
            } else {
                stored = try transaction.insert(item, .none)
            }
            try translating { try tables.set(name, ofRow: transaction.sealer().rowID(of: stored.id)) }
            return true
        }
    }

    /// Removes the item with the primary key of `item`, if it is shared.
    package func remove(_ item: Item) throws(KeychainError) {
        try transaction.withoutTelling { () throws(KeychainError) in
            let selection = Self.selection(item)
            let found = try transaction.select(selection, limit: 1, includingValues: false, .none).items.first
            guard let found, try !stays(found) else { return }
            _ = try transaction.delete(selection, .none)
            try translating { try tables.removeID(ofRow: transaction.sealer().rowID(of: found.id)) }
        }
    }

    /// Whether an item of this machine gives way to no other one: it is not shared, or could not be sent.
    private func stays(_ stored: StoredItem) throws(KeychainError) -> Bool {
        guard stored.item.isShared else { return true }
        return try translating { try tables.change(ofRow: transaction.sealer().rowID(of: stored.id)) != nil }
    }

    private static func selection(_ item: Item) -> Selection {
        let schema = item.itemClass.schema
        var conditions = Attributes()
        for rule in [schema.major, schema.minor] + schema.scope {
            // Absent and empty are the same in a primary key.
            conditions[rule.attribute] = item.attributes[rule.attribute] ?? .data(Data())
        }
        return Selection(itemClass: item.itemClass, conditions: conditions)
    }

    // MARK: - The stored state

    /// All parts of the state, by name. Whoever writes them seals them.
    package func state() throws(KeychainError) -> [Data: Data] { try translating { try tables.state() } }

    package func part(_ name: Data) throws(KeychainError) -> Data? { try translating { try tables.part(name) } }

    package func write(_ bytes: Data, as name: Data) throws(KeychainError) {
        try translating { try tables.write(bytes, as: name) }
    }

    package func removePart(_ name: Data) throws(KeychainError) { try translating { try tables.removePart(name) } }

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
