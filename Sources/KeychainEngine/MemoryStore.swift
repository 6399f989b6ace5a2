// SPDX-License-Identifier: Apache-2.0
// A store in memory, with the same rules as the vault: for tests and previews.

import Foundation
import Synchronization

/// An ``ItemStore`` that keeps items in memory, unencrypted, until it goes away.
///
/// Does not protect against anything: it is for tests and previews.
///
/// ```swift
/// let engine = Engine(store: MemoryStore())
/// ```
public final class MemoryStore: ItemStore {
    private let items = Mutex<[PrimaryKey: StoredItem]>([:])
    private let isPasscodeSet: Bool

    /// - Parameter isPasscodeSet: whether items of the class `whenPasscodeSetThisDeviceOnly` can be stored.
    public init(isPasscodeSet: Bool = false) {
        self.isPasscodeSet = isPasscodeSet
    }

    public func select(
        _ selection: Selection, limit: Int?, includingValues: Bool
    ) throws(KeychainFailure) -> SelectedItems {
        let found = items.withLock { Array($0.values.lazy.filter(selection.matches).prefix(max(0, limit ?? .max))) }
        guard !includingValues else { return SelectedItems(items: found) }
        return SelectedItems(items: found.map(\.withoutValue))
    }

    public func insert(_ item: Item) throws(KeychainFailure) -> StoredItem {
        try checkStorable(item)
        let stored = StoredItem(id: UUID(), version: 1, item: item)
        try items.withLock { (items) throws(KeychainFailure) in
            try Self.place(stored, in: &items)
        }
        return stored
    }

    public func update(
        _ selection: Selection, _ change: (StoredItem) throws(KeychainFailure) -> Item
    ) throws(KeychainFailure) -> SelectedItems {
        try items.withLock { (items) throws(KeychainFailure) in
            let found = items.values.filter(selection.matches)
            var changed = items
            for stored in found { changed[PrimaryKey(stored.item)] = nil }
            for stored in found {
                let item = try change(stored)
                try checkStorable(item)
                try Self.place(StoredItem(id: stored.id, version: stored.version + 1, item: item), in: &changed)
            }
            items = changed
            return SelectedItems(items: found)
        }
    }

    public func delete(_ selection: Selection) throws(KeychainFailure) -> Int {
        items.withLock { items in
            let found = items.filter { selection.matches($0.value) }
            for key in found.keys { items[key] = nil }
            return found.count
        }
    }

    private static func place(
        _ stored: StoredItem, in items: inout [PrimaryKey: StoredItem]
    ) throws(KeychainFailure) {
        let key = PrimaryKey(stored.item)
        guard items[key] == nil else {
            throw KeychainFailure(.duplicateItem, "An item with the same primary key exists. Update it instead.")
        }
        items[key] = stored
    }

    private func checkStorable(_ item: Item) throws(KeychainFailure) {
        guard item.accessControl.accessibility != .whenPasscodeSetThisDeviceOnly || isPasscodeSet else {
            throw .passcodeNotSet
        }
    }
}

extension KeychainFailure {
    /// The class that needs a passcode has no key while no passcode is set.
    public static let passcodeNotSet = KeychainFailure(
        .unavailable,
        "No passcode is set, so items cannot be stored in the class that needs one. Use another accessibility class.")
}

/// The bytes that are unique for each item of a store.
struct PrimaryKey: Hashable {
    private let itemClass: ItemClass
    private let parts: [[UInt8]]

    init(_ item: Item) {
        let schema = item.itemClass.schema
        itemClass = item.itemClass
        parts = schema.primaryKey.map { item.keyBytes($0) }
    }
}

extension StoredItem {
    var withoutValue: StoredItem {
        var copy = self
        copy.item.value = nil
        return copy
    }
}
