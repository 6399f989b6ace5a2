// SPDX-License-Identifier: Apache-2.0
// Items as dictionaries, and back.

import Foundation
import KeychainEngine
import KeychainServices

extension AttributeValue {
    /// The value as an entry of a dictionary.
    func entry(for attribute: Attribute) -> Any {
        switch self {
        case .string(let text): text
        case .data(let bytes): bytes
        // Apple's headers want a Boolean here, and give back a number.
        case .number(let number) where attribute == .synchronizable: number != 0
        case .number(let number): NSNumber(value: number)
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .bool(let flag): flag
        case .unsupported: NSNull()
        }
    }

    /// The value that a dictionary holds; `nil` for a type that no attribute has.
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
    /// The system sets these, or tells them in another way.
    static let ofTheSystem: Set<Attribute> = [
        .creationDate, .modificationDate, .digest, .accessible, .tombstone, .multiUser, .syncUUID,
    ]

    /// The key of a dictionary.
    var key: String { description }
}

extension Item {
    /// All that `SecItemAdd` is told of an item.
    ///
    /// - Throws: `invalidParameter` if the system does not take its access control.
    func entries() throws(KeychainError) -> Entries {
        var entries: Entries = [kSecClass as String: itemClass.rawValue]
        for (attribute, value) in attributes where !Attribute.ofTheSystem.contains(attribute) {
            entries[attribute.key] = value.entry(for: attribute)
        }
        // What is in the default group here, is in whatever group is the program's default there.
        if accessGroup == Caller.unrestricted.defaultGroup { entries[kSecAttrAccessGroup as String] = nil }
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

/// An item as the system found it.
struct FoundItem {
    let stored: StoredItem
    /// What the system calls it.
    let reference: Data

    /// - Returns: `nil` if the dictionary is not that of an item of the class.
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

extension Item {
    /// The system counts no versions, but sets a new digest with every write.
    fileprivate var digestedVersion: UInt64 {
        guard case .data(let digest) = attributes[.digest] else { return 0 }
        return digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
