// SPDX-License-Identifier: Apache-2.0
// Sums of keyed digests: they identify a set of rows, whatever their order.

public import Foundation

/// A sum modulo 2^256. Adding or removing an element costs the same however large the set is.
///
/// An attacker who sees such sums can search for other sets with the same sum, so they are only stored sealed.
public struct SetSum: Equatable, Sendable {
    /// The most significant word first.
    private var words: (UInt64, UInt64, UInt64, UInt64)

    public static let zero = SetSum(words: (0, 0, 0, 0))
    public static let length = 32

    private init(words: (UInt64, UInt64, UInt64, UInt64)) { self.words = words }

    /// - Parameter bytes: A number of 32 bytes, most significant first; any other length counts as zero.
    public init(bytes: some ContiguousBytes) {
        self = bytes.withUnsafeBytes { SetSum(digest: $0) }
    }

    init(digest bytes: UnsafeRawBufferPointer) {
        func word(_ index: Int) -> UInt64 {
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
        }
        self = bytes.count == Self.length ? SetSum(words: (word(0), word(1), word(2), word(3))) : .zero
    }

    /// A number of 32 bytes, most significant first.
    public var bytes: Data { Data(FieldWriter.bytes(capacity: Self.length) { write(to: &$0) }) }

    /// Writes ``bytes``.
    public func write(to writer: inout FieldWriter) {
        writer.put(bigEndian: words.0)
        writer.put(bigEndian: words.1)
        writer.put(bigEndian: words.2)
        writer.put(bigEndian: words.3)
    }

    public static func == (lhs: SetSum, rhs: SetSum) -> Bool { lhs.words == rhs.words }

    public static func + (lhs: SetSum, rhs: SetSum) -> SetSum {
        let (a, b) = (lhs.words, rhs.words)
        var carry = false
        let last = add(a.3, b.3, &carry)
        let third = add(a.2, b.2, &carry)
        let second = add(a.1, b.1, &carry)
        return SetSum(words: (add(a.0, b.0, &carry), second, third, last))
    }

    /// The additive inverse.
    public static prefix func - (sum: SetSum) -> SetSum {
        let words = sum.words
        let one = SetSum(words: (0, 0, 0, 1))
        return SetSum(words: (~words.0, ~words.1, ~words.2, ~words.3)) + one
    }

    public static func - (lhs: SetSum, rhs: SetSum) -> SetSum { lhs + -rhs }

    private static func add(_ a: UInt64, _ b: UInt64, _ carry: inout Bool) -> UInt64 {
        let (partial, first) = a.addingReportingOverflow(b)
        let (sum, second) = partial.addingReportingOverflow(carry ? 1 : 0)
        carry = first || second
        return sum
    }
}
