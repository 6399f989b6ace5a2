// SPDX-License-Identifier: Apache-2.0
// An item's metadata as bytes, before sealing.

import Foundation
import KeychainCrypto
import KeychainEngine

/// The canonical bytes of an item's metadata: each item has exactly one encoding, and any other bytes are refused.
///
/// class (4) ‖ has flags (1) ‖ flags (8) ‖ attribute count (2) ‖ per attribute in ascending order of name:
/// name (4) ‖ type (1) ‖ length (4) ‖ bytes.
enum ItemCodec {
    private enum ValueType: UInt8 {
        case string = 1
        case data = 2
        case number = 3
        case date = 4
    }

    static func encode(_ item: Item) -> ByteWriter {
        var writer = ByteWriter(capacity: 256)
        writer.append(item.itemClass.rawValue)
        writer.append(UInt8(item.accessControl.flags == nil ? 0 : 1))
        writer.append(bigEndian: item.accessControl.flags?.rawValue ?? 0)
        writer.append(bigEndian: UInt16(item.attributes.count))
        for (attribute, value) in item.attributes {
            writer.append(bigEndian: attribute.code)
            append(value, to: &writer)
        }
        return writer
    }

    /// - Parameter accessibility: From the row, where the seal has authenticated it.
    static func decode(_ bytes: Data, accessibility: Accessibility) throws(MalformedBytes) -> Item {
        var reader = ByteReader(bytes)
        guard let itemClass = ItemClass(rawValue: String(decoding: try reader.slice(4), as: UTF8.self)) else {
            throw MalformedBytes()
        }
        let accessControl = try accessControl(&reader, accessibility)
        let count = Int(try reader.number(UInt16.self))
        var attributes = Attributes()
        attributes.reserveCapacity(min(count, 64))
        for _ in 0..<count {
            let attribute = Attribute(code: try reader.number())
            guard attributes.appendInOrder(attribute, try value(&reader)) else { throw MalformedBytes() }
        }
        guard reader.isAtEnd else { throw MalformedBytes() }
        return Item(itemClass: itemClass, attributes: attributes, accessControl: accessControl, value: nil)
    }

    private static func append(_ value: AttributeValue, to writer: inout ByteWriter) {
        switch value {
        case .string(let text):
            start(.string, length: text.utf8.count, &writer)
            writer.append(text)
        case .data(let data):
            start(.data, length: data.count, &writer)
            writer.append(data)
        case .number(let number):
            start(.number, length: 8, &writer)
            writer.append(bigEndian: number)
        case .date(let seconds):
            start(.date, length: 8, &writer)
            writer.append(bigEndian: seconds.bitPattern)
        // The engine has converted both before an item reaches a store.
        case .bool, .unsupported:
            start(.data, length: 0, &writer)
        }
    }

    private static func start(_ type: ValueType, length: Int, _ writer: inout ByteWriter) {
        writer.append(type.rawValue)
        // A longer one is far beyond the limit on metadata, which is checked next.
        writer.append(bigEndian: UInt32(clamping: length))
    }

    private static func value(_ reader: inout ByteReader) throws(MalformedBytes) -> AttributeValue {
        let type = ValueType(rawValue: try reader.number())
        let length = Int(try reader.number(UInt32.self))
        switch type {
        case .string:
            guard let text = String(validating: try reader.slice(length), as: UTF8.self) else { throw MalformedBytes() }
            return .string(text)
        case .data: return .data(try reader.bytes(length))
        case .number where length == 8: return .number(try reader.number())
        case .date where length == 8:
            let seconds = try reader.double()
            guard seconds.isFinite else { throw MalformedBytes() }
            return .date(seconds)
        default: throw MalformedBytes()
        }
    }

    private static func accessControl(
        _ reader: inout ByteReader, _ accessibility: Accessibility
    ) throws(MalformedBytes) -> AccessControl {
        let hasFlags = try reader.number(UInt8.self)
        let flags = try reader.number(UInt64.self)
        switch hasFlags {
        case 0 where flags == 0: return AccessControl(accessibility)
        case 1:
            let given = AccessControl.Flags(rawValue: flags)
            // An unknown flag may be a protection of a later version, so it is refused and not dropped.
            let accessControl = try checked(accessibility, given)
            guard accessControl.flags == given else { throw MalformedBytes() }
            return accessControl
        default: throw MalformedBytes()
        }
    }

    private static func checked(
        _ accessibility: Accessibility, _ flags: AccessControl.Flags
    ) throws(MalformedBytes) -> AccessControl {
        do throws(KeychainError) {
            return try AccessControl(accessibility, flags: flags)
        } catch {
            throw MalformedBytes()
        }
    }
}
