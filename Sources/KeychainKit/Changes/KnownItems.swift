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
    private var lockState: LockState?
    private var hasBegun = false

    /// Takes over a lock state, and tells what is new about it.
    ///
    /// Also if it was locked before: that it was never unlocked, or has been meanwhile, decides about items that are open
    /// after the first unlock.
    mutating func changes(_ now: LockState) -> [KnownChange] {
        defer { lockState = now }
        guard let before = lockState, before != now else { return [] }
        return [KnownChange(isLocked: now != .unlocked)]
    }

    /// Takes over what is different, and tells about it; not the first time.
    mutating func changes(_ differences: ItemDifferences) -> [KnownChange] {
        var changes: [KnownChange] = []
        for id in differences.gone {
            versions[id] = nil
            if let item = items.removeValue(forKey: id) { changes.append(KnownChange(.removed, item)) }
        }
        let changed = differences.changed.sorted { $0.modified < $1.modified }
        // Old names first: the old name of one may be the new name of another, where what comes last is what is there.
        changes += changed.compactMap { oldName(of: $0) }
        changes += changed.compactMap { change(of: $0) }
        if !hasBegun { unopened = differences.closed }
        // They have been opened, or removed.
        for id in unopened.keys where differences.closed[id] == nil { unopened[id] = nil }
        defer { hasBegun = true }
        return hasBegun ? changes : []
    }

    /// Forgets an item that has another name now.
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
