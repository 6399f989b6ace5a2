// SPDX-License-Identifier: Apache-2.0
// Local writes that are in no segment yet.

/// The newest write of each item, with what the writer had seen at that time.
package struct Outbox: Equatable, Sendable {
    package struct Entry: Equatable, Sendable {
        package let record: SealedRecord
        /// Without the writer's own entry.
        package let context: VersionVector
        package var transaction: UInt64
    }

    /// In the order of their counters; `nil`: a newer write took its place.
    private var slots: [Entry?] = []
    /// Where the write of each item is, and which items a transaction has: adding looks at nothing else.
    private var places: [SyncID: Int] = [:]
    private var transactions: [UInt64: Set<SyncID>] = [:]
    private(set) var lastTransaction: UInt64 = 0

    package init() {}

    /// Restores a stored outbox.
    init(_ entries: [Entry], lastTransaction: UInt64) {
        self.lastTransaction = lastTransaction
        fill(entries.sorted { $0.record.header.dot < $1.record.header.dot })
    }

    package static func == (lhs: Outbox, rhs: Outbox) -> Bool {
        lhs.lastTransaction == rhs.lastTransaction && lhs.entries == rhs.entries
    }

    /// In the order of their counters.
    package var entries: [Entry] { slots.compactMap(\.self) }

    package var count: Int { places.count }

    package var isEmpty: Bool { places.isEmpty }

    private mutating func fill(_ entries: [Entry]) {
        (slots, places, transactions) = (entries, [:], [:])
        for (place, entry) in entries.enumerated() {
            places[entry.record.header.item] = place
            transactions[entry.transaction, default: []].insert(entry.record.header.item)
        }
    }

    /// Adds the writes of one transaction. They replace older writes of the same items, which no other machine has
    /// seen.
    package mutating func add(_ writes: [(record: SealedRecord, context: VersionVector)]) {
        lastTransaction += 1
        // What is left of an older transaction must not arrive without what took the place of its other part.
        let joined = Set(writes.compactMap { remove($0.record.header.item) })
        let transaction = join(joined)
        for write in writes {
            let item = write.record.header.item
            places[item] = slots.count
            slots.append(Entry(record: write.record, context: write.context, transaction: transaction))
            transactions[transaction, default: []].insert(item)
        }
        if slots.count > 2 * places.count + 64 { fill(entries) }
    }

    /// - Returns: The transaction that the item's write was of.
    private mutating func remove(_ item: SyncID) -> UInt64? {
        guard let place = places.removeValue(forKey: item), let old = slots[place] else { return nil }
        slots[place] = nil
        transactions[old.transaction]?.remove(item)
        return old.transaction
    }

    /// Makes one transaction of several, and of a new one, under the number of the largest: few entries change.
    private mutating func join(_ joined: Set<UInt64>) -> UInt64 {
        func size(_ transaction: UInt64) -> Int { transactions[transaction]?.count ?? 0 }
        let largest = joined.max { (size($0), $0) < (size($1), $1) }
        guard let largest, size(largest) > 0 else {
            for empty in joined { transactions[empty] = nil }
            return lastTransaction
        }
        for other in joined where other != largest {
            for item in transactions.removeValue(forKey: other) ?? [] {
                if let place = places[item] { slots[place]?.transaction = largest }
                transactions[largest, default: []].insert(item)
            }
        }
        return largest
    }

    /// The maximum size of the records of one batch; contexts and the vector are additional.
    package static let room = 20 << 20

    package mutating func removeFirst(_ count: Int) { fill(Array(entries.dropFirst(count))) }

    /// How many of the first entries fit into one batch, cut between transactions. Transactions that belong together and do not
    /// fit are cut where the batch is full: otherwise nothing would ever be sent again.
    ///
    /// - Parameter bytes: What the records of a batch may take.
    /// - Returns: 0 only if there are none, or the first entry alone does not fit.
    package func fitting(bytes: Int = room) -> Int {
        var (end, size, contexts, best) = (0, 0, [VersionVector](), 0)
        var open: Set<UInt64> = []
        let entries = entries
        let last = Dictionary(entries.enumerated().map { ($0.element.transaction, $0.offset) }) { max($0, $1) }
        for entry in entries {
            size += RecordHeader.fieldsLength + 6 + entry.record.sealed.count
            if contexts.last != entry.context { contexts.append(entry.context) }
            guard size <= bytes, contexts.count <= Bounds.contexts, end < Bounds.records else { break }
            open.insert(entry.transaction)
            if last[entry.transaction] == end { open.remove(entry.transaction) }
            end += 1
            if open.isEmpty { best = end }
        }
        return best > 0 ? best : end
    }
}
