// SPDX-License-Identifier: Apache-2.0
// The state that an observer has seen, and the differences to it.

import Foundation
import KeychainEngine

/// The items and the lock state when last seen.
struct KnownItems {
    private var items: [UUID: StoredItem] = [:]
    private(set) var versions: [UUID: UInt64] = [:]
    /// Items that existed from the beginning and could not be opened yet.
    private var unopened: [UUID: UInt64] = [:]
    private var lockState: LockState?
    private var hasBegun = false

    /// Stores a new lock state and returns the change, if any.
    ///
    /// A change between the two locked states is reported too: it decides whether items of the after-first-unlock
    /// classes can be read.
    mutating func changes(_ now: LockState) -> [KnownChange] {
        defer { lockState = now }
        guard let before = lockState, before != now else { return [] }
        return [KnownChange(isLocked: now != .unlocked)]
    }

    /// Stores differences and returns them as changes. The first call returns none.
    mutating func changes(_ differences: ItemDifferences) -> [KnownChange] {
        var changes: [KnownChange] = []
        for id in differences.gone {
            versions[id] = nil
            if let item = items.removeValue(forKey: id) { changes.append(KnownChange(.removed, item)) }
        }
        let changed = differences.changed.sorted { $0.modified < $1.modified }
        // Old names first: the old name of one item may be the new name of another, and the last change of a name must
        // be the current state.
        changes += changed.compactMap { oldName(of: $0) }
        changes += changed.compactMap { change(of: $0) }
        if !hasBegun { unopened = differences.closed }
        // These have been opened or removed.
        for id in unopened.keys where differences.closed[id] == nil { unopened[id] = nil }
        defer { hasBegun = true }
        return hasBegun ? changes : []
    }

    /// Forgets the old name of a renamed item.
    private mutating func oldName(of item: StoredItem) -> KnownChange? {
        guard let before = items[item.id], PrimaryKey(before.item) != PrimaryKey(item.item) else { return nil }
        items[item.id] = nil
        return KnownChange(.removed, before)
    }

    private mutating func change(of item: StoredItem) -> KnownChange? {
        let (isKnown, unopenedVersion) = (items[item.id] != nil, unopened[item.id])
        items[item.id] = item
        versions[item.id] = item.version
        if let unopenedVersion, !isKnown {
            return unopenedVersion == item.version ? nil : KnownChange(.updated, item)
        }
        return KnownChange(isKnown ? .updated : .added, item)
    }
}

extension StoredItem {
    fileprivate var modified: Double {
        if case .date(let seconds) = item.attributes[.modificationDate] { seconds } else { 0 }
    }
}
