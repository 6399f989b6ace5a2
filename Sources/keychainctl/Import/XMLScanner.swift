// SPDX-License-Identifier: Apache-2.0
// What lies between the tags of XML, and what tags consist of.

import Foundation
import KeychainKit

/// A position in a document.
struct XMLScanner {
    /// What the file is, with its article.
    let format: String
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    private static let longestName = 256
    private static let longestAttribute = 4096

    init(_ bytes: UnsafeRawBufferPointer, format: String) { (self.bytes, self.format) = (bytes, format) }

    var isAtEnd: Bool { position == bytes.count }

    func begins(_ words: String) -> Bool { bytes[position...].starts(with: words.utf8) }

    func next() throws(KeychainError) -> UInt8 {
        guard position < bytes.count else { throw unreadable("The XML ends early. The file may be cut.") }
        return bytes[position]
    }

    /// - Parameter count: How many bytes, which ``begins(_:)`` or ``next()`` has seen.
    mutating func skip(_ count: Int) { position += count }

    /// - Returns: Whether there was any.
    mutating func skipSpace() -> Bool {
        let start = position
        while position < bytes.count, bytes[position].isXMLSpace { position += 1 }
        return position > start
    }

    mutating func skipSpaceAndComments() throws(KeychainError) {
        _ = skipSpace()
        while begins("<!--") {
            try skipComment()
            _ = skipSpace()
        }
    }

    mutating func skipComment() throws(KeychainError) {
        position += 4
        while !begins("-->") {
            _ = try next()
            position += 1
        }
        position += 3
    }

    /// `<?xml version="1.0" encoding="UTF-8"?>`
    mutating func skipDeclaration() throws(KeychainError) {
        guard begins("<?xml") else { return }
        let declaration = bytes[position...].prefix(Self.longestName)
        guard let end = declaration.firstIndex(of: UInt8(ascii: "?"), after: position + 2) else {
            throw unreadable("The declaration does not end.")
        }
        let words = String(decoding: bytes[position..<end], as: UTF8.self).lowercased().split { $0 == " " }
        let encoding = words.first { $0.hasPrefix("encoding=") }
        guard encoding == nil || encoding == "encoding=\"utf-8\"" || encoding == "encoding='utf-8'" else {
            throw .notA(format, "it is not encoded as UTF-8.")
        }
        position = end
        guard begins("?>") else { throw unreadable("The declaration does not end.") }
        position += 2
    }

    mutating func name() throws(KeychainError) -> Range<Int> {
        let end = bytes[position...].firstIndex { !$0.isNameCharacter } ?? bytes.count
        let name = position..<end
        guard let first = bytes[name].first, !first.isDigitOrMark, name.count <= Self.longestName else {
            throw unreadable("A tag is malformed.")
        }
        position = end
        return name
    }

    func text(of range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    func areEqual(_ one: Range<Int>, _ other: Range<Int>) -> Bool { bytes[one].elementsEqual(bytes[other]) }

    /// `name="value"`
    mutating func attribute() throws(KeychainError) -> (name: String, value: String) {
        let name = text(of: try name())
        _ = skipSpace()
        guard try next() == UInt8(ascii: "=") else { throw unreadable("An attribute has no value.") }
        position += 1
        _ = skipSpace()
        let quote = try next()
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw unreadable("The value of an attribute has no quotation marks.")
        }
        position += 1
        let rest = bytes[position...].prefix(Self.longestAttribute + 1)
        guard let end = rest.firstIndex(where: { $0 == quote || $0 == UInt8(ascii: "<") }), bytes[end] == quote else {
            throw unreadable("The value of an attribute does not end.")
        }
        let value = String(decoding: try decoded(position..<end, limit: Self.longestAttribute), as: UTF8.self)
        position = end + 1
        return (name, value)
    }

    // MARK: - Text

    /// The text up to the next tag.
    mutating func text(limit: Int) throws(KeychainError) -> Data {
        let start = position
        try skipText()
        return try decoded(start..<position, limit: limit)
    }

    mutating func skipText() throws(KeychainError) {
        position = bytes[position...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
        _ = try next()
    }

    private func decoded(_ range: Range<Int>, limit: Int) throws(KeychainError) -> Data {
        do throws(XMLText.Problem) {
            return try XMLText.decoded(bytes[range], limit: limit)
        } catch {
            switch error {
            case .tooLong:
                throw KeychainError(
                    .tooLarge, "Line \(line): A field is longer than 1 MiB. Nothing was imported.")
            case .character: throw unreadable("A text contains a character that XML does not allow.")
            case .entity: throw unreadable("A text refers to an entity that XML does not define.")
            }
        }
    }

    private var line: Int { 1 + bytes[..<position].count { $0 == UInt8(ascii: "\n") } }

    func unreadable(_ problem: String) -> KeychainError { .unreadable(line: line, problem) }
}

extension Collection<UInt8> {
    fileprivate func firstIndex(of byte: UInt8, after start: Index) -> Index? {
        indices.first { $0 >= start && self[$0] == byte }
    }
}

extension UInt8 {
    fileprivate var isXMLSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }

    /// A name cannot begin with one.
    fileprivate var isDigitOrMark: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: false
        }
    }

    fileprivate var isNameCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
            UInt8(ascii: ":"):
            true
        default: isDigitOrMark
        }
    }
}
