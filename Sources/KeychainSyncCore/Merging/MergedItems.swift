// SPDX-License-Identifier: Apache-2.0
// The items of a ring as one machine has them: of each, the writes that no other write has seen.

import Foundation
package import KeychainCrypto

/// What changed for one item.
package struct ItemChange: Equatable, Sendable {
    package let item: SyncID
    /// What is shown now; `nil`: the item is deleted.
    package let shown: SealedRecord?
    /// Concurrent values that are not shown. They are kept until somebody who saw them writes.
    package let others: [SealedRecord]
    /// What was there before and is gone.
    package let replaced: [SealedRecord]
}

/// The merged state. It is a function of the set of the writes that were applied, whatever their order: of each item, the
/// writes that nobody who wrote later had seen, without the deletions.
///
/// Deletions are not kept. A write is applied after everything that its writer had seen, so what a deletion removes is here
/// already, and the vector tells that it is gone when it is offered again.
package struct MergedItems: Equatable, Sendable {
    /// Everything whose effect is in `versions`.
    package private(set) var vector = VersionVector()
    private(set) var versions: [SyncID: [Dot: SealedRecord]] = [:]
    /// The sum over all versions: equal sums, equal items.
    package private(set) var sum = SetSum.zero
    package private(set) var count: UInt32 = 0

    package init() {}

    /// As they were stored.
    init(_ records: [SealedRecord], _ vector: VersionVector, _ keys: RingKeys) {
        for record in records { insert(record, keys) }
        self.vector = vector
    }

    package subscript(item: SyncID) -> ItemVersions { ItemVersions(versions[item]?.values.map { $0 } ?? []) }

    package var items: [SyncID] { versions.keys.sorted() }

    /// Every version, in a fixed order.
    package var records: [SealedRecord] {
        items.flatMap { (versions[$0] ?? [:]).values.sorted { $0.header.dot < $1.header.dot } }
    }

    package var digest: Bytes32<StateTag> { Bytes32(sum.bytes) }

    /// Applies one write, whose context the vector covers.
    ///
    /// - Parameter context: What the writer had seen, its own writes included.
    package mutating func apply(_ record: SealedRecord, seen context: VersionVector, _ keys: RingKeys) -> ItemChange {
        let item = record.header.item
        let overwritten = (versions[item] ?? [:]).values.filter { context.covers($0.header.dot) }
        for old in overwritten { remove(old, keys) }
        if record.header.kind == .value { insert(record, keys) }
        vector[record.header.dot.writer] = max(vector[record.header.dot.writer], record.header.dot.counter)
        return change(item, overwritten)
    }

    /// Applies a batch, whose vector this one covers, as a whole.
    package mutating func apply(_ batch: Batch, _ keys: RingKeys) -> [ItemChange] {
        let changes = batch.entries.map { apply($0.record, seen: batch.context(of: $0), keys) }
        vector[batch.writer] = max(vector[batch.writer], batch.through)
        return changes
    }

    /// Joins a snapshot: what both have stays; of the rest, what the other one has not seen.
    package mutating func join(_ records: [SealedRecord], _ other: VersionVector, _ keys: RingKeys) -> [ItemChange] {
        let theirs = Set(records.map(\.header.dot))
        var replaced: [SyncID: [SealedRecord]] = [:]
        for record in self.records where !theirs.contains(record.header.dot) && other.covers(record.header.dot) {
            remove(record, keys)
            replaced[record.header.item, default: []].append(record)
        }
        for record in records where !vector.covers(record.header.dot) {
            insert(record, keys)
            replaced[record.header.item, default: []] += []
        }
        vector.join(other)
        return replaced.keys.sorted().map { change($0, replaced[$0] ?? []) }
    }

    /// Takes back the last writes of one writer, which nobody else has.
    ///
    /// What they had overwritten stays away: they come again as those of another writer.
    package mutating func takeBack(_ writer: WriterID, after counter: UInt64, _ keys: RingKeys) {
        for record in records where record.header.dot.writer == writer && record.header.dot.counter > counter {
            remove(record, keys)
        }
        vector[writer] = min(vector[writer], counter)
    }

    /// Puts the same writes under the keys of another epoch in place of those that are here.
    package mutating func replaceSealed(_ record: SealedRecord) {
        let (item, dot) = (record.header.item, record.header.dot)
        if versions[item]?[dot]?.header == record.header { versions[item]?[dot] = record }
    }

    private mutating func insert(_ record: SealedRecord, _ keys: RingKeys) {
        let old = versions[record.header.item, default: [:]].updateValue(record, forKey: record.header.dot)
        guard old == nil else { return }
        sum = sum + keys.sum(record.header.item, record.header.dot)
        count += 1
    }

    private mutating func remove(_ record: SealedRecord, _ keys: RingKeys) {
        let item = record.header.item
        guard versions[item]?.removeValue(forKey: record.header.dot) != nil else { return }
        if versions[item]?.isEmpty == true { versions[item] = nil }
        sum = sum - keys.sum(item, record.header.dot)
        count -= 1
    }

    private func change(_ item: SyncID, _ replaced: [SealedRecord]) -> ItemChange {
        let versions = self[item]
        return ItemChange(item: item, shown: versions.shown, others: versions.others, replaced: replaced)
    }
}

/// The versions of one item, the one that is shown first.
package struct ItemVersions: Equatable, Sendable {
    package let all: [SealedRecord]

    init(_ versions: [SealedRecord]) { all = versions.sorted { $0.header.isShown(before: $1.header) } }

    package var shown: SealedRecord? { all.first }
    package var others: [SealedRecord] { Array(all.dropFirst()) }
}

extension RecordHeader {
    /// The later one is shown. Of equal times the higher writer's: an order of what is signed, the same on all machines, also
    /// on one that is locked and cannot look into the record.
    func isShown(before other: RecordHeader) -> Bool { (time, dot) > (other.time, other.dot) }
}
