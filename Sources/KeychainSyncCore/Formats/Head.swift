// SPDX-License-Identifier: Apache-2.0
// A signed statement of what a member has seen. It lets other members detect what a carrier withholds.

package import Foundation
import KeychainCrypto

package enum StateTag {}

package struct HeadHeader: Hashable, Sendable {
    package let ring: RingID
    package let epoch: EpochID
    package let member: MemberID
    /// Counts from 1.
    package let number: UInt64

    package init(ring: RingID, epoch: EpochID, member: MemberID, number: UInt64) {
        self.ring = ring
        self.epoch = epoch
        self.member = member
        self.number = number
    }

    static let length = 82

    package var bytes: [UInt8] {
        var writer = ObjectKind.head.header(of: ring)
        epoch.write(to: &writer)
        member.write(to: &writer)
        writer.append(bigEndian: number)
        return writer.bytes
    }

    package init(from reader: inout ByteReader, ring: RingID) throws(Refusal) {
        try ObjectKind.head.readHeader(&reader, of: ring)
        self.ring = ring
        epoch = try reader.epoch()
        member = try reader.bytes16()
        number = try reader.counter()
        guard number > 0 else { throw .malformed }
    }
}

package struct Head: Equatable, Sendable {
    /// The hash of the member's previous head; zero for the first.
    package let previous: ObjectHash
    package let tips: [EntryHash]
    package let time: HybridTime
    /// The digest of the member's items.
    package let digest: Bytes32<StateTag>
    package let count: UInt32
    package let vector: VersionVector
    package var signature = Data()

    package init(
        previous: ObjectHash, tips: [EntryHash], time: HybridTime, digest: Bytes32<StateTag>, count: UInt32,
        vector: VersionVector
    ) {
        self.previous = previous
        self.tips = tips
        self.time = time
        self.digest = digest
        self.count = count
        self.vector = vector
    }

    private var unsigned: ByteWriter {
        var writer = ByteWriter(capacity: 256)
        previous.write(to: &writer)
        writer.append(tips: tips)
        writer.append(bigEndian: time.number)
        digest.write(to: &writer)
        writer.append(bigEndian: count)
        vector.write(to: &writer)
        return writer
    }

    package func message(_ header: HeadHeader) -> [UInt8] {
        SignedMessage.bytes("head", header.bytes + unsigned.bytes)
    }

    package var bytes: [UInt8] {
        var writer = unsigned
        writer.append(signature)
        return writer.bytes
    }

    package init(_ bytes: [UInt8]) throws(Refusal) {
        var reader = ByteReader(bytes)
        previous = try reader.bytes32()
        tips = try reader.tips()
        time = HybridTime(try reader.number())
        digest = try reader.bytes32()
        count = try reader.number()
        vector = try VersionVector(from: &reader)
        signature = try reader.data(SigningKey.signatureLength)
        try reader.end()
    }
}
