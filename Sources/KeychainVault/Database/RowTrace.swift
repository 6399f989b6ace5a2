// SPDX-License-Identifier: Apache-2.0
// The canonical bytes of a row that are digested for the head.

import Foundation
import KeychainCrypto

/// The bytes of a row from which the head's sums are computed. Of sealed parts they contain what is unique to each
/// sealing and differs after any change: of the metadata the length, nonce and tag; of the value the length, and the
/// nonce of the wrapped one-time key with the bytes after it, since the value is sealed under that key.
struct RowTrace {
    private enum Kind: UInt8 {
        case item = 1
        case lookup = 2
    }

    /// The columns that ``init(item:)`` reads, in this order.
    static let columns = "id, version, class, generation, uuid, major, minor, scope, metadata, value"
    private static let (nonce, tag, valueHead) = (12, 16, Sealing.wrappedKeyLength)

    private var writer = ByteWriter(capacity: 288)
    var bytes: [UInt8] { writer.bytes }

    private init(_ kind: Kind, _ numbers: [Int64]) {
        writer.append(kind.rawValue)
        for number in numbers { writer.append(bigEndian: number) }
    }

    /// One entry of the lookup table.
    init(lookup digest: Data, of rowID: Int64) {
        self.init(.lookup, [rowID])
        digest.withUnsafeBytes { append($0) }
    }

    /// A row before it is stored.
    init(_ row: SealedRow) {
        self.init(.item, [row.rowID, row.version, Int64(row.keyClass), Int64(row.generation)])
        for part in [row.id.bytes, row.key?.major, row.key?.minor, row.key?.scope] {
            (part ?? Data()).withUnsafeBytes { append($0) }
        }
        row.metadata.withUnsafeBytes { append(metadata: $0) }
        (row.value ?? Data()).withUnsafeBytes { append(value: $0) }
    }

    /// A stored row with the columns ``columns``. In a damaged file a column may hold another type than declared: it
    /// counts as −1 or as no bytes.
    init(item row: RowReader) {
        self.init(.item, (0..<4).map { row.number($0) ?? -1 })
        for column in Int32(4)..<8 { row.withBlob(column) { append($0) } }
        row.withBlob(8) { append(metadata: $0) }
        row.withBlob(9) { append(value: $0) }
    }

    private mutating func append(_ bytes: UnsafeRawBufferPointer) {
        writer.append(bigEndian: UInt32(clamping: bytes.count))
        writer.append(bytes)
    }

    private mutating func append(metadata bytes: UnsafeRawBufferPointer) {
        let first = min(bytes.count, Self.nonce)
        let last = min(bytes.count - first, Self.tag)
        writer.append(bigEndian: UInt32(clamping: bytes.count))
        writer.append(UnsafeRawBufferPointer(rebasing: bytes.prefix(first)))
        writer.append(UnsafeRawBufferPointer(rebasing: bytes.suffix(last)))
    }

    private mutating func append(value bytes: UnsafeRawBufferPointer) {
        writer.append(bigEndian: UInt32(clamping: bytes.count))
        writer.append(UnsafeRawBufferPointer(rebasing: bytes.prefix(Self.valueHead)))
    }
}
