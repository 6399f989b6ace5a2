// SPDX-License-Identifier: Apache-2.0
// JSON as a value, to compare what two implementations say.

import Foundation
import KeychainEngine
import Testing

@testable import KeychainVault

/// A JSON value. Text is equal when its bytes are, numbers when they are the same number however they are written.
enum JSON: Sendable {
    case null
    case bool(Bool)
    case integer(Int128)
    case real(Double)
    case text(String)
    case list([JSON])
    case object([String: JSON])

    static func number(_ value: some BinaryInteger) -> JSON { .integer(Int128(value)) }

    static func number(_ value: Double) -> JSON { Int128(exactly: value).map { .integer($0) } ?? .real(value) }

    static func hex(_ bytes: some Sequence<UInt8>) -> JSON { .text(bytes.hexadecimal) }

    init(fileAt path: String) throws {
        self = try JSONDecoder().decode(JSON.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    }

    subscript(name: String) -> JSON? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    var elements: [JSON] {
        if case .list(let elements) = self { elements } else { [] }
    }

    var text: String? {
        if case .text(let text) = self { text } else { nil }
    }

    /// The object with the members of another added to it.
    func merging(_ other: JSON) -> JSON {
        guard case .object(let mine) = self, case .object(let others) = other else { return other }
        return .object(mine.merging(others) { $1 })
    }
}

extension JSON: Equatable {
    static func == (lhs: JSON, rhs: JSON) -> Bool {
        switch (lhs, rhs) {
        case (.null, .null): true
        case (.bool(let a), .bool(let b)): a == b
        case (.integer(let a), .integer(let b)): a == b
        case (.real(let a), .real(let b)): a == b
        case (.text(let a), .text(let b)): a.utf8.elementsEqual(b.utf8)
        case (.list(let a), .list(let b)): a == b
        case (.object(let a), .object(let b)): a == b
        default: false
        }
    }
}

extension JSON: CustomTestStringConvertible {
    var testDescription: String {
        switch self {
        case .null: "null"
        case .bool(let flag): "\(flag)"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let text): "'\(text)'"
        case .list(let elements): "[" + elements.map(\.testDescription).joined(separator: ", ") + "]"
        case .object(let members):
            "{"
                + members.keys.sorted().map { "\($0): \(members[$0, default: .null].testDescription)" }
                .joined(separator: ", ") + "}"
        }
    }
}

extension JSON: Decodable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .bool(flag)
        } else if let number = try? container.decode(Int64.self) {
            self = .number(number)
        } else if let number = try? container.decode(UInt64.self) {
            self = .number(number)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let elements = try? container.decode([JSON].self) {
            self = .list(elements)
        } else {
            self = .object(try container.decode([String: JSON].self))
        }
    }
}

// MARK: - What both implementations say about an item

extension JSON {
    /// - Parameter bytes: How bytes are written: the reader prints base64, the vectors hold hexadecimal digits.
    static func typed(_ value: AttributeValue, bytes: (Data) -> String) -> JSON {
        let (type, content): (String, JSON) =
            switch value {
            case .string(let text): ("string", .text(text))
            case .data(let data): ("data", .text(bytes(data)))
            case .number(let number): ("number", .number(number))
            case .date(let seconds): ("date", .number(seconds))
            case .bool, .unsupported: ("unstorable", .null)
            }
        return .object(["type": .text(type), "value": content])
    }

    static func item(_ item: Item, bytes: (Data) -> String) -> JSON {
        var attributes: [String: JSON] = [:]
        for (attribute, value) in item.attributes { attributes["\(attribute)"] = typed(value, bytes: bytes) }
        return .object([
            "class": .text(item.itemClass.rawValue),
            "flags": item.accessControl.flags.map { .number($0.rawValue) } ?? .null,
            "attributes": .object(attributes),
        ])
    }

    /// An item with its value and place.
    static func stored(_ stored: StoredItem, bytes: (Data) -> String) -> JSON {
        let item = stored.item
        return .item(item, bytes: bytes).merging(
            .object([
                "accessibility": .text(item.accessControl.accessibility.rawValue), "version": .number(stored.version),
                "value": item.value.map { .text(bytes($0)) } ?? .null,
                "reference": .hex(stored.reference.bytes),
            ]))
    }
}

extension Sequence<UInt8> {
    var hexadecimal: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension Data {
    /// - Returns: `nil` unless `text` is pairs of hexadecimal digits.
    init?(hexadecimal text: String) {
        let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
        self.init(stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }
}
