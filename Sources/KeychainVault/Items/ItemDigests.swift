// SPDX-License-Identifier: Apache-2.0
// The digests under which an item is indexed.

import Foundation
import KeychainCrypto
import KeychainEngine

/// The keyed digests of items. SQL uses them instead of accounts, services and servers.
struct ItemDigests: Sendable {
    /// Sixteen bytes: two values of one attribute collide by chance once in 2^64 items.
    private static let length = 16

    /// The first byte of a digested message.
    private enum Message: UInt8 {
        case value = 1
        case scope = 2
    }

    let index: BlindIndex

    func key(_ item: Item) -> KeyDigests {
        let schema = item.itemClass.schema
        let major = value(schema.itemClass, schema.major, item.keyBytes(schema.major))
        let minor = value(schema.itemClass, schema.minor, item.keyBytes(schema.minor))
        return KeyDigests(major: major, minor: minor, scope: scope(item.attributes, schema, major, minor))
    }

    /// The digest to look up for a condition on the attribute; `nil` without such a condition.
    func value(_ itemClass: ItemClass, _ rule: Schema.Rule, in conditions: Attributes) -> Data? {
        conditions[rule.attribute].map { value(itemClass, rule, $0.lookupBytes(as: rule.kind)) }
    }

    /// One digest for each searchable attribute among `attributes`, an item's or a search's, that the key's own index
    /// does not serve. Empty values are not indexed: every item without a value has them.
    func lookups(_ itemClass: ItemClass, _ attributes: Attributes) -> [Data] {
        itemClass.schema.indexed.compactMap { rule in
            guard let bytes = attributes[rule.attribute]?.lookupBytes(as: rule.kind), !bytes.isEmpty else { return nil }
            return value(itemClass, rule, bytes)
        }
    }

    func lookups(_ item: Item) -> [Data] { lookups(item.itemClass, item.attributes) }

    /// The message includes the attribute's name, so that equal values of two attributes have different digests.
    private func value(_ itemClass: ItemClass, _ rule: Schema.Rule, _ bytes: [UInt8]) -> Data {
        var message = Self.start(.value, itemClass)
        message.append(bigEndian: rule.attribute.code)
        message.append(bytes)
        return index.digest(message.bytes, length: Self.length)
    }

    /// The message includes the rest of the key, so that equal groups of different items have different digests.
    func scope(_ attributes: Attributes, _ schema: Schema, _ major: Data, _ minor: Data) -> Data {
        var message = Self.start(.scope, schema.itemClass)
        message.append(major)
        message.append(minor)
        for rule in schema.scope {
            // Absent and empty are the same, as in Apple's tables.
            let bytes = attributes[rule.attribute]?.lookupBytes(as: rule.kind) ?? []
            message.append(bigEndian: rule.attribute.code)
            message.append(bigEndian: UInt32(bytes.count))
            message.append(bytes)
        }
        return index.digest(message.bytes, length: Self.length)
    }

    private static func start(_ message: Message, _ itemClass: ItemClass) -> ByteWriter {
        var writer = ByteWriter(capacity: 192)
        writer.append(message.rawValue)
        writer.append(itemClass.rawValue)
        return writer
    }
}
