// SPDX-License-Identifier: Apache-2.0
// An item as one line of JSON: its class, protection, attributes with their types, and value.

import Foundation
import KeychainEngine
import KeychainKit
import SecretMemory

/// Names of JSON that are checked, since an unknown one may be a protection of a later version.
private struct AnyName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
}

/// A line that was read. See ``start(of:)`` for what is written.
struct ItemLine: Decodable {
    let item: Item

    /// The item of a line that ends before its value.
    ///
    /// - Returns: `nil` if it is not what ``start(of:)`` writes.
    static func item(start: Data) -> Item? {
        do { return try JSONDecoder().decode(ItemLine.self, from: start + Data("null}".utf8)).item } catch {
            return nil
        }
    }

    private static let names = ["class", "accessibility", "accessControl", "attributes", "value"]

    init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: AnyName.self)
        guard object.allKeys.allSatisfy({ Self.names.contains($0.stringValue) }), object.allKeys.count == 5 else {
            throw KeychainError(.corrupt, "it has other parts than an item.")
        }
        let className = try object.decode(String.self, forKey: AnyName("class"))
        let accessibility = try object.decode(String.self, forKey: AnyName("accessibility"))
        guard let itemClass = ItemClass.allCases.first(where: { $0.name == className }),
            let accessibility = Accessibility.allCases.first(where: { $0.name == accessibility })
        else { throw KeychainError(.corrupt, "its class or accessibility is unknown.") }
        let flags = try object.decode([String]?.self, forKey: AnyName("accessControl"))
        item = Item(
            itemClass: itemClass,
            attributes: try Self.attributes(
                object.nestedContainer(keyedBy: AnyName.self, forKey: AnyName("attributes"))),
            accessControl: try Self.accessControl(accessibility, flags),
            value: try object.decode(Data?.self, forKey: AnyName("value")))
    }

    private static func accessControl(
        _ accessibility: Accessibility, _ names: [String]?
    ) throws(KeychainError) -> AccessControl {
        guard let names else { return AccessControl(accessibility) }
        var flags: AccessControl.Flags = []
        for name in names {
            guard let flag = AccessControl.Flags.named.first(where: { $0.name == name })?.flag else {
                throw KeychainError(.corrupt, "its access control is unknown.")
            }
            flags.insert(flag)
        }
        let control = try AccessControl(accessibility, flags: flags)
        guard control.flags == flags else { throw KeychainError(.corrupt, "its access control is contradictory.") }
        return control
    }

    private static func attributes(_ object: KeyedDecodingContainer<AnyName>) throws -> Attributes {
        var attributes = Attributes()
        for name in object.allKeys {
            guard let attribute = Attribute(exported: name.stringValue) else {
                throw KeychainError(.corrupt, "the name of an attribute is malformed.")
            }
            attributes[attribute] = try value(object.nestedContainer(keyedBy: AnyName.self, forKey: name))
        }
        return attributes
    }

    private static func value(_ object: KeyedDecodingContainer<AnyName>) throws -> AttributeValue {
        guard object.allKeys.count == 1, let type = object.allKeys.first else {
            throw KeychainError(.corrupt, "an attribute has not exactly one type.")
        }
        switch type.stringValue {
        case "text": return .string(try object.decode(String.self, forKey: type))
        case "data": return .data(try object.decode(Data.self, forKey: type))
        case "number": return .number(try object.decode(Int64.self, forKey: type))
        case "date": return .date(try object.decode(Double.self, forKey: type))
        default: throw KeychainError(.corrupt, "the type of an attribute is unknown.")
        }
    }
}

// MARK: - Writing

extension ItemLine {
    /// The line up to its value, which is a string of base64, or `null` for an item without a value.
    static func start(of item: Item) -> Data {
        let control = item.accessControl
        let flags = control.flags.map { flags in
            "["
                + AccessControl.Flags.named.filter { flags.contains($0.flag) }.map { "\"\($0.name)\"" }
                .joined(separator: ",") + "]"
        }
        let attributes = item.attributes.map { "\($0.attribute.exported.quotedForJSON):\($0.value.exported)" }
        return Data(
            ("{\"class\":\"\(item.itemClass.name)\",\"accessibility\":\"\(control.accessibility.name)\","
                + "\"accessControl\":\(flags ?? "null"),\"attributes\":{\(attributes.joined(separator: ","))},\"value\":")
                .utf8)
    }
}

extension AccessControl.Flags {
    fileprivate static let named: [(name: String, flag: AccessControl.Flags)] = [
        ("userPresence", .userPresence), ("biometryAny", .biometryAny),
        ("biometryCurrentSet", .biometryCurrentSet), ("devicePasscode", .devicePasscode), ("companion", .companion),
        ("or", .or), ("and", .and), ("privateKeyUsage", .privateKeyUsage),
        ("applicationPassword", .applicationPassword),
    ]
}

extension Attribute {
    /// Letters and digits only: other names would have to be escaped.
    private var isPlain: Bool {
        [24, 16, 8, 0].allSatisfy { shift in
            switch UInt8(truncatingIfNeeded: code >> shift) {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: false
            }
        }
    }

    /// Its four letters, or for another name `0x` and eight digits.
    fileprivate var exported: String {
        if isPlain { return description }
        let digits = String(code, radix: 16)
        return "0x" + String(repeating: "0", count: 8 - digits.count) + digits
    }

    /// - Returns: `nil` for text that ``exported`` does not give.
    fileprivate init?(exported text: String) {
        if let named = Attribute(text) {
            self = named
        } else {
            guard text.hasPrefix("0x"), let code = UInt32(text.dropFirst(2), radix: 16) else { return nil }
            self.init(code: code)
        }
        guard exported == text else { return nil }
    }
}

extension AttributeValue {
    fileprivate var exported: String {
        switch self {
        case .string(let text): "{\"text\":\(text.quotedForJSON)}"
        case .data(let bytes): "{\"data\":\"\(bytes.base64EncodedString())\"}"
        case .number(let number): "{\"number\":\(number)}"
        // The shortest digits that are read as the same number.
        case .date(let seconds): "{\"date\":\(seconds)}"
        // The engine has converted both before they are stored.
        case .bool, .unsupported: "{\"data\":\"\"}"
        }
    }
}

extension String {
    /// In quotation marks. Invisible characters are escaped, so that the file can be shown on a terminal.
    fileprivate var quotedForJSON: String {
        let isPlain = utf8.allSatisfy {
            (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
        }
        if isPlain { return "\"\(self)\"" }
        var result = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                result += (scalar.value < 16 ? "\\u000" : "\\u00") + String(scalar.value, radix: 16)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return (result + "\"").escapingControlsInJSON
    }
}
