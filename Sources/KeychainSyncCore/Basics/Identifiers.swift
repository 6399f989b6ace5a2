// SPDX-License-Identifier: Apache-2.0
// Identities: of rings, members, writers, items and entries.

package import Foundation
package import KeychainCrypto

/// Sixteen bytes; the tag keeps different kinds apart.
package struct Bytes16<Tag>: Hashable, Comparable, Sendable {
    private let high, low: UInt64

    package static var length: Int { 16 }

    /// - Parameter bytes: At least sixteen bytes, of which the first sixteen are used.
    package init(_ bytes: some Sequence<UInt8>) {
        let words = Words(bytes)
        (high, low) = (words[0], words[1])
    }

    /// The first and the last eight bytes, each as a big-endian number.
    init(_ high: UInt64, _ low: UInt64) { (self.high, self.low) = (high, low) }

    package static func < (lhs: Self, rhs: Self) -> Bool { (lhs.high, lhs.low) < (rhs.high, rhs.low) }

    package static func random() -> Self { Self(Data.random(count: length)) }

    package func write(to writer: inout ByteWriter) {
        writer.append(bigEndian: high)
        writer.append(bigEndian: low)
    }
}

/// Thirty-two bytes; the tag keeps different kinds apart.
package struct Bytes32<Tag>: Hashable, Comparable, Sendable {
    private let first, second: Bytes16<Tag>

    package static var length: Int { 32 }
    package static var zero: Self { Self(EmptyCollection()) }

    /// - Parameter bytes: At least thirty-two bytes, of which the first thirty-two are used.
    package init(_ bytes: some Sequence<UInt8>) {
        let words = Words(bytes, count: 4)
        (first, second) = (Bytes16(words[0], words[1]), Bytes16(words[2], words[3]))
    }

    init(_ first: Bytes16<Tag>, _ second: Bytes16<Tag>) { (self.first, self.second) = (first, second) }

    package static func < (lhs: Self, rhs: Self) -> Bool { (lhs.first, lhs.second) < (rhs.first, rhs.second) }

    package func write(to writer: inout ByteWriter) {
        first.write(to: &writer)
        second.write(to: &writer)
    }
}

/// Big-endian numbers of eight bytes each; missing bytes are zero.
private struct Words {
    var all: [UInt64]

    init(_ bytes: some Sequence<UInt8>, count: Int = 2) {
        all = [UInt64](repeating: 0, count: count)
        for (index, byte) in bytes.prefix(count * 8).enumerated() {
            all[index / 8] |= UInt64(byte) << (56 - UInt64(index % 8) * 8)
        }
    }

    subscript(index: Int) -> UInt64 { all[index] }
}

extension Bytes16 {
    package var bytes: [UInt8] {
        var writer = ByteWriter(capacity: Self.length)
        write(to: &writer)
        return writer.bytes
    }

    package var hex: String { bytes.hex }
}

extension Bytes32 {
    package var bytes: [UInt8] {
        var writer = ByteWriter(capacity: Self.length)
        write(to: &writer)
        return writer.bytes
    }

    package var hex: String { bytes.hex }
    /// The first half.
    package func short<Other>(_ type: Bytes16<Other>.Type = Bytes16<Other>.self) -> Bytes16<Other> { Bytes16(bytes) }

    /// The digest of bytes.
    package static func hash(of bytes: Data) -> Self { Self(Checksum.sha256(bytes)) }
}

package enum MemberTag {}
package enum ItemTag {}
package enum SnapshotTag {}
package enum InvitationTag {}
package enum RequestTag {}
package enum EntryTag {}
package enum ObjectTag {}

/// A machine of a ring, or its recovery key: a digest of its public keys.
package typealias MemberID = Bytes16<MemberTag>
/// An item of a ring: a keyed digest of its primary key.
package typealias SyncID = Bytes16<ItemTag>
package typealias SnapshotID = Bytes16<SnapshotTag>
/// The name of an invitation on the carrier, derived from its code.
package typealias InvitationID = Bytes16<InvitationTag>
/// A request to join: random bytes.
package typealias RequestID = Bytes16<RequestTag>
/// An entry of the ring log: the digest of its bytes. The hash of the first entry is the identity of the ring.
package typealias EntryHash = Bytes32<EntryTag>
package typealias RingID = EntryHash
/// The digest of an object as it is stored on the carrier.
package typealias ObjectHash = Bytes32<ObjectTag>

/// One incarnation of one machine. A machine that may have lost its counter continues as another writer.
package struct WriterID: Hashable, Comparable, Sendable {
    package let number: UInt64

    package init(_ number: UInt64) { self.number = number }

    package static func < (lhs: WriterID, rhs: WriterID) -> Bool { lhs.number < rhs.number }

    package var hex: String { number.hex }
}

/// One write: the writer, and its number among the writes of the writer. It is unique.
package struct Dot: Hashable, Comparable, Sendable {
    package let writer: WriterID
    package let counter: UInt64

    package init(writer: WriterID, counter: UInt64) {
        self.writer = writer
        self.counter = counter
    }

    package static func < (lhs: Dot, rhs: Dot) -> Bool { (lhs.writer, lhs.counter) < (rhs.writer, rhs.counter) }
}

/// The identity of one set of keys. Two sets that were created concurrently have the same number.
package struct EpochID: Hashable, Sendable {
    package let number: UInt32
    /// The first half of the hash of the entry that began the epoch.
    package let entry: Bytes16<EntryTag>

    package init(number: UInt32, entry: Bytes16<EntryTag>) {
        self.number = number
        self.entry = entry
    }

    package static let length = 20

    package func write(to writer: inout ByteWriter) {
        writer.append(bigEndian: number)
        entry.write(to: &writer)
    }
}

extension [UInt8] {
    /// Two lower-case digits for each byte.
    package var hex: String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(count * 2)
        for byte in self {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension UInt64 {
    /// Sixteen lower-case digits.
    package var hex: String { Swift.withUnsafeBytes(of: bigEndian) { Array($0) }.hex }
}
