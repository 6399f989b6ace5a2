// SPDX-License-Identifier: Apache-2.0
// Matching a row whose class is locked, by its digests only.

import Foundation
import KeychainEngine

/// Whether a selection matches a row that cannot be opened now.
///
/// Deletions work while items are locked (Apple's rule), and a search for other items must not fail because of them.
/// The digests decide about the primary key and the indexed attributes.
struct LockedRow {
    enum Verdict {
        case meant, notMeant
        /// The selection has a condition that only the sealed attributes can answer.
        case unknown
    }

    let selection: Selection
    let digests: ItemDigests

    func verdict(_ row: SealedRow, _ table: ItemTable) throws -> Verdict {
        guard let itemClass = selection.itemClass, let key = row.key else { return .unknown }
        if let id = selection.id?.id, id != row.id { return .notMeant }
        let schema = itemClass.schema
        var open = selection.conditions
        open[.synchronizable] = nil
        var isOfClass = selection.id?.id != nil
        for (attribute, value) in open {
            guard let holds = try holds(attribute, value, schema, row, key, table) else { continue }
            guard holds else { return .notMeant }
            isOfClass = true
            open[attribute] = nil
        }
        if selection.groups == nil, synchronizability(schema, key, [AccessGroups.internalGroup]) != nil {
            return .notMeant
        }
        guard let flag = synchronizability(schema, key, selection.groups ?? [AccessGroups.unrestricted.defaultGroup])
        else {
            guard isOfClass else { return .unknown }
            if selection.groups != nil, isScopeKnown(schema) { return .notMeant }
            return open.isEmpty && selection.groups == nil && selection.host == nil ? .meant : .unknown
        }
        // The scope digest confirms the attributes that were tried.
        for rule in schema.scope { open[rule.attribute] = nil }
        guard open.isEmpty, selection.host == nil else { return .unknown }
        if case .number(let wanted) = selection.conditions[.synchronizable], wanted != flag { return .notMeant }
        return .meant
    }

    /// - Returns: `nil` if no digest answers it.
    private func holds(
        _ attribute: Attribute, _ value: AttributeValue, _ schema: Schema, _ row: SealedRow, _ key: KeyDigests,
        _ table: ItemTable
    ) throws -> Bool? {
        if attribute == schema.major.attribute {
            return digests.value(schema.itemClass, schema.major, in: selection.conditions) == key.major
        }
        if attribute == schema.minor.attribute {
            return digests.value(schema.itemClass, schema.minor, in: selection.conditions) == key.minor
        }
        guard let digest = digests.lookups(schema.itemClass, [attribute: value]).first else { return nil }
        return try table.isIndexed(row.rowID, under: digest)
    }

    /// Whether the scope contains only the group and the values that are tried for the rest. Attributes that only
    /// Apple's programs set are assumed to be absent: a group that is not found then belongs to another program.
    private func isScopeKnown(_ schema: Schema) -> Bool {
        let tried: Set<Attribute> = [.accessGroup, .synchronizable, .sharingGroup, .tokenID, .viewHint]
        return schema.scope.allSatisfy { tried.contains($0.attribute) || selection.conditions[$0.attribute] != nil }
    }

    /// Tries groups, with the rest of the scope as given in the selection or at its defaults.
    ///
    /// - Returns: Whether the item is synchronizable, 0 or 1; `nil` if no tried scope matches.
    private func synchronizability(_ schema: Schema, _ key: KeyDigests, _ groups: [String]) -> Int64? {
        var attributes = Attributes()
        for rule in schema.scope {
            attributes[rule.attribute] = selection.conditions[rule.attribute] ?? rule.defaultValue
        }
        for group in groups {
            attributes[.accessGroup] = .string(group)
            for synchronizable: Int64 in [0, 1] {
                attributes[.synchronizable] = .number(synchronizable)
                if digests.scope(attributes, schema, key.major, key.minor) == key.scope { return synchronizable }
            }
        }
        return nil
    }
}
