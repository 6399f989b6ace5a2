// SPDX-License-Identifier: Apache-2.0
// The form of an item for other machines, before it is sealed for them.

import Foundation
import KeychainCrypto
package import KeychainEngine

/// The bytes of an item for the other machines of a ring: the same encoding as in a vault, value included.
package enum SharedItem {
    private static let format: UInt8 = 1

    /// Format ‖ length of the metadata (4) ‖ metadata ‖ whether there is a value (1) ‖ value, with the same padding as
    /// values of a vault.
    ///
    /// - Returns: Bytes to wipe after use.
    package static func encode(_ item: Item) -> [UInt8] {
        let metadata = ItemCodec.encode(item).bytes
        var content = ByteWriter(capacity: metadata.count + (item.value?.count ?? 0) + 16)
        content.append(format)
        content.append(bigEndian: UInt32(clamping: metadata.count))
        content.append(metadata)
        content.append(UInt8(item.value == nil ? 0 : 1))
        if let value = item.value { content.append(value) }
        defer { content.wipe() }
        return Padding.pad(content, bucket: Padding.valueBucket)
    }

    /// - Parameter accessibility: The class in the record, which its author has signed.
    /// - Returns: `nil` if the bytes are not an item that this version knows.
    package static func decode(_ bytes: [UInt8], accessibility: UInt8) -> Item? {
        var padded = Data(bytes)
        defer { padded.wipe() }
        do {
            guard let accessibility = Accessibility(number: accessibility) else { return nil }
            var reader = ByteReader(try Padding.unpad(padded, bucket: Padding.valueBucket))
            guard try reader.number(UInt8.self) == format else { return nil }
            let metadata = try reader.bytes(Int(try reader.number(UInt32.self)))
            var item = try ItemCodec.decode(metadata, accessibility: accessibility)
            switch try reader.number(UInt8.self) {
            case 0: guard reader.isAtEnd else { return nil }
            case 1: item.value = try reader.bytes(reader.rest)
            default: return nil
            }
            return item
        } catch {
            return nil
        }
    }

    /// The identity of an item on all machines: class (4), then for each part of the primary key the name (4), the
    /// length (4) and the bytes.
    package static func primaryKey(_ item: Item) -> [UInt8] {
        let schema = item.itemClass.schema
        var writer = ByteWriter(capacity: 256)
        writer.append(item.itemClass.rawValue)
        for rule in [schema.major, schema.minor] + schema.scope {
            let bytes = item.keyBytes(rule)
            writer.append(bigEndian: rule.attribute.code)
            writer.append(bigEndian: UInt32(clamping: bytes.count))
            writer.append(bytes)
        }
        return writer.bytes
    }
}
