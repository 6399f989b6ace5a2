// SPDX-License-Identifier: Apache-2.0
// The items of a ring on one machine: for each item, the writes that no other write has seen.

import Foundation
package import KeychainCrypto

/// The change of one item.
package struct ItemChange: Equatable, Sendable {
    package let item: SyncID
    /// The value that is shown now; `nil`: the item is deleted.
    package let shown: SealedRecord?
    /// Concurrent values that are not shown. They are kept until a member that saw them writes the item.
    package let others: [SealedRecord]
    /// The values that were replaced.
    package let replaced: [SealedRecord]
}

/// The merged state. It is a function of the set of applied writes, whatever their order: for each item, the writes
/// that no later writer had seen, without the deletions.
///
/// Deletions are not kept. A write is applied after everything that its writer had seen, so the values that a deletion
/// removes have arrived already. If they are received again, the vector shows that they were deleted.
package struct MergedItems: Equatable, Sendable {
    /// Covers all writes whose effect is in `versions`.
    package private(set) var vector = VersionVector()
    private(set) var versions: [SyncID: [Dot: SealedRecord]] = [:]
    /// The sum over all versions: equal sums mean equal items.
    package private(set) var sum = SetSum.zero
    package private(set) var count: UInt32 = 0

    package init() {}

    /// Restores a stored state.
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

    /// Applies one write. The vector must cover its context.
    ///
    /// - Parameter context: What the writer had seen, including its own writes.
    package mutating func apply(_ record: SealedRecord, seen context: VersionVector, _ keys: RingKeys) -> ItemChange {
        let item = record.header.item
        let overwritten = (versions[item] ?? [:]).values.filter { context.covers($0.header.dot) }
        for old in overwritten { remove(old, keys) }
        if record.header.kind == .value { insert(record, keys) }
        vector[record.header.dot.writer] = max(vector[record.header.dot.writer], record.header.dot.counter)
        return change(item, overwritten)
    }

    /// Applies a batch as a whole. The vector must cover the batch's vector.
    package mutating func apply(_ batch: Batch, _ keys: RingKeys) -> [ItemChange] {
        let changes = batch.entries.map { apply($0.record, seen: batch.context(of: $0), keys) }
        vector[batch.writer] = max(vector[batch.writer], batch.through)
        return changes
    }

    /// Merges a snapshot: keeps what both have, and of the rest what the other one has not seen.
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

    /// Removes the last writes of one writer, which no other machine has.
    ///
    /// The values that they had overwritten stay removed: the writes will be repeated by another writer.
    package mutating func takeBack(_ writer: WriterID, after counter: UInt64, _ keys: RingKeys) {
        for record in records where record.header.dot.writer == writer && record.header.dot.counter > counter {
            remove(record, keys)
        }
        vector[writer] = min(vector[writer], counter)
    }

    /// Replaces writes by the same writes under the keys of another epoch.
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

/// The versions of one item. The first is shown.
package struct ItemVersions: Equatable, Sendable {
    package let all: [SealedRecord]

    init(_ versions: [SealedRecord]) { all = versions.sorted { $0.header.isShown(before: $1.header) } }

    package var shown: SealedRecord? { all.first }
    package var others: [SealedRecord] { Array(all.dropFirst()) }
}

extension RecordHeader {
    /// The later one is shown. If the times are equal, the higher writer wins. The order only uses signed fields that a
    /// locked machine can read, so it is the same on all machines.
    func isShown(before other: RecordHeader) -> Bool { (time, dot) > (other.time, other.dot) }
}
