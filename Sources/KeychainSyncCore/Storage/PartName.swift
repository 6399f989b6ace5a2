// SPDX-License-Identifier: Apache-2.0
// Names of the parts in which a replica is stored.

package import Foundation
import KeychainCrypto

/// A part of a stored replica. A write changes a few parts of many.
package enum PartName: Hashable, Sendable {
    /// The part that exists once.
    case core
    case entry(EntryHash)
    /// By its name on a carrier.
    case wrap(ObjectName)
    case log(WriterID)
    case own(WriterID, UInt64)
    case waiting(WriterID, UInt64)
    case record(SyncID, Dot)
    case outgoing(Dot)
    case snapshot(SnapshotID)
    case head(MemberID)
    /// By the hash of a confirmed segment that was not made.
    case refusal(ObjectHash)
    /// A wrap that is missing on the carrier, by its name there.
    case missingWrap(ObjectName)
}

extension PartName {
    private enum Kind: UInt8 {
        case core = 1
        case entry, wrap, log, own, waiting, record, outgoing, snapshot, head, refusal, missingWrap
    }

    /// With this byte the name of each ``outgoing(_:)`` begins.
    package static let outgoingFirst = Kind.outgoing.rawValue

    /// A byte for the kind, followed by the identifier: at most 129 bytes.
    package var bytes: Data {
        var writer = ByteWriter(capacity: 40)
        switch self {
        case .core: writer.append(Kind.core.rawValue)
        case .entry(let hash):
            writer.append(Kind.entry.rawValue)
            hash.write(to: &writer)
        case .wrap(let name): Self.append(.wrap, name, to: &writer)
        case .missingWrap(let name): Self.append(.missingWrap, name, to: &writer)
        case .log(let id):
            writer.append(Kind.log.rawValue)
            writer.append(bigEndian: id.number)
        case .own(let id, let number): Self.append(.own, Dot(writer: id, counter: number), to: &writer)
        case .waiting(let id, let number): Self.append(.waiting, Dot(writer: id, counter: number), to: &writer)
        case .record(let item, let dot):
            writer.append(Kind.record.rawValue)
            item.write(to: &writer)
            writer.append(bigEndian: dot.writer.number)
            writer.append(bigEndian: dot.counter)
        case .outgoing(let dot): Self.append(.outgoing, dot, to: &writer)
        case .snapshot(let id):
            writer.append(Kind.snapshot.rawValue)
            id.write(to: &writer)
        case .head(let member):
            writer.append(Kind.head.rawValue)
            member.write(to: &writer)
        case .refusal(let hash):
            writer.append(Kind.refusal.rawValue)
            hash.write(to: &writer)
        }
        return writer.data
    }

    private static func append(_ kind: Kind, _ dot: Dot, to writer: inout ByteWriter) {
        writer.append(kind.rawValue)
        writer.append(bigEndian: dot.writer.number)
        writer.append(bigEndian: dot.counter)
    }

    private static func append(_ kind: Kind, _ name: ObjectName, to writer: inout ByteWriter) {
        writer.append(kind.rawValue)
        writer.append(name.text)
    }

    package init(_ bytes: Data) throws(Refusal) {
        var reader = ByteReader(bytes)
        guard let kind = Kind(rawValue: try reader.byte()) else { throw .newerFormat }
        switch kind {
        case .core: self = .core
        case .entry: self = .entry(try reader.bytes32())
        case .wrap: self = .wrap(try reader.wrap())
        case .missingWrap: self = .missingWrap(try reader.wrap())
        case .log: self = .log(try reader.writer())
        case .own: self = .own(try reader.writer(), try reader.counter())
        case .waiting: self = .waiting(try reader.writer(), try reader.counter())
        case .record: self = .record(try reader.bytes16(), try reader.dot())
        case .outgoing: self = .outgoing(try reader.dot())
        case .snapshot: self = .snapshot(try reader.bytes16())
        case .head: self = .head(try reader.bytes16())
        case .refusal: self = .refusal(try reader.bytes32())
        }
        try reader.end()
    }
}

extension ByteReader {
    fileprivate mutating func dot() throws(Refusal) -> Dot { Dot(writer: try writer(), counter: try counter()) }

    fileprivate mutating func wrap() throws(Refusal) -> ObjectName {
        guard let name = ObjectName(String(decoding: try slice(rest), as: UTF8.self)), case .wrap = name else {
            throw .malformed
        }
        return name
    }
}
