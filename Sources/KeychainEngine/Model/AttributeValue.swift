// SPDX-License-Identifier: Apache-2.0
// A typed attribute value, and Apple's rules for converting a given value to an attribute's kind.

public import Foundation

/// The value of an attribute, in the types that Apple's dictionaries hold.
public enum AttributeValue: Hashable, Sendable {
    case string(String)
    case data(Data)
    case number(Int64)
    /// Seconds since 2001-01-01 00:00:00 UTC, with sub-second precision; compared exactly.
    case date(Double)
    /// Only in a caller's input; stored as number 0 or 1.
    case bool(Bool)
    /// Only in a caller's input: a value of a type that no attribute takes.
    case unsupported
}

/// The kind of value that an attribute stores. It decides which input types are accepted and how they are converted.
public enum AttributeKind: Sendable {
    /// String, Data or Number, stored in the given type; equal if the bytes are equal.
    case blob
    case data, string, number, date
    /// Data of exactly 20 bytes.
    case digest
    /// Data of 0 or 16 bytes.
    case uuid
}

extension AttributeKind {
    /// Converts a given value to the value that an attribute of this kind stores.
    ///
    /// - Throws: `invalidParameter` for a type that the kind does not take. The message contains the attribute, not the
    ///   value.
    func convert(_ value: AttributeValue, for attribute: Attribute) throws(KeychainError) -> AttributeValue {
        let converted: AttributeValue? =
            switch self {
            case .blob: Self.blob(value)
            case .data: Self.data(value)
            case .string: Self.string(value)
            case .number: Self.number(value)
            case .date: if case .date(let seconds) = value, seconds.isFinite { value } else { nil }
            case .digest: if case .data(let bytes) = value, bytes.count == 20 { value } else { nil }
            case .uuid: if case .data(let bytes) = value, [0, 16].contains(bytes.count) { value } else { nil }
            }
        guard let converted else {
            throw KeychainError(.invalidParameter, "Attribute '\(attribute)' does not take a value of this type.")
        }
        return converted
    }

    private static func blob(_ value: AttributeValue) -> AttributeValue? {
        switch value {
        case .string, .data, .number: value
        case .date, .bool, .unsupported: nil
        }
    }

    private static func data(_ value: AttributeValue) -> AttributeValue? {
        switch value {
        case .data: value
        case .string(let text): .data(Data(text.utf8))
        case .number(let number): .data(nativeBytes(number))
        case .date, .bool, .unsupported: nil
        }
    }

    private static func string(_ value: AttributeValue) -> AttributeValue? {
        switch value {
        case .string: value
        case .data(let bytes): String(validating: bytes, as: UTF8.self).map { .string($0) }
        case .number, .date, .bool, .unsupported: nil
        }
    }

    private static func number(_ value: AttributeValue) -> AttributeValue? {
        switch value {
        case .number: value
        case .bool(let flag): .number(flag ? 1 : 0)
        case .string(let text): canonicalInt32(text).map { .number(Int64($0)) } ?? value
        case .data, .date, .unsupported: nil
        }
    }

    /// The number that `text` is the canonical form of. "080", "+80", " 80" and "2147483648" are not canonical and stay
    /// text.
    private static func canonicalInt32(_ text: String) -> Int32? {
        guard let number = Int32(text), String(number) == text else { return nil }
        return number
    }

    /// Apple passes a number to a byte-valued attribute as a native 32-bit integer, which is little-endian on all its
    /// machines.
    static func nativeBytes(_ number: Int64) -> Data {
        withUnsafeBytes(of: Int32(truncatingIfNeeded: number).littleEndian) { Data($0) }
    }
}

extension AttributeValue {
    /// Exact comparison: text is compared by bytes, not by Unicode equivalence as in Swift's `String`.
    public static func == (lhs: AttributeValue, rhs: AttributeValue) -> Bool {
        switch (lhs, rhs) {
        case (.string(let a), .string(let b)): a.isIdentical(to: b)
        case (.data(let a), .data(let b)): a == b
        case (.number(let a), .number(let b)): a == b
        case (.date(let a), .date(let b)): a == b
        case (.bool(let a), .bool(let b)): a == b
        case (.unsupported, .unsupported): true
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(lookupBytes(as: .blob))
    }

    /// Whether a condition with this value matches a stored `other` in an attribute of `kind`. Blobs match if their
    /// bytes are equal, whatever their type. Numeric text in a number attribute matches the number.
    public func matches(_ other: AttributeValue, as kind: AttributeKind) -> Bool {
        self == other || lookupBytes(as: kind) == other.lookupBytes(as: kind)
    }

    /// Bytes that are equal for two values of an attribute exactly if the values match. Stores compute digests of them.
    public func lookupBytes(as kind: AttributeKind) -> [UInt8] {
        switch (self, kind) {
        case (.number(let number), .number): Self.integerBytes(number)
        case (.string(let text), .number): Self.integer(inText: text).map(Self.integerBytes) ?? Array("t\(text)".utf8)
        case (.number(let number), _): Array(AttributeKind.nativeBytes(number))
        case (.string(let text), _): Array(text.utf8)
        case (.data(let bytes), _): Array(bytes)
        case (.bool(let flag), _): Self.integerBytes(flag ? 1 : 0)
        // Adding zero turns -0 into 0, since they compare equal.
        case (.date(let seconds), _): withUnsafeBytes(of: (seconds + 0).bitPattern.bigEndian) { Array($0) }
        case (.unsupported, _): []
        }
    }

    /// The same where they lie, if they do.
    func withLookupBytes<Result>(as kind: AttributeKind, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        switch self {
        case .string(var text) where kind != .number: text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
        case .data(let bytes): bytes.withUnsafeBytes(body)
        case .number(let number) where kind == .number: Self.withIntegerBytes(number, body)
        default: lookupBytes(as: kind).withUnsafeBytes(body)
        }
    }

    private static func integerBytes(_ number: Int64) -> [UInt8] { withIntegerBytes(number) { [UInt8]($0) } }

    /// A letter and the number, most significant byte first.
    static func withIntegerBytes<Result>(_ number: Int64, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withUnsafeTemporaryAllocation(byteCount: 9, alignment: 1) { bytes in
            bytes[0] = UInt8(ascii: "n")
            bytes.storeBytes(of: number.bigEndian, toByteOffset: 1, as: Int64.self)
            return body(UnsafeRawBufferPointer(bytes))
        }
    }

    /// Apple stores numbers in an integer column, where " 080" compares as 80 although it is read back as text.
    private static func integer(inText text: String) -> Int64? {
        var digits = Substring(text.utf8.drop { $0 == UInt8(ascii: " ") })
        while digits.last == " " { digits.removeLast() }
        return Int64(digits)
    }
}

extension UnsafeRawBufferPointer {
    /// - Parameter other: `nil`: no bytes.
    func hasSameBytes(as other: UnsafeRawBufferPointer?) -> Bool {
        guard let other else { return isEmpty }
        guard count == other.count, let own = baseAddress, let others = other.baseAddress else {
            return count == other.count
        }
        return memcmp(own, others, count) == 0
    }
}

extension String {
    /// Compares bytes. `==` would treat a precomposed and a decomposed "é" as equal.
    func isIdentical(to other: String) -> Bool {
        utf8.elementsEqual(other.utf8)
    }
}
