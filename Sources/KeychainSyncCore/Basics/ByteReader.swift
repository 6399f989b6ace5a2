// SPDX-License-Identifier: Apache-2.0
// Reads fields from untrusted bytes.

package import Foundation
import KeychainCrypto

/// A cursor over untrusted bytes: every read is bounds-checked, and nothing traps.
///
/// It works on a copy, which is to be wiped if the bytes contain a secret.
package struct ByteReader {
    private var all: [UInt8]
    private(set) var position = 0

    package init(_ bytes: [UInt8]) { all = bytes }

    package init(_ bytes: Data) { all = [UInt8](bytes) }

    var rest: Int { all.count - position }

    mutating func slice(_ count: Int) throws(Refusal) -> ArraySlice<UInt8> {
        guard count >= 0, rest >= count else { throw .malformed }
        defer { position += count }
        return all[position..<position + count]
    }

    mutating func bytes(_ count: Int) throws(Refusal) -> [UInt8] { [UInt8](try slice(count)) }

    mutating func data(_ count: Int) throws(Refusal) -> Data { Data(try slice(count)) }

    /// What has been read so far.
    var prefix: [UInt8] { [UInt8](all[..<position]) }

    mutating func number<Number: FixedWidthInteger & UnsignedInteger>(_ type: Number.Type = Number.self)
        throws(Refusal) -> Number
    {
        let field = try slice(Number.bitWidth / 8)
        var number: UInt64 = 0
        for byte in field { number = number << 8 | UInt64(byte) }
        return Number(truncatingIfNeeded: number)
    }

    /// Reads a number that will be incremented.
    mutating func counter() throws(Refusal) -> UInt64 {
        let number = try number(UInt64.self)
        guard number <= Bounds.number else { throw .tooLarge }
        return number
    }

    mutating func byte() throws(Refusal) -> UInt8 { try number() }

    /// Reads a number of elements, checked against the bound and against the remaining bytes.
    ///
    /// - Parameter size: The minimum size of an element.
    mutating func count<Number: FixedWidthInteger & UnsignedInteger>(
        _ type: Number.Type, atMost bound: Int, ofAtLeast size: Int
    ) throws(Refusal) -> Int {
        let number = try number(type)
        guard number <= bound else { throw .tooLarge }
        guard Int(number) * size <= rest else { throw .malformed }
        return Int(number)
    }

    mutating func bytes16<Tag>(_ type: Bytes16<Tag>.Type = Bytes16<Tag>.self) throws(Refusal) -> Bytes16<Tag> {
        Bytes16(try slice(16))
    }

    mutating func bytes32<Tag>(_ type: Bytes32<Tag>.Type = Bytes32<Tag>.self) throws(Refusal) -> Bytes32<Tag> {
        Bytes32(try slice(32))
    }

    mutating func writer() throws(Refusal) -> WriterID { WriterID(try number()) }

    mutating func epoch() throws(Refusal) -> EpochID { EpochID(number: try number(), entry: try bytes16()) }

    /// Reads a length byte, and that many bytes of UTF-8.
    mutating func name() throws(Refusal) -> String {
        let length = Int(try byte())
        guard length <= Bounds.name else { throw .tooLarge }
        guard let text = String(validating: try slice(length), as: UTF8.self) else { throw .malformed }
        return text
    }

    /// Overwrites the copy. Nothing can be read after it.
    mutating func wipe() { all.wipe() }

    /// Checks that no bytes remain.
    func end() throws(Refusal) {
        guard rest == 0 else { throw .malformed }
    }
}
