// SPDX-License-Identifier: Apache-2.0
// Reads fixed-length fields from bytes that nobody vouches for.

import Foundation

/// The bytes end too early, or say something that the format does not know.
struct MalformedBytes: Error {}

/// A cursor over untrusted bytes: every read is checked against what is left, nothing traps.
struct ByteReader {
    private var rest: Data.SubSequence

    init(_ bytes: Data) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }
    /// What has not been read yet.
    var remaining: Data { rest }

    mutating func bytes(_ count: Int) throws(MalformedBytes) -> Data {
        guard count >= 0, rest.count >= count else { throw MalformedBytes() }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) throws(MalformedBytes) -> Number {
        let size = MemoryLayout<Number>.size
        guard rest.count >= size else { throw MalformedBytes() }
        let number = rest.withUnsafeBytes { Number(bigEndian: $0.loadUnaligned(as: Number.self)) }
        rest = rest.dropFirst(size)
        return number
    }

    mutating func uuid() throws(MalformedBytes) -> UUID {
        UUID(bytes: try bytes(16))
    }

    mutating func double() throws(MalformedBytes) -> Double {
        Double(bitPattern: try number(UInt64.self))
    }
}

extension UUID {
    /// - Parameter bytes: Exactly 16 bytes; missing ones count as zero.
    init(bytes: Data) {
        var raw: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &raw) { _ = bytes.copyBytes(to: $0) }
        self.init(uuid: raw)
    }

    var bytes: Data { withUnsafeBytes(of: uuid) { Data($0) } }

    static let zero = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
}
