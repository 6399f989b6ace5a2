// SPDX-License-Identifier: Apache-2.0
// The oracle: everything that was ever published, and what follows from it.

import Foundation
import KeychainSyncCore

/// A run went wrong.
package struct Violation: Error, CustomStringConvertible {
    package let description: String
}

/// All writes that ever reached a carrier, with what their writers had seen.
struct Archive {
    struct Write {
        let record: SealedRecord
        let context: VersionVector
        let content: [UInt8]

        func saw(_ other: Write) -> Bool { context.covers(other.record.header.dot) }
    }

    private(set) var writes: [Dot: Write] = [:]
    /// The last of each writer.
    private(set) var vector = VersionVector()
    private var segments: [ObjectName: Data] = [:]
    private var pieces: [WriterID: [UInt8]] = [:]
    private var conflicts: Set<WriterID> = []

    /// Records the content of a segment, with the keys of its publisher.
    mutating func add(_ name: ObjectName, _ bytes: Data, by replica: Replica) throws {
        guard case .segment(let writer, _) = name else { return }
        if let old = segments[name] {
            guard old == bytes else { throw Violation(description: "\(name.text) has two contents") }
            return
        }
        segments[name] = bytes
        let (header, body) = try SegmentBody.open(bytes, in: replica.keyring)
        pieces[writer, default: []] += body.piece
        guard !body.continues else { return }
        let batch = try Batch(pieces[writer] ?? [], writer: writer, author: body.author, epoch: header.epoch)
        pieces[writer] = nil
        for entry in batch.entries {
            let dot = entry.record.header.dot
            guard writes[dot] == nil else { throw Violation(description: "a dot was used twice") }
            vector[dot.writer] = max(vector[dot.writer], dot.counter)
            writes[dot] = Write(
                record: entry.record, context: batch.context(of: entry), content: try replica.open(entry.record))
        }
    }

    /// Of each item, the values that no other write had seen, among those that a vector covers.
    func expected(within vector: VersionVector) -> [SyncID: Set<Dot>] {
        let all = Dictionary(grouping: writes.values.filter { vector.covers($0.record.header.dot) }) {
            $0.record.header.item
        }
        return all.compactMapValues { writes in
            let values = writes.filter { write in
                write.record.header.kind == .value && !writes.contains { $0.saw(write) }
            }
            return values.isEmpty ? nil : Set(values.map(\.record.header.dot))
        }
    }
}
