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
        guard let header = bytes.withUnsafeBytes({ Header($0) }) else { throw MalformedBytes() }
        let accessControl = try accessControl(header, accessibility)
        // The rest is kept as bytes; values are decoded when they are read.
        let rest = bytes[(bytes.startIndex + Header.length)...]
        guard let attributes = Attributes(encoded: rest, count: header.count) else { throw MalformedBytes() }
        return Item(itemClass: header.itemClass, attributes: attributes, accessControl: accessControl, value: nil)
    }

    /// The part before the attributes.
    private struct Header {
        static let length = 15
        let itemClass: ItemClass
        let hasFlags: UInt8
        let flags: UInt64
        let count: Int

        /// `nil` if the bytes end too early, or name no class.
        init?(_ bytes: UnsafeRawBufferPointer) {
            guard bytes.count >= Self.length, let itemClass = Self.itemClass(bytes.loadUnaligned(as: UInt32.self))
            else { return nil }
            self.itemClass = itemClass
            hasFlags = bytes[4]
            flags = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 5, as: UInt64.self))
            count = Int(UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 13, as: UInt16.self)))
        }

        private static func itemClass(_ name: UInt32) -> ItemClass? {
            ItemClass(rawValue: withUnsafeBytes(of: name) { String(decoding: $0, as: UTF8.self) })
        }
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

    private static func accessControl(
        _ header: Header, _ accessibility: Accessibility
    ) throws(MalformedBytes) -> AccessControl {
        switch header.hasFlags {
        case 0 where header.flags == 0: return AccessControl(accessibility)
        case 1:
            let given = AccessControl.Flags(rawValue: header.flags)
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
