// SPDX-License-Identifier: Apache-2.0
// Reads fixed-length fields from untrusted bytes.

import Foundation

/// The bytes end too early, or contain something that the format does not define.
struct MalformedBytes: Error {}

/// A cursor over untrusted bytes: every read is bounds-checked, nothing traps.
///
/// It works on a copy that is not wiped. Do not use it for secrets.
struct ByteReader {
    private let all: [UInt8]
    private var position = 0

    init(_ bytes: Data) { all = Array(bytes) }

    var isAtEnd: Bool { position == all.count }
    var rest: Int { all.count - position }

    mutating func slice(_ count: Int) throws(MalformedBytes) -> ArraySlice<UInt8> {
        guard count >= 0, all.count - position >= count else { throw MalformedBytes() }
        defer { position += count }
        return all[position..<position + count]
    }

    mutating func bytes(_ count: Int) throws(MalformedBytes) -> Data {
        Data(try slice(count))
    }

    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) throws(MalformedBytes) -> Number
    {
        try slice(MemoryLayout<Number>.size).reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }

    mutating func uuid() throws(MalformedBytes) -> UUID {
        UUID(bytes: try bytes(16))
    }

    mutating func double() throws(MalformedBytes) -> Double {
        Double(bitPattern: try number(UInt64.self))
    }
}

extension UUID {
    /// - Parameter bytes: Exactly 16 bytes. Any other count gives the zero identity, which nothing has.
    init(bytes: Data) {
        self.init(
            uuid: bytes.count != 16 ? UUID.zero.uuid : bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
    }

    var bytes: Data { withUnsafeBytes(of: uuid) { Data($0) } }

    static let zero = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
}
