// SPDX-License-Identifier: Apache-2.0
// The part of D-Bus's wire format that a client of the Secret Service needs.

import Foundation
import KeychainKit

/// Types without use here (doubles, descriptors) are refused.
indirect enum DBusValue {
    case number(UInt64)
    case text(String)
    case bytes(Data)
    case array([DBusValue])
    /// Also an entry of a dictionary.
    case structure([DBusValue])
    case variant(DBusValue)

    /// Without variants around it.
    var plain: DBusValue { if case .variant(let value) = self { value.plain } else { self } }

    var text: String? { if case .text(let text) = plain { text } else { nil } }
    var isTrue: Bool { if case .number(let number) = plain { number != 0 } else { false } }
    var bytes: Data? { if case .bytes(let bytes) = plain { bytes } else { nil } }

    var list: [DBusValue]? {
        switch plain {
        case .array(let values), .structure(let values): values
        default: nil
        }
    }

    /// The entries of a dictionary whose keys are text.
    var dictionary: [String: DBusValue]? {
        guard case .array(let entries) = plain else { return nil }
        var result: [String: DBusValue] = [:]
        for entry in entries {
            guard case .structure(let pair) = entry, pair.count == 2, let key = pair[0].text else { return nil }
            result[key] = pair[1]
        }
        return result
    }
}

/// Writes little-endian values.
struct DBusWriter {
    private(set) var bytes: [UInt8] = []

    mutating func align(_ size: Int) { while !bytes.count.isMultiple(of: size) { bytes.append(0) } }

    mutating func byte(_ value: UInt8) { bytes.append(value) }

    mutating func number(_ value: UInt32) {
        align(4)
        bytes += (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    mutating func string(_ text: String) {
        number(UInt32(clamping: text.utf8.count))
        bytes += Array(text.utf8) + [0]
    }

    mutating func signature(_ text: String) { bytes += [UInt8(clamping: text.utf8.count)] + Array(text.utf8) + [0] }

    mutating func variant(_ text: String, _ type: String = "s") {
        signature(type)
        if type == "g" { signature(text) } else { string(text) }
    }

    mutating func append(_ other: [UInt8]) { bytes += other }
}

/// Reads values by their signature. Every length is checked against what is left.
struct DBusReader {
    private let bytes: Data
    private let isLittleEndian: Bool
    private var position = 0

    private static let deepest = 16

    init(_ bytes: Data, isLittleEndian: Bool) { (self.bytes, self.isLittleEndian) = (bytes, isLittleEndian) }

    mutating func values(_ signature: String) throws(KeychainError) -> [DBusValue] {
        var rest = Array(signature.utf8)[...]
        var values: [DBusValue] = []
        while !rest.isEmpty { values.append(try value(&rest, depth: 0)) }
        return values
    }

    mutating func align(_ size: Int) throws(KeychainError) {
        position = (position + size - 1) / size * size
        guard position <= bytes.count else { throw .brokenMessage }
    }

    mutating func number(_ size: Int) throws(KeychainError) -> UInt64 {
        try align(size)
        let part = try take(size)
        return (isLittleEndian ? part.reversed() : Array(part)).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private mutating func take(_ count: Int) throws(KeychainError) -> Data {
        guard count >= 0, count <= bytes.count - position else { throw .brokenMessage }
        defer { position += count }
        let start = bytes.startIndex + position
        return bytes[start..<(start + count)]
    }

    private mutating func text(lengthSize: Int) throws(KeychainError) -> String {
        let count = Int(try number(lengthSize))
        let part = try take(count)
        guard try take(1).first == 0, let text = String(validating: part, as: UTF8.self) else { throw .brokenMessage }
        return text
    }

    private mutating func value(_ type: inout ArraySlice<UInt8>, depth: Int) throws(KeychainError) -> DBusValue {
        guard depth <= Self.deepest, let code = type.popFirst() else { throw .brokenMessage }
        switch code {
        case UInt8(ascii: "y"): return .number(try number(1))
        case UInt8(ascii: "n"), UInt8(ascii: "q"): return .number(try number(2))
        case UInt8(ascii: "b"), UInt8(ascii: "i"), UInt8(ascii: "u"): return .number(try number(4))
        case UInt8(ascii: "x"), UInt8(ascii: "t"): return .number(try number(8))
        case UInt8(ascii: "s"), UInt8(ascii: "o"): return .text(try text(lengthSize: 4))
        case UInt8(ascii: "g"): return .text(try text(lengthSize: 1))
        case UInt8(ascii: "v"): return .variant(try variant(depth))
        case UInt8(ascii: "a"): return try array(&type, depth)
        case UInt8(ascii: "("), UInt8(ascii: "{"): return try structure(&type, depth)
        default: throw .brokenMessage
        }
    }

    private mutating func variant(_ depth: Int) throws(KeychainError) -> DBusValue {
        var inner = Array(try text(lengthSize: 1).utf8)[...]
        return try value(&inner, depth: depth + 1)
    }

    private mutating func structure(_ type: inout ArraySlice<UInt8>, _ depth: Int) throws(KeychainError) -> DBusValue {
        try align(8)
        var values: [DBusValue] = []
        while let next = type.first, next != UInt8(ascii: ")"), next != UInt8(ascii: "}") {
            values.append(try value(&type, depth: depth + 1))
        }
        // An empty one takes no bytes: an array of them would never end.
        guard !values.isEmpty, type.popFirst() != nil else { throw .brokenMessage }
        return .structure(values)
    }

    private mutating func array(_ type: inout ArraySlice<UInt8>, _ depth: Int) throws(KeychainError) -> DBusValue {
        let count = Int(try number(4))
        guard let element = type.first else { throw .brokenMessage }
        if element == UInt8(ascii: "y") {
            type.removeFirst()
            return .bytes(Data(Array(try take(count))))
        }
        try align(
            [UInt8(ascii: "("), UInt8(ascii: "{"), UInt8(ascii: "x"), UInt8(ascii: "t")].contains(element) ? 8 : 1)
        guard count <= bytes.count - position else { throw .brokenMessage }
        let end = position + count
        let own = type.prefix(try Self.lengthOfFirstType(type))
        type = type.dropFirst(own.count)
        var values: [DBusValue] = []
        while position < end {
            var inner = own
            values.append(try value(&inner, depth: depth + 1))
        }
        guard position == end else { throw .brokenMessage }
        return .array(values)
    }

    /// The length of one complete type: `a{sv}` is one.
    private static func lengthOfFirstType(_ type: ArraySlice<UInt8>) throws(KeychainError) -> Int {
        var (depth, count) = (0, 0)
        for code in type {
            count += 1
            switch code {
            case UInt8(ascii: "("), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "}"): depth -= 1
            case UInt8(ascii: "a"): continue
            default: break
            }
            if depth == 0 { return count }
        }
        throw .brokenMessage
    }
}

extension KeychainError {
    static let brokenMessage = KeychainError(
        .inputOutput, "The session bus sent a message that cannot be read. Nothing was imported.")
}
