// SPDX-License-Identifier: Apache-2.0
// Names of subjects and issuers: their attributes as text, and the form in which they are compared.

public import Foundation
import SwiftASN1

/// A Name (RFC 5280, 4.1.2.4), parsed.
struct DistinguishedName {
    struct Attribute {
        /// `nil` for one that no known attribute has.
        let type: ASN1ObjectIdentifier?
        let encodedType: ArraySlice<UInt8>
        let value: DERElement<ArraySlice<UInt8>>
    }

    /// Relative names, each with its attributes.
    let parts: [[Attribute]]
    var attributes: [Attribute] { parts.flatMap(\.self) }

    /// - Parameter content: The content of the outer SEQUENCE.
    /// - Throws: Also for a relative name without attributes.
    init(_ content: ArraySlice<UInt8>) throws(KeyFailure) {
        var reader = DERReader(content, "distinguished name")
        var parts: [[Attribute]] = []
        while !reader.isAtEnd {
            var set = try reader.within(DERTag.set)
            var attributes = [try Attribute(&set)]
            while !set.isAtEnd { attributes.append(try Attribute(&set)) }
            parts.append(attributes)
        }
        self.parts = parts
    }

    /// The normalized form of the content of a name; `nil` if it is damaged.
    static func normalized(_ content: ArraySlice<UInt8>) -> [UInt8]? { (try? DistinguishedName(content))?.normalized }

    /// The content of the outer SEQUENCE in the form in which Apple compares names.
    var normalized: [UInt8] {
        parts.flatMap { attributes in
            DERNode.element(
                DERTag.set,
                attributes.map { .sequence(.bytes([UInt8]($0.encodedType)), $0.normalizedValue) }
            ).encoded
        }
    }
}

extension DistinguishedName.Attribute {
    fileprivate init(_ set: inout DERReader<ArraySlice<UInt8>>) throws(KeyFailure) {
        var fields = try set.within(DERTag.sequence)
        let start = fields.rest
        type = try LongIdentifier(&fields).known
        encodedType = start[..<fields.rest.startIndex]
        value = try fields.next()
        try fields.finish()
    }

    /// Only a PrintableString changes: upper case, no blanks at the ends, one space for each run of blanks within.
    fileprivate var normalizedValue: DERNode {
        guard value.tag == StringTag.printable else { return .element(value.tag, [.bytes([UInt8](value.content))]) }
        let words = value.content.split { $0 == 0x20 || $0 == 0x09 }
        let upper = words.joined(separator: [0x20]).map { (0x61...0x7A).contains($0) ? $0 - 0x20 : $0 }
        return .element(value.tag, [.bytes(upper)])
    }

    /// The text; `nil` for other types, for bytes that are not of the type's encoding, and for no text.
    var text: String? { StringTag.text(value.tag, value.content) }
}

/// String types of ASN.1.
enum StringTag {
    static let utf8: UInt8 = 0x0C
    static let printable: UInt8 = 0x13
    static let t61: UInt8 = 0x14
    static let videotex: UInt8 = 0x15
    static let ia5: UInt8 = 0x16
    static let visible: UInt8 = 0x1A
    static let general: UInt8 = 0x1B
    static let universal: UInt8 = 0x1C
    static let bmp: UInt8 = 0x1E

    static func text(_ tag: UInt8, _ content: ArraySlice<UInt8>) -> String? {
        // Some writers end texts with a zero byte, as C does.
        let bytes = tag != bmp && content.last == 0 ? content.dropLast() : content
        guard !bytes.isEmpty else { return nil }
        switch tag {
        case printable, ia5: return ascii(bytes)
        case utf8, general, universal: return String(validating: bytes, as: UTF8.self)
        case t61, videotex, visible: return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        case bmp: return bmp(bytes)
        default: return nil
        }
    }

    static func ascii(_ bytes: ArraySlice<UInt8>) -> String? {
        bytes.allSatisfy { $0 < 0x80 } ? String(decoding: bytes, as: UTF8.self) : nil
    }

    private static func bmp(_ bytes: ArraySlice<UInt8>) -> String? {
        guard bytes.count % 2 == 0 else { return nil }
        let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map {
            UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
        }
        return String(validating: units, as: UTF16.self)
    }
}

extension Certificate {
    /// The content of the normalized subject, without the outer SEQUENCE: `kSecAttrSubject`. `nil` if the name is damaged.
    public var normalizedSubject: Data? { normalizedSubjectContent.map { Data($0) } }
    /// The same for the issuer: `kSecAttrIssuer`.
    public var normalizedIssuer: Data? { normalizedIssuerContent.map { Data($0) } }
    public var normalizedSubjectSequence: Data? { normalizedSubject.map(Self.encodedName) }
    public var normalizedIssuerSequence: Data? { normalizedIssuer.map(Self.encodedName) }

    /// Normalizes a name that a caller gives: a Name in DER, or the content of one.
    ///
    /// - Returns: The content; `nil` if it is neither.
    public static func normalizedName(_ name: Data) -> Data? {
        let bytes = [UInt8](name)[...]
        let content = (try? DERReader.only(DERTag.sequence, in: bytes, "name"))?.rest ?? bytes
        return DistinguishedName.normalized(content).map { Data($0) }
    }

    /// A Name in DER, of the content that items have.
    public static func encodedName(_ content: Data) -> Data {
        Data(DERNode.sequence(.bytes([UInt8](content))).encoded)
    }
}
