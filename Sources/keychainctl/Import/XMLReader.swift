// SPDX-License-Identifier: Apache-2.0
// Reads XML that another program has written: elements, attributes and text, and nothing else that XML has.

import Foundation
import KeychainKit

/// A reader that goes from element to element.
///
/// Foundation's parser would link libxml2 and all of Foundation into the tool, which has neither (Docs/Decisions/0031),
/// and it knows document types and entities of a file's own, with which small files become large or name other files. This
/// one refuses them. The caller has checked that the bytes are UTF-8 without zero bytes.
struct XMLReader {
    private var scanner: XMLScanner
    /// The names of the elements that are open.
    private var open: [Range<Int>] = []
    /// Whether the element that was begun last is `<like-this/>`.
    private var isEmpty = false
    /// The attributes of the element that was begun last.
    private(set) var attributes: [String: String] = [:]

    private static let mostAttributes = 32

    /// - Parameter format: What the file is, with its article.
    init(_ bytes: UnsafeRawBufferPointer, format: String) { scanner = XMLScanner(bytes, format: format) }

    var format: String { scanner.format }

    func unreadable(_ problem: String) -> KeychainError { scanner.unreadable(problem) }

    // MARK: - Elements

    /// Begins the only element that no other one contains.
    mutating func root(_ expected: String) throws(KeychainError) {
        try scanner.skipDeclaration()
        try scanner.skipSpaceAndComments()
        guard scanner.begins("<") else { throw .notA(format, "it is not XML.") }
        guard try startTag() == expected else { throw .notA(format, "its first element is not '\(expected)'.") }
    }

    /// Begins the next element inside the one that is open.
    ///
    /// - Returns: `nil` at the end of that one, which is then closed.
    mutating func child() throws(KeychainError) -> String? {
        guard !isEmpty else {
            close()
            return nil
        }
        try scanner.skipSpaceAndComments()
        guard try scanner.next() == UInt8(ascii: "<") else { throw unreadable("There is text between two elements.") }
        guard scanner.begins("</") else { return try startTag() }
        try endTag()
        return nil
    }

    /// The text of the element that was begun last, which is then closed.
    mutating func text() throws(KeychainError) -> Data {
        guard !isEmpty else {
            close()
            return Data()
        }
        let text = try scanner.text(limit: ImportLimits.field)
        guard scanner.begins("</") else { throw unreadable("An element is inside a text.") }
        try endTag()
        return text
    }

    /// Leaves the element that was begun last, and all that it contains.
    mutating func skip() throws(KeychainError) {
        let depth = open.count
        while open.count >= depth {
            if isEmpty {
                close()
                continue
            }
            try scanner.skipText()
            if scanner.begins("</") {
                try endTag()
            } else if scanner.begins("<!--") {
                try scanner.skipComment()
            } else {
                _ = try startTag()
            }
        }
    }

    /// Nothing may follow the root.
    mutating func finish() throws(KeychainError) {
        try scanner.skipSpaceAndComments()
        guard scanner.isAtEnd else { throw unreadable("Something follows the end of the document.") }
    }

    // MARK: - Tags

    private mutating func close() {
        open.removeLast()
        isEmpty = false
    }

    private mutating func startTag() throws(KeychainError) -> String {
        guard !scanner.begins("<!"), !scanner.begins("<?") else {
            throw unreadable("It has a document type, a CDATA section or an instruction, which is not read.")
        }
        scanner.skip(1)
        let name = try scanner.name()
        guard open.count < ImportLimits.nesting else {
            throw unreadable("The XML is nested more than \(ImportLimits.nesting) levels deep.")
        }
        open.append(name)
        attributes = [:]
        while try !tagEnds() {
            let (name, value) = try scanner.attribute()
            guard attributes.updateValue(value, forKey: name) == nil, attributes.count <= Self.mostAttributes else {
                throw unreadable("An attribute exists twice, or there are too many.")
            }
        }
        return scanner.text(of: name)
    }

    private mutating func tagEnds() throws(KeychainError) -> Bool {
        let hasSpace = scanner.skipSpace()
        switch try scanner.next() {
        case UInt8(ascii: ">"):
            scanner.skip(1)
            isEmpty = false
            return true
        case UInt8(ascii: "/"):
            guard scanner.begins("/>") else { throw unreadable("A tag is malformed.") }
            scanner.skip(2)
            isEmpty = true
            return true
        default:
            guard hasSpace else { throw unreadable("A tag is malformed.") }
            return false
        }
    }

    private mutating func endTag() throws(KeychainError) {
        scanner.skip(2)
        let name = try scanner.name()
        _ = scanner.skipSpace()
        guard try scanner.next() == UInt8(ascii: ">"), let expected = open.last, scanner.areEqual(name, expected) else {
            throw unreadable("An element is not closed where it should be.")
        }
        scanner.skip(1)
        close()
    }
}
