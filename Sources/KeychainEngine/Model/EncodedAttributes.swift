// SPDX-License-Identifier: Apache-2.0
// Attributes as a store has them: bytes, of which a value is made when it is asked for.

import Foundation

/// Attributes in one block of bytes: for each one, in strictly ascending order of name,
/// name (4) ‖ type (1) ‖ length (4) ‖ value, numbers most significant byte first (Docs/FORMAT.md, "Metadata").
///
/// A list opens many items and looks at a few attributes of each, so no value is made before it is asked for. To find an
/// attribute, all names before it are passed: a dozen comparisons.
struct EncodedAttributes: Sendable {
    /// Valid, so every pass succeeds.
    let bytes: Data
    let count: Int

    /// - Returns: `nil` if this is not the one encoding of some attributes.
    init?(_ bytes: Data, count: Int) {
        guard bytes.withUnsafeBytes({ Self.isCanonical($0, count) }) else { return nil }
        (self.bytes, self.count) = (bytes, count)
    }

    private static func isCanonical(_ bytes: UnsafeRawBufferPointer, _ count: Int) -> Bool {
        var entries = Entries(bytes)
        var last: Attribute?
        for _ in 0..<count {
            guard let entry = entries.next(), entry.isValid else { return false }
            if let last, last >= entry.attribute { return false }
            last = entry.attribute
        }
        return entries.isAtEnd
    }

    subscript(attribute: Attribute) -> AttributeValue? { withEntry(of: attribute) { $0?.value } }

    func withEntry<Result>(of attribute: Attribute, _ body: (Entry?) -> Result) -> Result {
        bytes.withUnsafeBytes { body(Self.entry(of: attribute, in: $0)) }
    }

    /// - Parameter bytes: Those of encoded attributes.
    static func entry(of attribute: Attribute, in bytes: UnsafeRawBufferPointer) -> Entry? {
        var entries = Entries(bytes)
        while let entry = entries.next(), entry.attribute <= attribute {
            if entry.attribute == attribute { return entry }
        }
        return nil
    }

    /// All attributes with their values.
    var decoded: [Attributes.Element] {
        bytes.withUnsafeBytes { bytes in
            var (entries, elements) = (Entries(bytes), [Attributes.Element]())
            // Results get three more.
            elements.reserveCapacity(count + 3)
            while let entry = entries.next() {
                if let value = entry.value { elements.append((entry.attribute, value)) }
            }
            return elements
        }
    }
}

extension EncodedAttributes {
    /// One attribute in the memory that holds it.
    struct Entry {
        let attribute: Attribute
        fileprivate let type: UInt8
        fileprivate let bytes: UnsafeRawBufferPointer

        /// The value of a valid entry; `nil` if there is no such type, or the bytes are no number.
        var value: AttributeValue? {
            switch ValueType(rawValue: type) {
            case .string: .string(String(decoding: bytes, as: UTF8.self))
            case .data: .data(Data(bytes))
            case .number: number.map { .number(Int64(bitPattern: $0)) }
            case .date: number.map { .date(Double(bitPattern: $0)) }
            case nil: nil
            }
        }

        /// `nil` if the value is not text.
        var text: UnsafeRawBufferPointer? { type == ValueType.string.rawValue ? bytes : nil }

        fileprivate var isValid: Bool {
            switch ValueType(rawValue: type) {
            case .string: bytes.isASCII || String(validating: bytes, as: UTF8.self) != nil
            case .data: true
            case .number: bytes.count == 8
            case .date: number.map { Double(bitPattern: $0).isFinite } ?? false
            case nil: false
            }
        }

        private var number: UInt64? {
            bytes.count == 8 ? UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)) : nil
        }

        /// ``AttributeValue/lookupBytes(as:)`` of the value, where possible in the memory that holds it.
        func withLookupBytes<Result>(as kind: AttributeKind, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
            switch ValueType(rawValue: type) {
            case .data: body(bytes)
            case .string where kind != .number: body(bytes)
            case .number where kind == .number: AttributeValue.withIntegerBytes(Int64(bitPattern: number ?? 0), body)
            default: (value?.lookupBytes(as: kind) ?? []).withUnsafeBytes(body)
            }
        }
    }

    /// Reads one entry after the other. Every step is checked, nothing traps.
    fileprivate struct Entries {
        private let bytes: UnsafeRawBufferPointer
        private var position = 0
        private static let headerLength = 9

        init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

        var isAtEnd: Bool { position == bytes.count }

        /// `nil` at the end, and if the bytes end too early.
        mutating func next() -> Entry? {
            guard bytes.count - position >= Self.headerLength else { return nil }
            let attribute = Attribute(code: number(at: position))
            let (start, length) = (position + Self.headerLength, Int(number(at: position + 5)))
            guard bytes.count - start >= length else { return nil }
            defer { position = start + length }
            return Entry(
                attribute: attribute, type: bytes[position + 4],
                bytes: UnsafeRawBufferPointer(rebasing: bytes[start..<start + length]))
        }

        private func number(at offset: Int) -> UInt32 {
            UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        }
    }
}

extension EncodedAttributes {
    /// The types of values in the encoding.
    enum ValueType: UInt8 {
        case string = 1
        case data = 2
        case number = 3
        case date = 4
    }
}

extension UnsafeRawBufferPointer {
    /// Eight bytes at a time: most text is.
    fileprivate var isASCII: Bool {
        var index = 0
        while count - index >= 8 {
            if loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 { return false }
            index += 8
        }
        return self[index...].allSatisfy { $0 < 0x80 }
    }
}
