// SPDX-License-Identifier: Apache-2.0
// Bringing back a version of an item, in one transaction.

import Foundation
import KeychainEngine
import KeychainKit
import SecretMemory

extension UserKeychain {
    /// Brings back the state before a change. The state before this is kept in turn.
    ///
    /// - Parameters:
    ///   - number: The version; `nil` for the newest.
    ///   - isReplacing: Whether another item is replaced that has the name now.
    /// - Returns: The version.
    /// - Throws: `itemNotFound`; `duplicateItem` if another item has the name now; `busy`; the errors of asking the user.
    func undo(_ options: ItemOptions, to number: Int?, isReplacing: Bool) throws(KeychainError) -> KeptVersion {
        let history = try history(options)
        let authorization = Authorization(context)
        let version = try history.version(number)
        let newest = try newest(history, version)
        return try KeepingStore(vault, .undo).keepingTransaction(authorization) { (items) throws(KeychainError) in
            // Another process may have changed the item since it was looked at.
            guard try items.versions.versions(of: version.name).last?.number == newest else {
                throw KeychainError(
                    .busy, "Another process has changed the item meanwhile. Nothing was undone. Try again.")
            }
            let complete = try items.versions.complete(version)
            try Restoration(items: items, authorization: authorization, version: complete, isReplacing: isReplacing)
                .run()
            return complete
        }
    }

    private func newest(_ history: ItemHistory, _ version: KeptVersion) throws(KeychainError) -> Int? {
        if version.name == history.name { return history.versions.last?.number }
        return try KeptVersions(items: vault).versions(of: version.name).last?.number
    }
}

/// The steps of an undo within its transaction.
private struct Restoration {
    let items: KeepingOperations
    let authorization: Authorization
    let version: KeptVersion
    let isReplacing: Bool

    func run() throws(KeychainError) {
        guard let name = version.name.item else { throw Self.isDamaged }
        items.broughtBack = version.original
        let holder = try first(name.sameName)
        if version.isAbsence { return try removeAgain(holder) }
        guard var item = version.item else { throw Self.isDamaged }
        defer { item.value?.wipe() }
        let moved = try movedItem()
        try checkIsFree(holder, moved)
        let restored = try put(item, over: holder)
        guard let moved, moved.id != restored else {
            if holder == nil { try keepAbsence(restored, item) }
            return
        }
        items.target = restored
        _ = try items.delete(selection(moved), authorization)
    }

    /// The item was added by an undo.
    private func removeAgain(_ holder: StoredItem?) throws(KeychainError) {
        guard let holder else {
            throw KeychainError(.itemNotFound, "There was no item before that change, and there is none now.")
        }
        guard try isSame(holder) else {
            throw KeychainError(
                .itemNotFound,
                "There was no item before that change, and the one of the name is another one now. To remove it: "
                    + "keychainctl delete")
        }
        _ = try items.delete(selection(holder), authorization)
    }

    /// The item under the name that the undone change gave it.
    private func movedItem() throws(KeychainError) -> StoredItem? {
        guard let id = version.movedTo else { return nil }
        return try first(
            Selection(
                itemClass: nil,
                id: PersistentReference(itemClass: version.name.item?.itemClass ?? .genericPassword, id: id)))
    }

    /// - Throws: `duplicateItem` if another item has the name.
    private func checkIsFree(_ holder: StoredItem?, _ moved: StoredItem?) throws(KeychainError) {
        guard let holder, !isReplacing, holder.id != moved?.id, try !isSame(holder) else { return }
        throw KeychainError(
            .duplicateItem,
            "Another item has this name now, and nothing was undone. To replace it, which is kept too unless the history is off, add: "
                + "--replace")
    }

    /// Whether an item is the one that the version is of. It has another identity after a move, and if an undo has brought it back.
    private func isSame(_ holder: StoredItem) throws(KeychainError) -> Bool {
        let named = try items.versions.versions(of: version.name)
        var (next, seen): ([UUID], Set<UUID>) = ([holder.id], [holder.id])
        while let id = next.popLast() {
            if id == version.original { return true }
            let moved = try items.versions.versions(movedTo: id).map(\.original)
            let earlier = moved + named.filter { $0.original == id }.compactMap(\.broughtBack)
            next += earlier.filter { seen.insert($0).inserted }
        }
        return false
    }

    /// - Returns: The identity of the item.
    private func put(_ old: Item, over holder: StoredItem?) throws(KeychainError) -> UUID {
        var item = old
        item.attributes.renew(after: old)
        guard let holder else {
            let id = try items.insert(item, authorization).id
            try relinkIfDeleted(to: id)
            return id
        }
        _ = try items.update(selection(holder), authorization) { (stored) throws(KeychainError) in
            var new = item
            new.attributes.renew(after: stored.item)
            return new
        }
        return holder.id
    }

    /// What led to an item that was deleted leads to the one that is there again. One that was moved is where it was moved to.
    private func relinkIfDeleted(to id: UUID) throws(KeychainError) {
        let last = try items.versions.versions(of: version.name).last { $0.original == version.original }
        if last?.deeds == [KeptVersion.Deed.deleted] { try items.versions.relink(version.original, to: id) }
    }

    private func keepAbsence(_ id: UUID, _ item: Item) throws(KeychainError) {
        try items.keepAbsence(before: StoredItem(id: id, version: 1, item: item))
    }

    private func first(_ selection: Selection) throws(KeychainError) -> StoredItem? {
        var selection = selection
        selection.namesConstrained = true
        return try items.select(selection, limit: 1, includingValues: false, authorization).items.first
    }

    private func selection(_ stored: StoredItem) -> Selection {
        Selection(itemClass: nil, id: PersistentReference(itemClass: stored.item.itemClass, id: stored.id))
    }

    private static let isDamaged = KeychainError(
        .corrupt, "The version is damaged. Nothing was changed. To go back further: keychainctl undo --to NUMBER")
}

extension Attributes {
    /// Gives them the date and the digest of a write. The date always increases.
    mutating func renew(after old: Item) {
        var date = Date().timeIntervalSinceReferenceDate
        if case .date(let before) = old.attributes[.modificationDate] { date = Swift.max(date, before + 0.001) }
        self[.modificationDate] = .date(date)
        var digest = Data(count: 20)
        digest.withUnsafeMutableBytes(fillWithRandomBytes)
        self[.digest] = .data(digest)
    }
}
