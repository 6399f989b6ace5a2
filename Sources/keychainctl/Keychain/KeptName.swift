// SPDX-License-Identifier: Apache-2.0
// The name under which the versions of an item are kept.

import Foundation
import KeychainEngine
import KeychainKit

/// The class and the primary key of an item as text. Versions have it as their service, so that a change finds those of
/// its item by an index, also after the item was deleted.
struct KeptName: Hashable {
    static let start = "swift-keychain.history:"

    let service: String

    init(_ itemClass: ItemClass, _ attributes: Attributes) {
        let item = Item(
            itemClass: itemClass, attributes: Self.key(itemClass, attributes), accessControl: Self.plain, value: nil)
        service = Self.start + String(decoding: ItemLine.start(of: item), as: UTF8.self)
    }

    init(_ item: Item) { self.init(item.itemClass, item.attributes) }

    init(_ item: KeychainItem) { self.init(item.itemClass, item.attributes) }

    /// - Returns: `nil` for the service of an item that is no version.
    init?(service: String) {
        guard service.hasPrefix(Self.start) else { return nil }
        self.service = service
    }

    /// The item without anything but its name; `nil` if the text is damaged.
    var item: Item? { ItemLine.item(start: Data(service.dropFirst(Self.start.count).utf8)) }

    /// In a primary key, absent and empty are the same, and so are text and its bytes.
    private static func key(_ itemClass: ItemClass, _ attributes: Attributes) -> Attributes {
        var key = Attributes()
        for rule in itemClass.schema.primaryKey {
            guard let value = attributes[rule.attribute], !value.lookupBytes(as: rule.kind).isEmpty else { continue }
            key[rule.attribute] = value
            guard case .blob = rule.kind, case .data(let bytes) = value else { continue }
            if let text = String(validating: bytes, as: UTF8.self) { key[rule.attribute] = .string(text) }
        }
        return key
    }

    private static let plain = AccessControl(.whenUnlocked)

    static func == (one: KeptName, other: KeptName) -> Bool { one.service.utf8.elementsEqual(other.service.utf8) }

    func hash(into hasher: inout Hasher) { hasher.combine(Array(service.utf8)) }
}

extension Item {
    /// The one item of a vault that has the same primary key.
    var sameName: Selection {
        var conditions = Attributes()
        for rule in itemClass.schema.primaryKey where rule.attribute != .multiUser && rule.attribute != .tombstone {
            // In the primary key, absent and empty are the same.
            conditions[rule.attribute] = attributes[rule.attribute] ?? .string("")
        }
        return Selection(itemClass: itemClass, conditions: conditions, groups: [accessGroup])
    }
}
