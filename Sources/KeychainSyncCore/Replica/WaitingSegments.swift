// SPDX-License-Identifier: Apache-2.0
// Segments that were received and cannot be applied yet.

import Foundation

/// Segments as they were received, by writer and number.
package struct WaitingSegments: Sendable {
    struct Held: Equatable, Sendable {
        let bytes: Data
        /// Ascending in the order in which they came.
        let place: UInt64
    }

    private(set) var logs: [WriterID: [UInt64: Held]] = [:]
    /// Whether something had no room that is still to be read again.
    var lacksRoom = false
    private var size = 0
    private var last: UInt64 = 0

    var writers: [WriterID] { logs.keys.sorted() }

    subscript(writer: WriterID, number: UInt64) -> Data? { logs[writer]?[number]?.bytes }

    /// - Parameter isSigned: Whether a member has signed it. It is taken in any case, since perhaps it can be applied at once; ``trim()``
    ///   must follow.
    mutating func add(_ writer: WriterID, _ number: UInt64, _ bytes: Data, isSigned: Bool) {
        guard self[writer, number] == nil else { return }
        guard isSigned || size + bytes.count <= Bounds.waiting else {
            lacksRoom = true
            return
        }
        last += 1
        logs[writer, default: [:]][number] = Held(bytes: bytes, place: last)
        size += bytes.count
    }

    /// Drops what came first, until the rest has room. The next listings ask for it again.
    ///
    /// What came last stays, so a transaction of several segments is complete once its last one is read, however much waits for ever.
    mutating func trim() {
        guard size > Bounds.waiting else { return }
        lacksRoom = true
        let held = logs.flatMap { writer, log in log.map { (writer: writer, number: $0.key, place: $0.value.place) } }
        for segment in held.sorted(by: { $0.place < $1.place }) {
            remove(segment.writer, segment.number)
            if size <= Bounds.waiting { return }
        }
    }

    mutating func remove(_ writer: WriterID, _ number: UInt64) {
        guard let held = logs[writer]?.removeValue(forKey: number) else { return }
        size -= held.bytes.count
        if logs[writer]?.isEmpty == true { logs[writer] = nil }
    }

    mutating func removeAll(of writer: WriterID, through number: UInt64) {
        for old in (logs[writer] ?? [:]).keys where old <= number { remove(writer, old) }
    }
}

extension Replica {
    /// How many changes of removed machines have come and are not applied. Nobody applies what came after the removal.
    package var unusedCount: Int {
        waiting.logs.reduce(0) { $0 + unusedCount($1.key, $1.value) }
    }

    private func unusedCount(_ writer: WriterID, _ segments: [UInt64: WaitingSegments.Held]) -> Int {
        var (count, pieces) = (0, [UInt8]())
        for (_, held) in segments.sorted(by: { $0.key < $1.key }) {
            guard let (epoch, body) = ofRemoved(held.bytes) else { continue }
            pieces += body.piece
            guard !body.continues else { continue }
            count += (try? Batch(pieces, writer: writer, author: body.author, epoch: epoch))?.entries.count ?? 0
            pieces = []
        }
        return count
    }

    /// - Returns: `nil` if a removed member has not signed it.
    private func ofRemoved(_ bytes: Data) -> (EpochID, SegmentBody)? {
        guard let (header, body) = try? SegmentBody.open(bytes, in: keyring),
            ring.members[body.author]?.isRemoved == true, let author = log.publicKeys(of: body.author),
            (try? body.check(header, by: author)) != nil
        else { return nil }
        return (header.epoch, body)
    }
}
