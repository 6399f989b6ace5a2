// SPDX-License-Identifier: Apache-2.0
// Which digests an item is filed under.

import Foundation
import KeychainCrypto
import KeychainEngine

/// The keyed digests of items: what SQL sees instead of accounts, services and servers.
struct ItemDigests {
    /// Sixteen bytes: two values of one attribute collide by chance once in 2^64 items.
    private static let length = 16

    /// The first byte of a digested message.
    private enum Message: UInt8 {
        case locator = 1
        case scope = 2
        case lookup = 3
    }

    let index: BlindIndex

    func locator(_ item: Item) -> Data {
        locator(item.itemClass.schema) { item.keyBytes($0) }
    }

    /// The digest that items with these values are filed under; `nil` if the conditions leave a part open.
    func locator(_ itemClass: ItemClass, _ conditions: Attributes) -> Data? {
        let schema = itemClass.schema
        guard schema.locatorRules.allSatisfy({ conditions[$0.attribute] != nil }) else { return nil }
        return locator(schema) { conditions[$0.attribute]?.lookupBytes(as: $0.kind) ?? Data() }
    }

    /// The rest of the primary key. It takes in the locator, so that equal groups of different items do not show.
    func scope(_ item: Item, locator: Data) -> Data {
        let schema = item.itemClass.schema
        var message = Self.start(.scope, schema.itemClass) + locator
        for rule in schema.scopeRules { Self.append(rule, item.keyBytes(rule), to: &message) }
        return index.digest(message, length: Self.length)
    }

    /// One digest for each searchable attribute that the item has.
    func lookups(_ item: Item) -> [Data] {
        item.itemClass.schema.rules.lazy.filter(\.isIndexed).compactMap { rule in
            guard let value = item.attributes[rule.attribute] else { return nil }
            let bytes = value.lookupBytes(as: rule.kind)
            return bytes.isEmpty ? nil : lookup(item.itemClass, rule, bytes)
        }
    }

    /// The digest of the first condition that items are filed by, and its attribute; `nil` if there is none.
    func lookup(_ itemClass: ItemClass, _ conditions: Attributes) -> [(attribute: Attribute, digest: Data)] {
        itemClass.schema.rules.lazy.filter(\.isIndexed).compactMap { rule in
            guard let bytes = conditions[rule.attribute]?.lookupBytes(as: rule.kind), !bytes.isEmpty else { return nil }
            return (rule.attribute, lookup(itemClass, rule, bytes))
        }
    }

    private func locator(_ schema: Schema, _ bytes: (Schema.Rule) -> Data) -> Data {
        var message = Self.start(.locator, schema.itemClass)
        for rule in schema.locatorRules { Self.append(rule, bytes(rule), to: &message) }
        return index.digest(message, length: Self.length)
    }

    private func lookup(_ itemClass: ItemClass, _ rule: Schema.Rule, _ bytes: Data) -> Data {
        var message = Self.start(.lookup, itemClass)
        Self.append(rule, bytes, to: &message)
        return index.digest(message, length: Self.length)
    }

    private static func start(_ message: Message, _ itemClass: ItemClass) -> Data {
        var bytes = Data(capacity: 128)
        bytes.append(message.rawValue)
        bytes.append(contentsOf: itemClass.rawValue.utf8)
        return bytes
    }

    /// name ‖ length ‖ bytes, so that no two lists of values make the same message.
    private static func append(_ rule: Schema.Rule, _ bytes: Data, to message: inout Data) {
        message.append(bigEndian: rule.attribute.code)
        message.append(bigEndian: UInt32(bytes.count))
        message.append(bytes)
    }
}
