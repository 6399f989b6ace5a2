// SPDX-License-Identifier: Apache-2.0
// What observers see of items: which there are, and which of them have changed.

public import Foundation

/// How the items of a store differ from those that were there at an earlier look.
public struct ItemDifferences: Sendable {
    /// Items that are new or have another version, without values. Of those that ask for the user or a password nothing but
    /// the primary key: nobody has been asked.
    public var changed: [StoredItem]
    /// Items of before that are gone, or are not selected any more.
    public var gone: Set<UUID>
    /// Versions of items that are new or have another version and cannot be opened while the store is locked. They may be
    /// selected or not.
    public var closed: [UUID: UInt64]

    public init(changed: [StoredItem] = [], gone: Set<UUID> = [], closed: [UUID: UInt64] = [:]) {
        self.changed = changed
        self.gone = gone
        self.closed = closed
    }
}

extension StoredItem {
    /// What may be shown of the item when nobody has been asked.
    public var sighting: StoredItem {
        var sighting = self
        sighting.item.value = nil
        guard !item.accessControl.needs.isEmpty else { return sighting }
        sighting.item.attributes = Attributes()
        for rule in item.itemClass.schema.primaryKey {
            sighting.item.attributes[rule.attribute] = item.attributes[rule.attribute]
        }
        return sighting
    }
}

extension ItemStore {
    public func differences(
        _ selections: [Selection], from known: [UUID: UInt64]
    ) throws(KeychainError) -> ItemDifferences {
        var differences = ItemDifferences(gone: Set(known.keys))
        for var selection in selections {
            selection.skipsConstrained = true
            for stored in try select(selection, limit: nil, includingValues: false, .none).items {
                differences.gone.remove(stored.id)
                if known[stored.id] != stored.version { differences.changed.append(stored) }
            }
        }
        return differences
    }
}

extension Engine {
    /// How the items that match one of these queries differ from those of before; asks nobody.
    ///
    /// - Parameter known: The versions of the items of before.
    /// - Throws: `locked` if that cannot be told while the store is locked; what a search throws for its query.
    public func differences(
        _ queries: [Query], from known: [UUID: UInt64], caller: Caller
    ) throws(KeychainError) -> ItemDifferences {
        var selections: [Selection] = []
        for query in queries { selections.append(try query.searchSelection(caller: caller, dialect: dialect)) }
        return try store.differences(selections, from: known)
    }
}
