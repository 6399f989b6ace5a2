// SPDX-License-Identifier: Apache-2.0
// Segments that were received and cannot be applied yet.

import Foundation

/// Segments as they were received, by writer and number.
package struct WaitingSegments: Sendable {
    private(set) var logs: [WriterID: [UInt64: Data]] = [:]
    private var size = 0

    var writers: [WriterID] { logs.keys.sorted() }

    subscript(writer: WriterID, number: UInt64) -> Data? { logs[writer]?[number] }

    /// - Parameter isNext: Whether it is the next segment of its log. Such a segment is also kept if there is no room.
    mutating func add(_ writer: WriterID, _ number: UInt64, _ bytes: Data, isNext: Bool) {
        guard self[writer, number] == nil, isNext || size + bytes.count <= Bounds.waiting else { return }
        logs[writer, default: [:]][number] = bytes
        size += bytes.count
    }

    mutating func remove(_ writer: WriterID, _ number: UInt64) {
        guard let bytes = logs[writer]?.removeValue(forKey: number) else { return }
        size -= bytes.count
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

    private func unusedCount(_ writer: WriterID, _ segments: [UInt64: Data]) -> Int {
        var (count, pieces) = (0, [UInt8]())
        for (_, bytes) in segments.sorted(by: { $0.key < $1.key }) {
            guard let (epoch, body) = ofRemoved(bytes) else { continue }
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
