// SPDX-License-Identifier: Apache-2.0
// A checked update: the changes, converted for one class, ready to be applied to items.

import Foundation

/// The changes of an update after all checks. An invalid update fails before items are searched.
struct Edit {
    private let attributes: Attributes
    private let accessControl: AccessControl?
    private let protection: Protection?
    private let value: Data?

    init(_ changes: Changes, itemClass: ItemClass, accessGroups: AccessGroups) throws(KeychainError) {
        let converted = try Self.converted(changes, itemClass.schema)
        try Query.checkStorable(converted)
        if case .string(let group) = converted[.accessGroup] { try accessGroups.checkMayWrite(group) }
        accessControl = try Self.accessControl(changes, converted)
        protection = changes.protection
        var kept = converted
        kept[.accessible] = nil
        kept[.tombstone] = nil
        attributes = kept
        value = changes.value
    }

    /// - Throws: `invalidParameter` or `unavailable` if the item cannot have the requested protection.
    func applied(to item: Item, at date: Date) throws(KeychainError) -> Item {
        if item.isOnToken { try checkFitsTokenKey() }
        var result = item
        for (attribute, value) in attributes { result.attributes[attribute] = value }
        result.attributes.stamp(created: nil, modified: Self.later(than: item, date))
        if let accessControl { result.accessControl = accessControl }
        if let protection {
            result.accessControl = try item.accessControl.applying(protection)
            try result.accessControl.checkStorable(synchronizable: result.attributes.isSynchronizable)
        }
        if let value { result.value = value }
        return result
    }

    /// The object is that of the key, and its protection was decided when it was made.
    private func checkFitsTokenKey() throws(KeychainError) {
        guard value == nil, accessControl == nil, protection ?? Protection() == Protection(),
            attributes[.tokenID] == nil, !attributes.isSynchronizable
        else { throw .tokenKeyIsFixed }
    }

    private static func converted(_ changes: Changes, _ schema: Schema) throws(KeychainError) -> Attributes {
        var converted = Attributes()
        // Apple never changes the view of the user, whatever value is given.
        for (attribute, value) in changes.attributes where attribute != .multiUser {
            let rule = try schema.rule(for: attribute)
            if attribute == .sharingGroup {
                throw KeychainError(.invalidParameter, "The sharing group of an item cannot be changed.")
            }
            converted[attribute] = try rule.kind.convert(value, for: attribute)
        }
        return converted
    }

    private static func accessControl(
        _ changes: Changes, _ attributes: Attributes
    ) throws(KeychainError) -> AccessControl? {
        let plain = try attributes[.accessible]?.storableAccessibility()
        guard let accessControl = changes.accessControl else { return plain.map { AccessControl($0) } }
        if let plain { try accessControl.checkAgrees(with: plain) }
        try accessControl.checkStorable(synchronizable: attributes.isSynchronizable)
        return accessControl
    }

    /// The modification date always increases, by a millisecond if the clock did not advance.
    private static func later(than item: Item, _ date: Date) -> Date {
        guard case .date(let previous) = item.attributes[.modificationDate] else { return date }
        return max(date, Date(timeIntervalSinceReferenceDate: previous + 0.001))
    }
}
