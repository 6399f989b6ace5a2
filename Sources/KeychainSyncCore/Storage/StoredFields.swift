// SPDX-License-Identifier: Apache-2.0
// Fields that only the stored form of a replica has.

package import Foundation
import KeychainCrypto

/// A record with all fields of its header; on a carrier, the surrounding segment contains some of them.
struct StoredRecord {
    let record: SealedRecord

    /// Author ‖ epoch ‖ fields ‖ context ‖ length ‖ sealed content.
    func write(to writer: inout ByteWriter) {
        record.author.write(to: &writer)
        record.epoch.write(to: &writer)
        record.header.writeFields(to: &writer)
        record.header.context.write(to: &writer)
        writer.append(bigEndian: UInt32(record.sealed.count))
        writer.append(record.sealed)
    }

    init(_ record: SealedRecord) { self.record = record }

    init(from reader: inout ByteReader, _ dot: Dot) throws(Refusal) {
        let (author, epoch): (MemberID, EpochID) = (try reader.bytes16(), try reader.epoch())
        let fields = try RecordFields(from: &reader)
        let header = fields.header(dot.writer, try reader.bytes32())
        guard header.dot == dot else { throw .wrongName }
        record = SealedRecord(header: header, author: author, epoch: epoch, sealed: try reader.sealedContent())
    }
}

extension SealedRecord {
    /// A record for storage beside a replica.
    package var storedBytes: [UInt8] {
        var writer = ByteWriter(capacity: sealed.count + 256)
        StoredRecord(self).write(to: &writer)
        return writer.bytes
    }

    package init(stored bytes: Data, _ dot: Dot) throws(Refusal) {
        var reader = ByteReader(bytes)
        self = try StoredRecord(from: &reader, dot).record
        try reader.end()
    }
}

extension LogTip {
    func write(to writer: inout ByteWriter) {
        author.write(to: &writer)
        writer.append(bigEndian: counter)
        writer.append(bigEndian: number)
        hash.write(to: &writer)
    }

    init(from reader: inout ByteReader) throws(Refusal) {
        self.init(
            author: try reader.bytes16(), counter: try reader.counter(), number: try reader.counter(),
            hash: try reader.bytes32())
    }
}

extension ByteWriter {
    mutating func append(_ flag: Bool) { append(UInt8(flag ? 1 : 0)) }

    mutating func append(_ epoch: EpochID?) {
        append(epoch != nil)
        epoch?.write(to: &self)
    }
}

extension ByteReader {
    mutating func flag() throws(Refusal) -> Bool {
        switch try byte() {
        case 0: return false
        case 1: return true
        default: throw .malformed
        }
    }

    mutating func optionalEpoch() throws(Refusal) -> EpochID? { try flag() ? try epoch() : nil }

    mutating func remainder() throws(Refusal) -> Data { try data(rest) }
}
