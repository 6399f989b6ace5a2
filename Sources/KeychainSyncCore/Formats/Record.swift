// SPDX-License-Identifier: Apache-2.0
// One write of one item.

package import Foundation
import KeychainCrypto

package enum ContextTag {}

/// The fields of a record outside its sealed content. They are authenticated and signed together with the content.
package struct RecordHeader: Hashable, Sendable {
    package enum Kind: UInt8, Sendable {
        case value = 1
        case deletion = 2
    }

    package let kind: Kind
    package let item: SyncID
    package let dot: Dot
    package let time: HybridTime
    /// The accessibility class, whose key seals the content: 6, 7 or 8. Deletions have 8, so that they work while locked.
    package let accessibility: UInt8
    /// The digest of the version vector of the writer when it wrote.
    package let context: Bytes32<ContextTag>

    package init(
        kind: Kind, item: SyncID, dot: Dot, time: HybridTime, accessibility: UInt8, context: Bytes32<ContextTag>
    ) {
        self.kind = kind
        self.item = item
        self.dot = dot
        self.time = time
        self.accessibility = accessibility
        self.context = context
    }

    static let classes: ClosedRange<UInt8> = 6...8
    static let classOfDeletions: UInt8 = 8

    /// The digest of a writer's vector without its own entry, since a writer has always seen all its own writes.
    package static func digest(of context: VersionVector) -> Bytes32<ContextTag> {
        Bytes32.hash(of: Data(context.bytes))
    }

    /// 115 bytes.
    package func bytes(of ring: RingID) -> [UInt8] {
        var writer = ByteWriter(capacity: 128)
        ring.write(to: &writer)
        writer.append(kind.rawValue)
        writer.append(UInt8(0))  // flags
        writer.append(accessibility)
        item.write(to: &writer)
        writer.append(bigEndian: dot.writer.number)
        writer.append(bigEndian: dot.counter)
        writer.append(bigEndian: time.number)
        context.write(to: &writer)
        return writer.bytes
    }
}

/// A record as it is sent and stored: its content is sealed with the key of its class in an epoch.
package struct SealedRecord: Hashable, Sendable {
    package let header: RecordHeader
    /// The author: the owner of its writer.
    package let author: MemberID
    package let epoch: EpochID
    package let sealed: Data

    package init(header: RecordHeader, author: MemberID, epoch: EpochID, sealed: Data) {
        self.header = header
        self.author = author
        self.epoch = epoch
        self.sealed = sealed
    }

    /// The overhead of sealing: a signature, a wrapped key, a nonce and a tag.
    package static let overhead = SigningKey.signatureLength + Sealing.wrappedKeyLength + Sealing.overhead
}

// MARK: - The fields that segments and snapshots share

extension RecordHeader {
    /// Kind ‖ flags ‖ class ‖ item ‖ counter ‖ time: 35 bytes.
    func writeFields(to writer: inout ByteWriter) {
        writer.append(kind.rawValue)
        writer.append(UInt8(0))
        writer.append(accessibility)
        item.write(to: &writer)
        writer.append(bigEndian: dot.counter)
        writer.append(bigEndian: time.number)
    }

    static let fieldsLength = 35
}

/// The fields, before the author and the context are read.
struct RecordFields {
    let kind: RecordHeader.Kind
    let accessibility: UInt8
    let item: SyncID
    let counter: UInt64
    let time: HybridTime

    init(from reader: inout ByteReader) throws(Refusal) {
        let (kind, flags) = (try reader.byte(), try reader.byte())
        accessibility = try reader.byte()
        guard let kind = RecordHeader.Kind(rawValue: kind), flags == 0 else { throw .newerFormat }
        guard RecordHeader.classes.contains(accessibility),
            kind == .value || accessibility == RecordHeader.classOfDeletions
        else { throw .malformed }
        self.kind = kind
        item = try reader.bytes16()
        counter = try reader.counter()
        time = HybridTime(try reader.number())
        guard counter > 0 else { throw .malformed }
    }

    func header(_ writer: WriterID, _ context: Bytes32<ContextTag>) -> RecordHeader {
        RecordHeader(
            kind: kind, item: item, dot: Dot(writer: writer, counter: counter), time: time,
            accessibility: accessibility, context: context)
    }
}

extension ByteReader {
    /// Reads the sealed content of a record: its length (`u32`), and the bytes.
    mutating func sealedContent() throws(Refusal) -> Data {
        let length = Int(try number(UInt32.self))
        guard length <= Bounds.item + SealedRecord.overhead else { throw .tooLarge }
        guard length >= SealedRecord.overhead else { throw .malformed }
        return try data(length)
    }
}
