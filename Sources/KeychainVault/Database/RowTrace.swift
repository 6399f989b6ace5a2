// SPDX-License-Identifier: Apache-2.0
// The canonical bytes of a row that are digested for the head.

import Foundation
import KeychainCrypto

/// The bytes of a row from which the head's sums are computed. Of sealed parts they contain what is unique to each
/// sealing and differs after any change: of the metadata the length, nonce and tag; of the value the length, and the
/// nonce of the wrapped one-time key with the bytes after it, since the value is sealed under that key.
struct RowTrace {
    fileprivate enum Kind: UInt8 {
        case item = 1
        case lookup = 2
        case outgoingRow = 3
        case outgoingName = 4
        case name = 5
        case statePart = 6
    }

    /// The columns that ``init(item:)`` reads, in this order.
    static let columns = "id, version, class, generation, uuid, major, minor, scope, metadata, value"
    private static let (nonce, tag, valueHead) = (12, 16, Sealing.wrappedKeyLength)

    let bytes: [UInt8]

    /// One entry of the lookup table.
    init(lookup digest: Data, of rowID: Int64) {
        bytes = FieldWriter.bytes(capacity: 1 + 8 + 4 + digest.count) { writer in
            writer.put(Kind.lookup.rawValue)
            writer.put(bigEndian: UInt64(bitPattern: rowID))
            digest.withUnsafeBytes { writer.put(part: $0) }
        }
    }

    /// An entry of the outbox. Its number, and that of its change, are not covered: others may regroup the changes, not make some.
    init(_ entry: SyncTables.Outgoing) {
        bytes =
            switch entry.content {
            case .item(let row):
                FieldWriter.bytes(capacity: 1 + 8 + 8) { writer in
                    writer.put(Kind.outgoingRow.rawValue)
                    writer.put(bigEndian: UInt64(bitPattern: row))
                    writer.put(bigEndian: entry.time)
                }
            case .deletion(let name):
                // In a damaged file it has any length.
                FieldWriter.bytes(capacity: 1 + 4 + name.count + 8) { writer in
                    writer.put(Kind.outgoingName.rawValue)
                    name.withUnsafeBytes { writer.put(part: $0) }
                    writer.put(bigEndian: entry.time)
                }
            }
    }

    /// The name of a row in the ring.
    init(name: Data, ofRow row: Int64) {
        bytes = FieldWriter.bytes(capacity: 1 + 8 + 4 + name.count) { writer in
            writer.put(Kind.name.rawValue)
            writer.put(bigEndian: UInt64(bitPattern: row))
            name.withUnsafeBytes { writer.put(part: $0) }
        }
    }

    /// A part of the state, of whose sealed bytes the ends are as unique as those of metadata.
    init(part name: Data, _ sealed: Data) {
        bytes = FieldWriter.bytes(capacity: 1 + 8 + name.count + Self.nonce + Self.tag) { writer in
            writer.put(Kind.statePart.rawValue)
            name.withUnsafeBytes { writer.put(part: $0) }
            sealed.withUnsafeBytes { writer.put(metadata: $0) }
        }
    }

    /// A row before it is stored.
    init(_ row: SealedRow) {
        let keyLength = (row.key?.major.count ?? 0) + (row.key?.minor.count ?? 0) + (row.key?.scope.count ?? 0)
        bytes = FieldWriter.bytes(capacity: Self.capacity(keyLength)) { writer in
            writer.put(item: row.rowID, row.version, Int64(row.keyClass), Int64(row.generation))
            withUnsafeBytes(of: row.id.uuid) { writer.put(part: $0) }
            writer.put(part: row.key?.major)
            writer.put(part: row.key?.minor)
            writer.put(part: row.key?.scope)
            row.metadata.withUnsafeBytes { writer.put(metadata: $0) }
            (row.value ?? Data()).withUnsafeBytes { writer.put(value: $0) }
        }
    }

    /// A stored row with the columns ``columns``. In a damaged file a column may hold another type than declared: it
    /// counts as −1 or as no bytes.
    init(item row: RowReader) {
        let keyLength = (Int32(4)..<8).reduce(0) { $0 + row.withBlob($1) { $0.count } }
        bytes = FieldWriter.bytes(capacity: Self.capacity(keyLength)) { writer in
            let number = { (column: Int32) in row.number(column) ?? -1 }
            writer.put(item: number(0), number(1), number(2), number(3))
            for column in Int32(4)..<8 { row.withBlob(column) { writer.put(part: $0) } }
            row.withBlob(8) { writer.put(metadata: $0) }
            row.withBlob(9) { writer.put(value: $0) }
        }
    }

    /// Room for an item, with an identity in addition to its other parts.
    private static func capacity(_ partLengths: Int) -> Int {
        1 + 4 * 8 + 4 * 4 + 16 + partLengths + 4 + nonce + tag + 4 + valueHead
    }

    fileprivate static func ends(
        of metadata: UnsafeRawBufferPointer
    ) -> (UnsafeRawBufferPointer, UnsafeRawBufferPointer) {
        let first = min(metadata.count, nonce)
        let last = min(metadata.count - first, tag)
        return (
            UnsafeRawBufferPointer(rebasing: metadata.prefix(first)),
            UnsafeRawBufferPointer(rebasing: metadata.suffix(last))
        )
    }

    fileprivate static func head(of value: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: value.prefix(valueHead))
    }
}

extension FieldWriter {
    fileprivate mutating func put(item row: Int64, _ version: Int64, _ keyClass: Int64, _ generation: Int64) {
        put(RowTrace.Kind.item.rawValue)
        put(bigEndian: UInt64(bitPattern: row))
        put(bigEndian: UInt64(bitPattern: version))
        put(bigEndian: UInt64(bitPattern: keyClass))
        put(bigEndian: UInt64(bitPattern: generation))
    }

    fileprivate mutating func put(part bytes: Data?) {
        (bytes ?? Data()).withUnsafeBytes { put(part: $0) }
    }

    fileprivate mutating func put(part bytes: UnsafeRawBufferPointer) {
        put(bigEndian: UInt32(clamping: bytes.count))
        put(bytes)
    }

    fileprivate mutating func put(metadata bytes: UnsafeRawBufferPointer) {
        let (first, last) = RowTrace.ends(of: bytes)
        put(bigEndian: UInt32(clamping: bytes.count))
        put(first)
        put(last)
    }

    fileprivate mutating func put(value bytes: UnsafeRawBufferPointer) {
        put(bigEndian: UInt32(clamping: bytes.count))
        put(RowTrace.head(of: bytes))
    }
}
