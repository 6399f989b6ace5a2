// SPDX-License-Identifier: Apache-2.0
// Reads fixed-length fields from bytes that nobody vouches for.

import Foundation

/// The bytes end too early, or say something that the format does not know.
struct MalformedBytes: Error {}

/// A cursor over untrusted bytes: every read is checked against what is left, nothing traps.
struct ByteReader {
    private let all: Data
    private var position: Data.Index

    init(_ bytes: Data) {
        all = bytes
        position = bytes.startIndex
    }

    var isAtEnd: Bool { position == all.endIndex }
    /// What has not been read yet.
    var remaining: Data { all[position...] }

    mutating func bytes(_ count: Int) throws(MalformedBytes) -> Data {
        guard count >= 0, all.endIndex - position >= count else { throw MalformedBytes() }
        defer { position += count }
        return all[position..<position + count]
    }

    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) throws(MalformedBytes) -> Number
    {
        let size = MemoryLayout<Number>.size
        guard all.endIndex - position >= size else { throw MalformedBytes() }
        let offset = position - all.startIndex
        position += size
        return all.withUnsafeBytes { Number(bigEndian: $0.loadUnaligned(fromByteOffset: offset, as: Number.self)) }
    }

    mutating func uuid() throws(MalformedBytes) -> UUID {
        UUID(bytes: try bytes(16))
    }

    mutating func double() throws(MalformedBytes) -> Double {
        Double(bitPattern: try number(UInt64.self))
    }
}

extension UUID {
    /// - Parameter bytes: At least 16; with fewer it is the zero identity, which nothing has.
    init(bytes: Data) {
        self.init(uuid: bytes.count < 16 ? UUID.zero.uuid : bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
    }

    var bytes: Data { withUnsafeBytes(of: uuid) { Data($0) } }

    static let zero = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
}
