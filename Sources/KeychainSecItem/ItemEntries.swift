// SPDX-License-Identifier: Apache-2.0
// Converts items to dictionaries and back.

import Foundation
import KeychainEngine
import KeychainServices

extension AttributeValue {
    /// The value as a dictionary entry.
    func entry(for attribute: Attribute) -> Any {
        switch self {
        case .string(let text): text
        case .data(let bytes): bytes
        // Apple's headers require a Boolean here; searches return a number.
        case .number(let number) where attribute == .synchronizable: number != 0
        case .number(let number): NSNumber(value: number)
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .bool(let flag): flag
        case .unsupported: NSNull()
        }
    }

    /// The value of a dictionary entry; `nil` for a type that no attribute has.
    init?(entry: Any) {
        switch entry {
        case let text as String: self = .string(text)
        case let bytes as Data: self = .data(bytes)
        case let date as Date: self = .date(date.timeIntervalSinceReferenceDate)
        case let number as NSNumber: self = .number(number.int64Value)
        default: return nil
        }
    }
}

extension Attribute {
    /// The system sets these attributes, or returns them in another way.
    static let ofTheSystem: Set<Attribute> = [
        .creationDate, .modificationDate, .digest, .accessible, .tombstone, .multiUser, .syncUUID,
    ]

    /// The dictionary key of the attribute.
    var key: String { description }
}

extension Item {
    /// The entries for `SecItemAdd`.
    ///
    /// - Throws: `invalidParameter` if the system does not accept its access control.
    func entries() throws(KeychainError) -> Entries {
        var entries: Entries = [kSecClass as String: itemClass.rawValue]
        for (attribute, value) in attributes where !Attribute.ofTheSystem.contains(attribute) {
            entries[attribute.key] = value.entry(for: attribute)
        }
        // The default group here stands for the program's default group in the system.
        if accessGroup == AccessGroups.unrestricted.defaultGroup { entries[kSecAttrAccessGroup as String] = nil }
        if let value { entries[kSecValueData as String] = value }
        try entries.set(accessControl)
        return entries
    }
}

extension Entries {
    mutating func set(_ accessControl: AccessControl) throws(KeychainError) {
        if let flags = accessControl.flags {
            self[kSecAttrAccessControl as String] = try accessControl.systemObject(flags)
        } else {
            self[kSecAttrAccessible as String] = accessControl.accessibility.rawValue
        }
    }
}

/// An item that the system found.
struct FoundItem {
    let stored: StoredItem
    /// The persistent reference of the system.
    let reference: Data

    /// - Returns: `nil` if the dictionary is not an item of the class.
    init?(_ entries: Entries, _ itemClass: ItemClass) {
        guard let reference = entries[kSecValuePersistentRef as String] as? Data,
            let name = entries[kSecAttrAccessible as String] as? String,
            let accessibility = Accessibility(rawValue: name)
        else { return nil }
        var attributes = Attributes()
        for rule in itemClass.schema.rules {
            attributes[rule.attribute] = entries[rule.attribute.key].flatMap { AttributeValue(entry: $0) }
        }
        for attribute: Attribute in [.accessible, .tombstone, .multiUser, .syncUUID] { attributes[attribute] = nil }
        let accessControl =
            AccessControl(systemObject: entries[kSecAttrAccessControl as String]) ?? AccessControl(accessibility)
        let item = Item(
            itemClass: itemClass, attributes: attributes, accessControl: accessControl,
            value: entries[kSecValueData as String] as? Data)
        stored = StoredItem(id: UUID(reference: reference), version: item.digestedVersion, item: item)
        self.reference = reference
    }
}

extension [FoundItem] {
    /// The items in the order of ``ItemOrder``. If an item was found twice, the later one stays last.
    func inOrder() -> [FoundItem] {
        map { (place: ItemOrder($0.stored.item), found: $0) }.sorted { $0.place < $1.place }.map { $0.found }
    }
}

extension Item {
    /// The system has no versions, but sets a new digest with every write.
    fileprivate var digestedVersion: UInt64 {
        guard case .data(let digest) = attributes[.digest] else { return 0 }
        return digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
