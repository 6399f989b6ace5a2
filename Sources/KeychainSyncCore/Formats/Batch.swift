// SPDX-License-Identifier: Apache-2.0
// The records of one transaction, and what their writer had seen.

import Foundation
import KeychainCrypto

/// The content of one segment, or of several that belong together. It is applied as a whole.
package struct Batch: Equatable, Sendable {
    package struct Entry: Equatable, Sendable {
        package let record: SealedRecord
        /// The index of its context.
        package let context: Int

        package init(record: SealedRecord, context: Int) {
            self.record = record
            self.context = context
        }
    }

    package let writer: WriterID
    /// The counters that it covers: from `after` (exclusive) to `through`. Some may have no record, because newer
    /// writes replaced theirs.
    package let after: UInt64
    package let through: UInt64
    package let time: HybridTime
    /// What its writer had seen of others when it created the batch.
    package let vector: VersionVector
    /// What its writer had seen of others when it wrote a record. `vector` covers all of it.
    package let contexts: [VersionVector]
    package let entries: [Entry]

    package init(
        writer: WriterID, after: UInt64, through: UInt64, time: HybridTime, vector: VersionVector,
        contexts: [VersionVector], entries: [Entry]
    ) {
        self.writer = writer
        self.after = after
        self.through = through
        self.time = time
        self.vector = vector
        self.contexts = contexts
        self.entries = entries
    }

    /// What its writer had seen when it wrote a record, including its own writes.
    package func context(of entry: Entry) -> VersionVector {
        var context = contexts[entry.context]
        context[writer] = entry.record.header.dot.counter - 1
        return context
    }

    /// What its writer has seen, including this batch.
    package var coverage: VersionVector {
        var vector = vector
        vector[writer] = through
        return vector
    }
}

extension Batch {
    package var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 1024)
        writer.append(bigEndian: after)
        writer.append(bigEndian: through)
        writer.append(bigEndian: time.number)
        vector.write(to: &writer)
        writer.append(bigEndian: UInt16(contexts.count))
        let known = vector.sorted
        for context in contexts { Self.write(context, below: known, to: &writer) }
        writer.append(bigEndian: UInt16(entries.count))
        for entry in entries {
            entry.record.header.writeFields(to: &writer)
            writer.append(bigEndian: UInt16(entry.context))
            writer.append(bigEndian: UInt32(entry.record.sealed.count))
            writer.append(entry.record.sealed)
        }
        return writer.bytes
    }

    /// Only the entries in which a context differs from the vector, as index and counter. Usually there are none.
    private static func write(
        _ context: VersionVector, below vector: [(writer: WriterID, counter: UInt64)], to writer: inout ByteWriter
    ) {
        let lower = vector.enumerated().filter { context[$0.element.writer] < $0.element.counter }
        writer.append(bigEndian: UInt16(lower.count))
        for (index, entry) in lower {
            writer.append(bigEndian: UInt16(index))
            writer.append(bigEndian: context[entry.writer])
        }
    }

    /// - Parameters:
    ///   - author: The member that signed the segment.
    ///   - epoch: The epoch of the segment, whose keys seal the records.
    package init(_ bytes: [UInt8], writer: WriterID, author: MemberID, epoch: EpochID) throws(Refusal) {
        var reader = ByteReader(bytes)
        self.writer = writer
        after = try reader.counter()
        through = try reader.counter()
        time = HybridTime(try reader.number())
        vector = try VersionVector(from: &reader)
        guard after <= through, vector[writer] == 0 else { throw .malformed }
        contexts = try Self.contexts(from: &reader, below: vector)
        let digests = contexts.map(RecordHeader.digest)
        var (entries, last) = ([Entry](), after)
        for _ in 0..<(try reader.count(UInt16.self, atMost: Bounds.records, ofAtLeast: RecordHeader.fieldsLength)) {
            let fields = try RecordFields(from: &reader)
            let context = Int(try reader.number(UInt16.self))
            // In the order of their counters, so that each write occurs once.
            guard context < contexts.count, fields.counter > last, fields.counter <= through else { throw .malformed }
            last = fields.counter
            let record = SealedRecord(
                header: fields.header(writer, digests[context]), author: author, epoch: epoch,
                sealed: try reader.sealedContent())
            entries.append(Entry(record: record, context: context))
        }
        try reader.end()
        self.entries = entries
    }

    private static func contexts(from reader: inout ByteReader, below vector: VersionVector) throws(Refusal)
        -> [VersionVector]
    {
        let known = vector.sorted
        var contexts: [VersionVector] = []
        for _ in 0..<(try reader.count(UInt16.self, atMost: Bounds.contexts, ofAtLeast: 2)) {
            var (context, last) = (vector, -1)
            for _ in 0..<(try reader.count(UInt16.self, atMost: Bounds.writers, ofAtLeast: 10)) {
                let (index, counter) = (Int(try reader.number(UInt16.self)), try reader.number(UInt64.self))
                guard index > last, index < known.count, counter < known[index].counter else { throw .malformed }
                context[known[index].writer] = counter
                last = index
            }
            contexts.append(context)
        }
        return contexts
    }
}
