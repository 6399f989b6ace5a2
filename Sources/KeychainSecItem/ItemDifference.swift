// SPDX-License-Identifier: Apache-2.0
// The changes of an update, as the system needs them.

import Foundation
import KeychainEngine
import KeychainServices

/// The difference between two versions of an item.
struct ItemDifference {
    private var attributes = Attributes()
    private var accessControl: AccessControl?
    private var value: Data?

    /// - Throws: `unsupported` if a value or an attribute is removed, which `SecItemUpdate` cannot express, or if the
    ///   class changes.
    init(from before: Item, to after: Item) throws(KeychainError) {
        guard before.itemClass == after.itemClass, before.value == nil || after.value != nil else {
            throw Self.takesAway
        }
        for rule in before.itemClass.schema.rules where !Attribute.ofTheSystem.contains(rule.attribute) {
            try note(before.attributes[rule.attribute], after.attributes[rule.attribute], rule)
        }
        if before.accessControl != after.accessControl { accessControl = after.accessControl }
        if before.value != after.value { value = after.value }
    }

    private mutating func note(
        _ before: AttributeValue?, _ after: AttributeValue?, _ rule: Schema.Rule
    ) throws(KeychainError) {
        guard before != after else { return }
        if let after {
            attributes[rule.attribute] = after
        } else if let empty = rule.defaultValue {
            attributes[rule.attribute] = empty
        } else {
            throw Self.takesAway
        }
    }

    var isEmpty: Bool { attributes.isEmpty && accessControl == nil && value == nil }

    /// The one change that turns each item into its new version.
    ///
    /// - Throws: `unsupported` if there is no such change.
    static func common(_ changes: [(before: Item, after: Item)]) throws(KeychainError) -> ItemDifference? {
        var common: ItemDifference?
        for (before, after) in changes {
            let difference = try ItemDifference(from: before, to: after)
            common = common.map { $0.merging(difference) } ?? difference
        }
        guard let common, changes.allSatisfy({ common.makes($0.after) }) else { throw Self.differs }
        return common
    }

    private func merging(_ other: ItemDifference) -> ItemDifference {
        var merged = self
        for (attribute, value) in other.attributes { merged.attributes[attribute] = value }
        merged.accessControl = other.accessControl ?? accessControl
        merged.value = other.value ?? value
        return merged
    }

    private func makes(_ item: Item) -> Bool {
        attributes.allSatisfy { item.attributes[$0.attribute] == $0.value }
            && (accessControl ?? item.accessControl) == item.accessControl && (value ?? item.value) == item.value
    }

    /// The second dictionary of `SecItemUpdate` that turns an item into `item`.
    func entries(_ item: Item) throws(KeychainError) -> Entries {
        var entries: Entries = [:]
        for (attribute, value) in attributes { entries[attribute.key] = value.entry(for: attribute) }
        if let accessControl { try entries.set(accessControl) }
        if let value { entries[kSecValueData as String] = value }
        // A write without changes is still a write, and the system refuses an empty dictionary.
        if entries.isEmpty { entries = item.unchangedEntry }
        return entries
    }

    private static let takesAway = KeychainError(
        .unsupported,
        "The system's keychain cannot remove a value or attribute from an item. Remove and add the item.")
    private static let differs = KeychainError(
        .unsupported,
        "The system's keychain cannot change several items in different ways at once. Change one at a time.")
}

extension Item {
    fileprivate var unchangedEntry: Entries {
        let major = itemClass.schema.major.attribute
        return value.map { [kSecValueData as String: $0] }
            ?? attributes[major].map { [major.key: $0.entry(for: major)] } ?? [:]
    }

    /// Identifies this version of the item: its primary key and its digest.
    ///
    /// - Throws: `unsupported` if the system returns no digest.
    func versionEntries() throws(KeychainError) -> Entries {
        guard let digest = attributes[.digest] else {
            throw KeychainError(
                .unsupported, "The system does not tell versions of this item apart, so it cannot be changed safely.")
        }
        var entries: Entries = [kSecClass as String: itemClass.rawValue]
        entries[Attribute.digest.key] = digest.entry(for: .digest)
        for rule in itemClass.schema.primaryKey {
            if let value = attributes[rule.attribute] {
                entries[rule.attribute.key] = value.entry(for: rule.attribute)
            }
        }
        return entries
    }
}
