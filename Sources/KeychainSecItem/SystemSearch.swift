// SPDX-License-Identifier: Apache-2.0
// Converts a selection to queries of the system.

import Foundation
import KeychainEngine
import KeychainServices

/// One query of the system, for the whole selection or for one of its access groups.
struct SystemSearch {
    let selection: Selection
    let itemClass: ItemClass
    let entries: Entries
    /// Whether the entries, in an update or a deletion, match exactly the selection. If not, the results must be
    /// filtered.
    let isExact: Bool

    /// The queries that together find the selected items; none if nothing can match.
    ///
    /// - Throws: `invalidParameter` if the selection has neither class nor reference.
    static func all(_ selection: Selection) throws(KeychainError) -> [SystemSearch] {
        guard let itemClass = selection.itemClass ?? selection.id?.itemClass else {
            throw KeychainError(.invalidParameter, "The request names no class. Give one.")
        }
        guard selection.canMatch(itemClass) else { return [] }
        if let reference = selection.id {
            return reference.id.map { [SystemSearch(selection, itemClass, reference, $0)] } ?? []
        }
        guard let groups = selection.groups else { return [SystemSearch(selection, itemClass, group: nil)] }
        // Sorted by bytes, as ``ItemOrder`` requires. Text that looks the same may be two groups.
        return Set(groups.map { Array($0.utf8) }).sorted { $0.lexicographicallyPrecedes($1) }
            .map { SystemSearch(selection, itemClass, group: String(decoding: $0, as: UTF8.self)) }
    }

    private init(_ selection: Selection, _ itemClass: ItemClass, group: String?) {
        var entries = Self.entries(ofClass: itemClass)
        for (attribute, value) in selection.conditions where !Self.notExpressed.contains(attribute) {
            entries[attribute.key] = value.entry(for: attribute)
        }
        if let group { entries[kSecAttrAccessGroup as String] = group }
        if let host = selection.host { entries[kSecMatchHostOrSubdomainOfHost as String] = host }
        self.init(
            selection, itemClass, entries,
            isExact: selection.isPlain && !selection.conditions.contains { Self.notExpressed.contains($0.attribute) })
    }

    private init(_ selection: Selection, _ itemClass: ItemClass, _ reference: PersistentReference, _ id: UUID) {
        switch SystemReference(reference, id: id) {
        case .bytes(let bytes):
            let isExact = selection.isPlain && selection.conditions.isEmpty && selection.groups == nil
            self.init(selection, itemClass, [kSecValuePersistentRef as String: bytes], isExact: isExact)
        case .derived:
            self.init(selection, itemClass, Self.entries(ofClass: itemClass), isExact: false)
        }
    }

    private init(_ selection: Selection, _ itemClass: ItemClass, _ entries: Entries, isExact: Bool) {
        self.selection = selection
        self.itemClass = itemClass
        self.entries = entries
        self.isExact = isExact
    }

    private static func entries(ofClass itemClass: ItemClass) -> Entries {
        [
            kSecClass as String: itemClass.rawValue,
            kSecAttrSynchronizable as String: kSecAttrSynchronizableAny as String,
        ]
    }

    /// These attributes are the same for all items, or the system ignores them. Only filtering the items helps.
    private static let notExpressed: Set<Attribute> = [.modificationDate, .tombstone, .multiUser, .syncUUID]
}

extension Selection {
    /// Whether an item of the class can match at all. The system would report such a query as an error.
    fileprivate func canMatch(_ itemClass: ItemClass) -> Bool {
        if let id, id.itemClass != itemClass { return false }
        if host != nil, itemClass != .internetPassword { return false }
        return !conditions.contains { itemClass.schema[$0.attribute] == nil }
    }

    /// Whether the selection has only attributes, groups and references, which every function of the system accepts.
    fileprivate var isPlain: Bool { host == nil && !skipsConstrained }
}
