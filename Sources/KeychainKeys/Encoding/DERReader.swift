// SPDX-License-Identifier: Apache-2.0
// Reads DER one element at a time, without recursion, copies or allocations.

/// The identifiers of elements in keys, certificates and PKCS#12 files.
enum DERTag {
    static let boolean: UInt8 = 0x01
    static let integer: UInt8 = 0x02
    static let bitString: UInt8 = 0x03
    static let octetString: UInt8 = 0x04
    static let null: UInt8 = 0x05
    static let objectIdentifier: UInt8 = 0x06
    static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31

    /// A context-specific tag around one or more elements.
    static func context(_ number: UInt8) -> UInt8 { 0xA0 | number }
    /// A context-specific tag in place of that of a primitive element.
    static func contextPrimitive(_ number: UInt8) -> UInt8 { 0x80 | number }
}

struct DERElement<Bytes: ByteSlice> {
    let tag: UInt8
    let content: Bytes
    /// Identifier, length and content.
    let encoded: Bytes
}

/// A position in DER bytes.
///
/// SwiftASN1 parses a whole tree before anything is read from it. It would reject certificates that Apple accepts
/// (damage within a name or a key), take about fifty times the size of the input, and leave copies of private keys.
/// This reader only parses the requested elements, so deep nesting costs nothing.
struct DERReader<Bytes: ByteSlice> {
    private(set) var rest: Bytes
    /// The format, for error messages.
    let format: String

    init(_ bytes: Bytes, _ format: String) {
        (rest, self.format) = (bytes, format)
    }

    var isAtEnd: Bool { rest.isEmpty }
    /// The tag of the next element; `nil` at the end.
    var nextTag: UInt8? { rest.first }

    mutating func next() throws(KeyFailure) -> DERElement<Bytes> {
        let start = rest.startIndex
        guard let tag = rest.first, tag & 0x1F != 0x1F, tag != 0 else { throw .malformed(format) }
        var header = rest.dropFirst()
        guard let length = Self.length(&header), length <= header.count else { throw .malformed(format) }
        let content = header.prefix(length)
        defer { rest = rest[content.endIndex...] }
        return DERElement(tag: tag, content: content, encoded: rest[start..<content.endIndex])
    }

    /// The content of the next element, which must have this tag.
    mutating func content(_ tag: UInt8) throws(KeyFailure) -> Bytes {
        guard nextTag == tag else { throw .malformed(format) }
        return try next().content
    }

    /// The content of the next element if it has this tag.
    mutating func contentIfPresent(_ tag: UInt8) throws(KeyFailure) -> Bytes? {
        nextTag == tag ? try content(tag) : nil
    }

    /// A reader for the elements within the next one.
    mutating func within(_ tag: UInt8) throws(KeyFailure) -> DERReader {
        DERReader(try content(tag), format)
    }

    func finish() throws(KeyFailure) {
        guard isAtEnd else { throw .malformed(format) }
    }

    /// A definite length in its shortest form, of at most four bytes.
    private static func length(_ bytes: inout Bytes) -> Int? {
        guard let first = bytes.popFirst() else { return nil }
        guard first & 0x80 != 0 else { return Int(first) }
        let count = Int(first & 0x7F)
        guard (1...4).contains(count), bytes.count >= count, bytes.first != 0 else { return nil }
        let length = bytes.prefix(count).reduce(0) { $0 << 8 | Int($1) }
        bytes = bytes.dropFirst(count)
        return length >= 0x80 ? length : nil
    }
}

extension DERReader {
    /// The only element of the bytes.
    static func only(_ tag: UInt8, in bytes: Bytes, _ format: String) throws(KeyFailure) -> DERReader {
        var reader = DERReader(bytes, format)
        let inner = try reader.within(tag)
        try reader.finish()
        return inner
    }

    /// A non-negative number, without the zero byte of the sign. Zero has no bytes.
    mutating func unsignedInteger() throws(KeyFailure) -> Bytes {
        let content = try content(DERTag.integer)
        guard let first = content.first, first & 0x80 == 0 else { throw .malformed(format) }
        guard first == 0 else { return content }
        let rest = content.dropFirst()
        // A leading zero byte is only allowed before a byte that would otherwise be negative.
        if let second = rest.first, second & 0x80 == 0 { throw .malformed(format) }
        return rest
    }

    /// A non-negative number that fits in 32 bits.
    mutating func smallInteger() throws(KeyFailure) -> Int {
        let bytes = try unsignedInteger()
        guard bytes.count <= 4 else { throw .limitExceeded(format) }
        return bytes.reduce(0) { $0 << 8 | Int($1) }
    }

    /// The bytes of a bit string of whole bytes.
    mutating func bitString() throws(KeyFailure) -> Bytes {
        guard let bytes = try bitStringIfPresent(DERTag.bitString) else { throw .malformed(format) }
        return bytes
    }

    /// The bytes of a bit string of whole bytes, if the next element has this tag in place of that of bit strings.
    mutating func bitStringIfPresent(_ tag: UInt8) throws(KeyFailure) -> Bytes? {
        guard let content = try contentIfPresent(tag) else { return nil }
        guard content.first == 0 else { throw .malformed(format) }
        return content.dropFirst()
    }
}
