// SPDX-License-Identifier: Apache-2.0
// The differences of items that observers see.

public import Foundation

/// The differences between the items of a store now and at an earlier time.
public struct ItemDifferences: Sendable {
    /// Items that are new or have another version, without values. Items that require authentication have only their
    /// primary key, since the user was not asked.
    public var changed: [StoredItem]
    /// Items that were removed or are no longer selected.
    public var gone: Set<UUID>
    /// Versions of new or changed items that cannot be opened while the store is locked. Whether they are selected is
    /// unknown.
    public var closed: [UUID: UInt64]

    public init(changed: [StoredItem] = [], gone: Set<UUID> = [], closed: [UUID: UInt64] = [:]) {
        self.changed = changed
        self.gone = gone
        self.closed = closed
    }
}

extension Item {
    /// The proofs for finding the item and for its attributes.
    package var needsToBeFound: Proofs.Needs { isOnToken ? [] : accessControl.needs }
}

extension StoredItem {
    /// The part of the item that can be shown without authentication.
    public var listingEntry: StoredItem {
        var listingEntry = self
        listingEntry.item.value = nil
        guard !item.needsToBeFound.isEmpty else { return listingEntry }
        listingEntry.item.attributes = Attributes()
        for rule in item.itemClass.schema.primaryKey {
            listingEntry.item.attributes[rule.attribute] = item.attributes[rule.attribute]
        }
        return listingEntry
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
