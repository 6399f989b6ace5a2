// SPDX-License-Identifier: Apache-2.0
// What an observer has seen, and what is new to it.

import Foundation
import KeychainEngine

/// The items and the lock state as they were seen last.
struct KnownItems {
    private var items: [UUID: StoredItem] = [:]
    private(set) var versions: [UUID: UInt64] = [:]
    /// Items that were there from the beginning and have not been open yet.
    private var unopened: [UUID: UInt64] = [:]
    private var isLocked: Bool?
    private var hasBegun = false

    /// Takes over a lock state, and tells what is new about it.
    mutating func changes(_ lockState: LockState) -> [KnownChange] {
        let (before, now) = (isLocked, lockState != .unlocked)
        isLocked = now
        return before == nil || before == now ? [] : [KnownChange(isLocked: now)]
    }

    /// Takes over what is different, and tells about it; not the first time.
    mutating func changes(_ differences: ItemDifferences) -> [KnownChange] {
        var changes: [KnownChange] = []
        for id in differences.gone {
            versions[id] = nil
            if let item = items.removeValue(forKey: id) { changes.append(KnownChange(.removed, item)) }
        }
        for item in differences.changed.sorted(by: { $0.modified < $1.modified }) {
            changes += self.changes(item)
        }
        if !hasBegun { unopened = differences.closed }
        // They have been opened, or removed.
        for id in unopened.keys where differences.closed[id] == nil { unopened[id] = nil }
        defer { hasBegun = true }
        return hasBegun ? changes : []
    }

    private mutating func changes(_ item: StoredItem) -> [KnownChange] {
        let (before, unopenedVersion) = (items[item.id], unopened[item.id])
        items[item.id] = item
        versions[item.id] = item.version
        guard let before else {
            guard let unopenedVersion else { return [KnownChange(.added, item)] }
            return unopenedVersion == item.version ? [] : [KnownChange(.updated, item)]
        }
        guard PrimaryKey(before.item) == PrimaryKey(item.item) else {
            return [KnownChange(.removed, before), KnownChange(.added, item)]
        }
        return [KnownChange(.updated, item)]
    }
}

extension StoredItem {
    fileprivate var modified: Double {
        if case .date(let seconds) = item.attributes[.modificationDate] { seconds } else { 0 }
    }
}
