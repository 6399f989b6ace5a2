// SPDX-License-Identifier: Apache-2.0
// The complete state of a machine, in parts, so that logs can be truncated.

package import Foundation
import KeychainCrypto

package struct SnapshotHeader: Hashable, Sendable {
    package let ring: RingID
    package let epoch: EpochID
    package let id: SnapshotID
    /// `nil` for the manifest; parts count from 1.
    package let part: UInt16?

    package init(ring: RingID, epoch: EpochID, id: SnapshotID, part: UInt16? = nil) {
        self.ring = ring
        self.epoch = epoch
        self.id = id
        self.part = part
    }

    private var kind: ObjectKind { part == nil ? .snapshot : .snapshotPart }
    var length: Int { part == nil ? 74 : 76 }

    package var bytes: [UInt8] {
        var writer = kind.header(of: ring)
        epoch.write(to: &writer)
        id.write(to: &writer)
        if let part { writer.append(bigEndian: part) }
        return writer.bytes
    }

    package init(from reader: inout ByteReader, ring: RingID, isPart: Bool) throws(Refusal) {
        try (isPart ? ObjectKind.snapshotPart : .snapshot).readHeader(&reader, of: ring)
        self.ring = ring
        epoch = try reader.epoch()
        id = try reader.bytes16()
        part = isPart ? try reader.number() : nil
        guard part != 0 else { throw .malformed }
    }
}

/// The last known position of a log, where its next segment continues.
package struct LogTip: Hashable, Sendable {
    /// The owner of the writer.
    package let author: MemberID
    /// The last write.
    package var counter: UInt64
    /// The last segment.
    package var number: UInt64
    package var hash: ObjectHash

    package init(author: MemberID, counter: UInt64, number: UInt64, hash: ObjectHash) {
        self.author = author
        self.counter = counter
        self.number = number
        self.hash = hash
    }
}

/// The content of a snapshot: what its author had seen, and the hashes of the parts with the records.
package struct SnapshotManifest: Equatable, Sendable {
    package let author: MemberID
    package let tips: [EntryHash]
    package let time: HybridTime
    /// The digest of the records.
    package let digest: Bytes32<StateTag>
    package let count: UInt32
    package let logs: [WriterID: LogTip]
    package let parts: [ObjectHash]
    package var signature = Data()

    package init(
        author: MemberID, tips: [EntryHash], time: HybridTime, digest: Bytes32<StateTag>, count: UInt32,
        logs: [WriterID: LogTip], parts: [ObjectHash]
    ) {
        self.author = author
        self.tips = tips
        self.time = time
        self.digest = digest
        self.count = count
        self.logs = logs
        self.parts = parts
    }

    package var vector: VersionVector { VersionVector(logs.mapValues(\.counter)) }

    private var unsigned: ByteWriter {
        var writer = ByteWriter(capacity: 256 + logs.count * 72 + parts.count * 32)
        author.write(to: &writer)
        writer.append(tips: tips)
        writer.append(bigEndian: time.number)
        digest.write(to: &writer)
        writer.append(bigEndian: count)
        writer.append(bigEndian: UInt16(logs.count))
        for (id, log) in logs.sorted(by: { $0.key < $1.key }) {
            writer.append(bigEndian: id.number)
            log.author.write(to: &writer)
            writer.append(bigEndian: log.counter)
            writer.append(bigEndian: log.number)
            log.hash.write(to: &writer)
        }
        writer.append(bigEndian: UInt16(parts.count))
        for part in parts { part.write(to: &writer) }
        return writer
    }

    package func message(_ header: SnapshotHeader) -> [UInt8] {
        SignedMessage.bytes("snapshot", header.bytes + unsigned.bytes)
    }

    package var bytes: [UInt8] {
        var writer = unsigned
        writer.append(signature)
        return writer.bytes
    }

    package init(_ bytes: [UInt8]) throws(Refusal) {
        var reader = ByteReader(bytes)
        author = try reader.bytes16()
        tips = try reader.tips()
        time = HybridTime(try reader.number())
        digest = try reader.bytes32()
        count = try reader.number()
        logs = try Self.logs(from: &reader)
        var parts: [ObjectHash] = []
        for _ in 0..<(try reader.count(UInt16.self, atMost: Bounds.parts, ofAtLeast: 32)) {
            parts.append(try reader.bytes32())
        }
        self.parts = parts
        signature = try reader.data(SigningKey.signatureLength)
        try reader.end()
    }

    private static func logs(from reader: inout ByteReader) throws(Refusal) -> [WriterID: LogTip] {
        var (logs, last): ([WriterID: LogTip], WriterID?) = ([:], nil)
        for _ in 0..<(try reader.count(UInt16.self, atMost: Bounds.writers, ofAtLeast: 72)) {
            let writer = try reader.writer()
            let tip = LogTip(
                author: try reader.bytes16(), counter: try reader.counter(), number: try reader.counter(),
                hash: try reader.bytes32())
            guard tip.number > 0, last.map({ $0 < writer }) ?? true else { throw .malformed }
            (logs[writer], last) = (tip, writer)
        }
        return logs
    }
}

/// The records of a snapshot in sequence. The parts are pieces of these bytes.
package enum SnapshotRecords {
    /// The largest piece of one part.
    package static let room = Bounds.object - 76 - Sealing.overhead - 4

    package static func bytes(_ records: [SealedRecord]) -> [UInt8] {
        var writer = ByteWriter(capacity: records.count * 512)
        for record in records {
            record.header.writeFields(to: &writer)
            writer.append(bigEndian: record.header.dot.writer.number)
            record.header.context.write(to: &writer)
            writer.append(bigEndian: UInt32(record.sealed.count))
            writer.append(record.sealed)
        }
        return writer.bytes
    }

    package static func pieces(_ records: [SealedRecord]) -> [[UInt8]] {
        let bytes = bytes(records)
        return stride(from: 0, to: bytes.count, by: room).map { Array(bytes[$0..<min($0 + room, bytes.count)]) }
    }

    /// - Parameter manifest: It contains the number of records and their writers.
    package static func read(_ bytes: [UInt8], _ manifest: SnapshotManifest, epoch: EpochID) throws(Refusal)
        -> [SealedRecord]
    {
        var reader = ByteReader(bytes)
        var records: [SealedRecord] = []
        while reader.rest > 0 {
            let (fields, writer) = (try RecordFields(from: &reader), try reader.writer())
            let header = fields.header(writer, try reader.bytes32())
            guard header.kind == .value, let log = manifest.logs[writer], header.dot.counter <= log.counter else {
                throw .malformed
            }
            records.append(
                SealedRecord(header: header, author: log.author, epoch: epoch, sealed: try reader.sealedContent()))
        }
        guard records.count == manifest.count, Set(records.map(\.header.dot)).count == records.count else {
            throw .malformed
        }
        return records
    }
}
