// SPDX-License-Identifier: Apache-2.0
// A link in the chain of a writer's segments.

package import Foundation
import KeychainCrypto

/// The fields of a segment in clear. The chain can be verified without any key.
package struct SegmentHeader: Hashable, Sendable {
    package let ring: RingID
    package let epoch: EpochID
    package let writer: WriterID
    /// Counts from 1.
    package let number: UInt64
    /// The hash of the writer's previous segment; zero for the first.
    package let previous: ObjectHash

    package init(ring: RingID, epoch: EpochID, writer: WriterID, number: UInt64, previous: ObjectHash) {
        self.ring = ring
        self.epoch = epoch
        self.writer = writer
        self.number = number
        self.previous = previous
    }

    static let length = 106

    package var bytes: [UInt8] {
        var writer = ObjectKind.segment.header(of: ring)
        epoch.write(to: &writer)
        writer.append(bigEndian: self.writer.number)
        writer.append(bigEndian: number)
        previous.write(to: &writer)
        return writer.bytes
    }

    package init(from reader: inout ByteReader, ring: RingID) throws(Refusal) {
        try ObjectKind.segment.readHeader(&reader, of: ring)
        self.ring = ring
        epoch = try reader.epoch()
        writer = try reader.writer()
        number = try reader.counter()
        previous = try reader.bytes32()
        guard number > 0, (number == 1) == (previous == .zero) else { throw .malformed }
    }
}

/// The fields of a segment that are sealed with the transport key of its epoch.
package struct SegmentBody: Equatable, Sendable {
    /// Whether the next segment belongs to the same transaction.
    package let continues: Bool
    /// The machine that wrote it: the owner of the writer.
    package let author: MemberID
    /// The entries of the ring log that the author knew and that no other entry followed.
    package let tips: [EntryHash]
    /// The batch, or a part of it.
    package let piece: [UInt8]
    package var signature = Data()

    package init(continues: Bool, author: MemberID, tips: [EntryHash], piece: [UInt8]) {
        self.continues = continues
        self.author = author
        self.tips = tips
        self.piece = piece
    }

    /// The maximum size of a piece in a segment with this number of tips.
    package static func room(tips: Int) -> Int {
        Bounds.object - SegmentHeader.length - Sealing.overhead - 4 - (1 + 16 + 1 + tips * 32 + 4 + 64)
    }

    private var unsigned: ByteWriter {
        var writer = ByteWriter(capacity: piece.count + 256)
        writer.append(UInt8(continues ? 1 : 0))
        author.write(to: &writer)
        writer.append(tips: tips)
        writer.append(bigEndian: UInt32(piece.count))
        writer.append(piece)
        return writer
    }

    package func message(_ header: SegmentHeader) -> [UInt8] {
        SignedMessage.bytes("segment", header.bytes + unsigned.bytes)
    }

    package var bytes: [UInt8] {
        var writer = unsigned
        writer.append(signature)
        return writer.bytes
    }

    package init(_ bytes: [UInt8]) throws(Refusal) {
        var reader = ByteReader(bytes)
        let flags = try reader.byte()
        guard flags <= 1 else { throw .newerFormat }
        continues = flags == 1
        author = try reader.bytes16()
        tips = try reader.tips()
        let length = Int(try reader.number(UInt32.self))
        piece = try reader.bytes(length)
        signature = try reader.data(SigningKey.signatureLength)
        try reader.end()
    }
}

extension ByteWriter {
    /// Number (`u8`), then the hashes in ascending order.
    mutating func append(tips: [EntryHash]) {
        append(UInt8(tips.count))
        for tip in tips { tip.write(to: &self) }
    }
}

extension ByteReader {
    mutating func tips() throws(Refusal) -> [EntryHash] {
        var tips: [EntryHash] = []
        for _ in 0..<(try count(UInt8.self, atMost: Bounds.tips, ofAtLeast: 32)) {
            let tip: EntryHash = try bytes32()
            guard tips.last.map({ $0 < tip }) ?? true else { throw .malformed }
            tips.append(tip)
        }
        return tips
    }
}
