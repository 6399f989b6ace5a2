// SPDX-License-Identifier: Apache-2.0
// The calls on what a store in memory holds: on a copy, which replaces the original if all of it went well.

import Foundation
import SecretMemory

/// What a ``MemoryStore`` holds.
struct MemoryContent {
    var items: [PrimaryKey: StoredItem] = [:]
    var lockState = LockState.unlocked
    var passphrase: Data?
    /// What each item was protected with that has an application password.
    var applicationKeys: [UUID: Data] = [:]
}

final class MemoryTransaction: ItemOperations {
    private(set) var content: MemoryContent
    /// What has to be shown before the call can go on that has just failed.
    private(set) var obstacle: Obstacle?
    private let proofs: Proofs

    init(_ content: MemoryContent, _ proofs: Proofs) {
        self.content = content
        self.proofs = proofs
    }

    func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _: Authorization
    ) throws(KeychainError) -> SelectedItems {
        let found = Array(content.items.values.lazy.filter(selection.matches).prefix(max(0, limit ?? .max)))
        if selection.namesConstrained, !includingValues {
            return SelectedItems(items: try found.map { (stored) throws(KeychainError) in try named(stored) })
        }
        try checkOpen(found)
        return SelectedItems(items: includingValues ? found : found.map(\.withoutValue))
    }

    /// The item, or its name where it asks for more than was proven.
    private func named(_ stored: StoredItem) throws(KeychainError) -> StoredItem {
        let accessControl = stored.item.accessControl
        guard accessControl.accessibility.isOpen(in: content.lockState) else { throw .locked }
        let isProven = proofs.missing(accessControl.needs).isEmpty && refused(stored).isEmpty
        return isProven ? stored.withoutValue : stored.sighting
    }

    func insert(_ item: Item, _: Authorization) throws(KeychainError) -> StoredItem {
        try checkStorable(item)
        let stored = StoredItem(id: UUID(), version: 1, item: item)
        try place(stored)
        return stored
    }

    func update(
        _ selection: Selection, _: Authorization, _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        let found = content.items.values.filter(selection.matches)
        try checkOpen(found)
        let before = content
        do throws(KeychainError) {
            for stored in found { content.items[PrimaryKey(stored.item)] = nil }
            for stored in found {
                let item = try change(stored)
                try checkStorable(item)
                try place(StoredItem(id: stored.id, version: stored.version + 1, item: item))
            }
        } catch {
            content = before
            throw error
        }
        return SelectedItems(items: found)
    }

    func delete(_ selection: Selection, _: Authorization) throws(KeychainError) -> Int {
        let found = content.items.filter { selection.matches($0.value) }
        for key in found.keys { content.items[key] = nil }
        return found.count
    }

    // MARK: - Rules

    /// What keeps items from being read or changed: a closed class, more proofs, or proofs that do not fit.
    private func checkOpen(_ items: [StoredItem]) throws(KeychainError) {
        var (missing, refused): (Proofs.Needs, Proofs.Needs) = ([], [])
        for stored in items {
            let accessControl = stored.item.accessControl
            guard accessControl.accessibility.isOpen(in: content.lockState) else { throw .locked }
            missing.formUnion(proofs.missing(accessControl.needs))
            refused.formUnion(self.refused(stored))
        }
        if !missing.isEmpty { try stop(.needs(missing)) }
        if !refused.isEmpty { try stop(.refused(refused)) }
    }

    /// What was given and does not open the item.
    private func refused(_ stored: StoredItem) -> Proofs.Needs {
        guard let expected = content.applicationKeys[stored.id], let given = proofs.applicationKey else { return [] }
        return given.data == expected ? [] : .applicationPassword
    }

    private func checkStorable(_ item: Item) throws(KeychainError) {
        let accessControl = item.accessControl
        guard accessControl.accessibility.isOpen(in: content.lockState) else { throw .locked }
        let needsPasscode =
            accessControl.accessibility == .whenPasscodeSetThisDeviceOnly || accessControl.needs.contains(.user)
        guard content.passphrase != nil || !needsPasscode else { throw .passcodeNotSet }
        let missing = proofs.missing(accessControl.needs.intersection(.applicationPassword))
        if !missing.isEmpty { try stop(.needsNew(missing)) }
    }

    private func stop(_ obstacle: Obstacle) throws(KeychainError) {
        self.obstacle = obstacle
        throw .interactionNotAllowed
    }

    private func place(_ stored: StoredItem) throws(KeychainError) {
        let key = PrimaryKey(stored.item)
        guard content.items[key] == nil else {
            throw KeychainError(.duplicateItem, "An item with the same primary key exists. Update it instead.")
        }
        content.items[key] = stored
        let isProtected = stored.item.accessControl.needs.contains(.applicationPassword)
        content.applicationKeys[stored.id] = isProtected ? proofs.applicationKey?.data : nil
    }
}

extension SecretBytes {
    var data: Data { withUnsafeBytes { Data($0) } }
}

/// The bytes that are unique for each item of a store.
package struct PrimaryKey: Hashable, Sendable {
    private let itemClass: ItemClass
    private let parts: [[UInt8]]

    package init(_ item: Item) {
        let schema = item.itemClass.schema
        itemClass = item.itemClass
        parts = schema.primaryKey.map { item.keyBytes($0) }
    }
}

extension StoredItem {
    fileprivate var withoutValue: StoredItem {
        var copy = self
        copy.item.value = nil
        return copy
    }
}
