// SPDX-License-Identifier: Apache-2.0
// The calls on the content of a memory store. They work on a copy, which replaces the original if all of them succeed.

import Foundation
import SecretMemory

/// The content of a ``MemoryStore``.
struct MemoryContent {
    var items: [PrimaryKey: StoredItem] = [:]
    var lockState = LockState.unlocked
    var passphrase: Data?
    /// The key of each item that has an application password.
    var applicationKeys: [UUID: Data] = [:]
}

final class MemoryTransaction: ItemOperations {
    private(set) var content: MemoryContent
    /// The authentication requirement of the call that has just failed.
    private(set) var requirement: UnmetRequirement?
    private let proofs: Proofs

    init(_ content: MemoryContent, _ proofs: Proofs) {
        self.content = content
        self.proofs = proofs
    }

    func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _: Authorization
    ) throws(KeychainError) -> SelectedItems {
        guard limit ?? 1 > 0 else { return SelectedItems(items: []) }
        let matches = content.items.values.filter { stored in
            selection.matches(stored, proofs) && !(selection.skipsConstrained && !refused(stored).isEmpty)
        }
        let open = try open(matches, leavingOutLocked: selection.leavesOutLocked && limit == nil)
        let found = Array(open.inOrder().prefix(limit ?? .max))
        var selected = SelectedItems(items: try shown(found, selection, includingValues: includingValues))
        selected.locked = matches.count - open.count
        return selected
    }

    private func shown(
        _ found: [StoredItem], _ selection: Selection, includingValues: Bool
    ) throws(KeychainError) -> [StoredItem] {
        if selection.namesConstrained, !selection.skipsConstrained, !includingValues {
            return try found.map { (stored) throws(KeychainError) in try named(stored) }
        }
        try checkOpen(found) { includingValues && selection.opensKey($0) }
        guard includingValues else { return found.map(\.withoutValue) }
        return found.map { selection.opensKey($0.item) ? $0 : $0.withoutTokenObject }
    }

    /// The item, or only its name if it requires more than was proven.
    private func named(_ stored: StoredItem) throws(KeychainError) -> StoredItem {
        let accessControl = stored.item.accessControl
        guard accessControl.accessibility.isOpen(in: content.lockState) else { throw .locked }
        let isProven = proofs.missing(accessControl.needs).isEmpty && refused(stored).isEmpty
        return isProven || stored.item.isOnToken ? stored.withoutValue : stored.listingEntry
    }

    func insert(_ item: Item, _: Authorization) throws(KeychainError) -> StoredItem {
        try checkStorable(item)
        let stored = StoredItem(id: .random(), version: 1, item: item)
        try place(stored)
        return stored
    }

    func update(
        _ selection: Selection, _: Authorization, _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        let found = content.items.values.filter(selection.matches).inOrder()
        try checkOpen(found) { _ in true }
        let before = content
        do throws(KeychainError) {
            for stored in found { content.items[PrimaryKey(stored.item)] = nil }
            for stored in found {
                let item = try stored.changed(by: change)
                try checkStorable(item)
                try place(StoredItem(id: stored.id, version: stored.version + 1, item: item))
            }
        } catch {
            content = before
            throw error
        }
        return SelectedItems(items: found.map(\.withoutKeyOfKeychain))
    }

    func delete(_ selection: Selection, _: Authorization) throws(KeychainError) -> Int {
        let found = content.items.filter { selection.matches($0.value) }
        for key in found.keys { content.items[key] = nil }
        return found.count
    }

    // MARK: - Rules

    /// In a vault, the position of a locked item in the order is unknown. So one locked item is enough to refuse a
    /// search, with or without a limit, unless locked items are left out and there are others.
    private func open(
        _ matches: [StoredItem], leavingOutLocked: Bool
    ) throws(KeychainError) -> [StoredItem] {
        let open = matches.filter { $0.item.accessControl.accessibility.isOpen(in: content.lockState) }
        guard open.count == matches.count || leavingOutLocked && !open.isEmpty else { throw .locked }
        return open
    }

    /// Checks that items can be read or changed: their class is open, and the proofs are complete and correct.
    private func checkOpen(_ items: [StoredItem], opensKey: (Item) -> Bool) throws(KeychainError) {
        var (missing, refused): (Proofs.Needs, Proofs.Needs) = ([], [])
        for stored in items {
            let accessControl = stored.item.accessControl
            guard accessControl.accessibility.isOpen(in: content.lockState) else { throw .locked }
            if stored.item.isOnToken, !opensKey(stored.item) { continue }
            missing.formUnion(proofs.missing(accessControl.needs))
            refused.formUnion(self.refused(stored))
        }
        if !missing.isEmpty { try stop(.needs(missing)) }
        if !refused.isEmpty { try stop(.refused(refused)) }
    }

    /// The given proofs that do not open the item.
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

    private func stop(_ requirement: UnmetRequirement) throws(KeychainError) {
        self.requirement = requirement
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

extension StoredItem {
    fileprivate var withoutValue: StoredItem {
        var copy = self
        copy.item.value = nil
        return copy
    }
}
