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

    /// In the order of their counters.
    package private(set) var entries: [Entry] = []
    private(set) var lastTransaction: UInt64 = 0

    package init() {}

    /// Restores a stored outbox.
    init(_ entries: [Entry], lastTransaction: UInt64) {
        self.entries = entries.sorted { $0.record.header.dot < $1.record.header.dot }
        self.lastTransaction = lastTransaction
    }

    package var isEmpty: Bool { entries.isEmpty }

    /// Adds the writes of one transaction. They replace older writes of the same items, which no other machine has
    /// seen.
    package mutating func add(_ writes: [(record: SealedRecord, context: VersionVector)]) {
        lastTransaction += 1
        let items = Set(writes.map(\.record.header.item))
        let replaced = entries.filter { items.contains($0.record.header.item) }
        // The rest of an older transaction must not arrive without the writes that replaced its other part.
        let joined = Set(replaced.map(\.transaction))
        entries.removeAll { items.contains($0.record.header.item) }
        for index in entries.indices where joined.contains(entries[index].transaction) {
            entries[index].transaction = lastTransaction
        }
        entries += writes.map { Entry(record: $0.record, context: $0.context, transaction: lastTransaction) }
    }

    /// The maximum size of the records of one batch; contexts and the vector are additional.
    package static let room = 20 << 20

    package mutating func removeAll() { entries = [] }

    package mutating func removeFirst(_ count: Int) { entries.removeFirst(count) }

    /// How many of the first entries fit into one batch, cut between transactions. Transactions that belong together and do not
    /// fit are cut where the batch is full: otherwise nothing would ever be sent again.
    ///
    /// - Parameter bytes: What the records of a batch may take.
    /// - Returns: 0 only if there are none, or the first entry alone does not fit.
    package func fitting(bytes: Int = room) -> Int {
        var (end, size, contexts, best) = (0, 0, [VersionVector](), 0)
        var open: Set<UInt64> = []
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
