// SPDX-License-Identifier: Apache-2.0
// The calls of one transaction that keeps what it replaces and deletes.

import Foundation
import KeychainEngine
import KeychainKit

final class KeepingOperations: ItemOperations {
    private let items: any ItemOperations
    private let command: ChangingCommand
    private let authorization: Authorization
    private let now: Date
    private let progress: ProgressLine
    private var known: HistorySettings?
    /// The new place of the item that is deleted next.
    var target: UUID?
    /// The item of which an undo brings a version back.
    var broughtBack: UUID?
    /// What the item there has.
    private var targetAttributes = Attributes()
    /// What the user has to know once the transaction is committed.
    private(set) var notes: [String] = []

    init(
        _ items: any ItemOperations, _ command: ChangingCommand, _ authorization: Authorization, at now: Date,
        _ progress: ProgressLine = ProgressLine(isQuiet: true)
    ) {
        (self.items, self.command, self.authorization, self.now) = (items, command, authorization, now)
        self.progress = progress
    }

    var versions: KeptVersions { KeptVersions(items: items, authorization: authorization) }

    // MARK: - Calls

    func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainError) -> SelectedItems {
        try items.select(selection, limit: limit, includingValues: includingValues, authorization)
    }

    func insert(_ item: Item, _ authorization: Authorization) throws(KeychainError) -> StoredItem {
        let stored = try items.insert(item, authorization)
        if command == .move { (target, targetAttributes) = (stored.id, stored.item.attributes) }
        // A deleted item may have had the name, and required nothing.
        if !item.accessControl.needs.isEmpty { try protectVersions(of: stored, asWellAs: item, proven: []) }
        return stored
    }

    func update(
        _ selection: Selection, _ authorization: Authorization, _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        var changed: [UUID: Item] = [:]
        let before = try items.update(selection, authorization) { (stored) throws(KeychainError) in
            let new = withoutOldExpiry(try change(stored), stored.item)
            changed[stored.id] = new
            return new
        }
        guard command.keeps else { return before }
        for stored in before.items {
            guard let new = changed[stored.id], stored.item.mayBeKept else { continue }
            let deeds = stored.item.differences(to: new)
            if !deeds.isEmpty { _ = try keep(stored, deeds, replacedBy: new) }
            try protect(stored, asWellAs: new)
        }
        return before
    }

    func delete(_ selection: Selection, _ authorization: Authorization) throws(KeychainError) -> Int {
        if command == .forget { return try forget(selection) }
        guard command.keeps else { return try items.delete(selection, authorization) }
        if command == .move { try carryAttributes(selection) }
        let kept = try keepAll(selection)
        let count = try items.delete(selection, authorization)
        if count > kept, try isOn() {
            note(
                "\(count - kept) deleted item(s) could not be kept, because they require authentication, or are locked, "
                    + "damaged, of another device or too large. What is of another device, or does not open at all, is in the quarantine; "
                    + "the rest is gone, which cannot be undone.")
        }
        return count
    }

    // MARK: - Keeping

    /// Keeps all items that are about to be deleted, one after the other, since their values may be large.
    ///
    /// - Returns: How many are kept.
    private func keepAll(_ selection: Selection) throws(KeychainError) -> Int {
        var (selection, kept) = (selection, 0)
        selection.skipsConstrained = !command.hasProofs
        do throws(KeychainError) {
            let listed = try items.select(selection, limit: nil, includingValues: false, authorization).items
            guard !listed.isEmpty else { return 0 }
            guard try settings().isOn else {
                noteThatNothingIsKept()
                if let target { for old in listed { try link(old, to: target) } }
                return 0
            }
            for (index, listed) in listed.enumerated() {
                // Only keeping takes long: the items are then removed in one step.
                progress.count(index)
                let reference = PersistentReference(itemClass: listed.item.itemClass, id: listed.id)
                let one = Selection(itemClass: nil, id: reference, groups: [listed.item.accessGroup])
                var found = try items.select(one, limit: nil, includingValues: true, authorization)
                guard let stored = found.items.first else { continue }
                defer { found.items[0].item.value?.wipe() }
                let deed = target == nil ? KeptVersion.Deed.deleted : KeptVersion.Deed.moved
                if try keep(stored, [deed]) { kept += 1 }
            }
        } catch {
            // A deletion needs no key, and works while items are locked.
            guard error.reason == .locked else { throw error }
            if target != nil { note(Self.staysLocked) }
        }
        return kept
    }

    /// Keeps that there was no item, so that adding it can be undone.
    func keepAbsence(before added: StoredItem) throws(KeychainError) {
        _ = try keep(added, KeptVersion.Deed.addition)
    }

    /// Errors of keeping that the change itself may not have.
    private static let obstacles: [KeychainError.Reason: String] = [
        .locked: "Other versions of the item are locked",
        // A version has the name of the item twice, and its attributes as text.
        .tooLarge: "The attributes of the item are too large for a version",
    ]

    /// Nothing can lead from there to the new name.
    private static let staysLocked =
        "Versions of the item under its former name are locked. They stay when the item is forgotten. To remove them, unlock the "
        + "vault and run 'keychainctl history --clear' with the former name."

    /// - Returns: Whether it is kept, or need not be.
    private func keep(
        _ old: StoredItem, _ deeds: [String], replacedBy new: Item? = nil
    ) throws(KeychainError) -> Bool {
        guard old.item.mayBeKept else { return true }
        do throws(KeychainError) {
            let settings = try settings()
            guard settings.isOn else {
                noteThatNothingIsKept()
                if deeds == [KeptVersion.Deed.moved] { try link(old, to: target ?? old.id) }
                return true
            }
            let earlier = try versions.versions(of: KeptName(old.item))
            let number = (earlier.map(\.number).max() ?? 0) + 1
            let target = deeds == [KeptVersion.Deed.moved] ? target ?? old.id : nil
            _ = try items.insert(
                KeptVersion.item(
                    of: old, number, now, command.rawValue, deeds, movedTo: target, broughtBack: broughtBack,
                    try old.item.protectionOfVersion(replacedBy: new, isAbsence: deeds == KeptVersion.Deed.addition)),
                authorization)
            let size = deeds == KeptVersion.Deed.addition ? 0 : old.item.value?.count ?? 0
            let excess = settings.excess(earlier.reversed(), after: size, at: now)
            for version in excess { try versions.drop(version) }
            return true
        } catch {
            guard let obstacle = Self.obstacles[error.reason] else { throw error }
            note("\(obstacle), so this change was not kept and cannot be undone.")
            if deeds == [KeptVersion.Deed.moved] {
                if error.reason == .locked { note(Self.staysLocked) } else { try link(old, to: target ?? old.id) }
            }
            return false
        }
    }

    private func link(_ old: StoredItem, to target: UUID) throws(KeychainError) {
        try versions.link(old, to: target) { number in
            KeptVersion.item(
                of: old, number, now, command.rawValue, KeptVersion.Deed.bareLink,
                movedTo: target, broughtBack: nil, AccessControl(old.item.accessControl.accessibility))
        }
    }

    /// What the item has held must not open more easily than the item, under former names too, and while the history is
    /// off.
    private func protect(_ old: StoredItem, asWellAs new: Item) throws(KeychainError) {
        do throws(KeychainError) {
            // Others may have another application password, and nobody is asked for it.
            try protectVersions(of: old, asWellAs: new, proven: old.item.accessControl.needs.intersection(.user))
        } catch {
            // As long as the protection gets no better, locked versions may stay as they are.
            let isBetter = try old.item.accessControl.strengthened(by: new.accessControl) != old.item.accessControl
            guard error.reason == .locked, !isBetter else { throw error }
        }
    }

    private func protectVersions(
        of old: StoredItem, asWellAs new: Item, proven: Proofs.Needs
    ) throws(KeychainError) {
        guard old.item.mayBeKept else { return }
        for version in try versions.related(to: KeptName(old.item), old.id) {
            let own = version.stored.item.accessControl
            // It has no value, and `undo` does not ask for it.
            let wanted = version.isEmpty ? AccessControl(new.accessControl.accessibility) : new.accessControl
            let better = try own.strengthened(by: wanted)
            guard own.needs.isSubset(of: proven), better != own else { continue }
            _ = try items.update(InternalItem.selection(version.stored.id), authorization) {
                (stored) throws(KeychainError) in
                var item = stored.item
                item.accessControl = better
                return item
            }
        }
    }

    private func isOn() throws(KeychainError) -> Bool {
        do throws(KeychainError) {
            return try settings().isOn
        } catch {
            guard error.reason == .locked else { throw error }
            return true
        }
    }

    /// The settings, after versions of all items were dropped that are too old, which happens once a day.
    private func settings() throws(KeychainError) -> HistorySettings {
        if let known { return known }
        var settings = try HistorySettings.read(items)
        if settings.swept != KeptVersion.day(of: now) {
            do throws(KeychainError) {
                try sweep(&settings)
            } catch {
                // The next change while the vault is unlocked removes them.
                guard error.reason == .locked else { throw error }
            }
        }
        known = settings
        return settings
    }

    private func sweep(_ settings: inout HistorySettings) throws(KeychainError) {
        let today = KeptVersion.day(of: now)
        let past = settings.pass(to: today)
        if let ahead = settings.takeDaysAhead(on: today) { try versions.remove(ofDaysAhead: ahead) }
        if let past {
            for day in past { try versions.remove(ofDay: day) }
        } else {
            try versions.trim(to: settings, at: now)
        }
        try settings.write(items, at: now)
    }

    private func noteThatNothingIsKept() {
        if command == .undo { note("The history is off, so the state before is not kept.") }
    }

    private func note(_ text: String) {
        if !notes.contains(text) { notes.append(text) }
    }

    // MARK: - Forgetting

    private func forget(_ selection: Selection) throws(KeychainError) -> Int {
        var listing = selection
        listing.namesConstrained = true
        let found = try items.select(listing, limit: nil, includingValues: false, authorization)
        let count = try items.delete(selection, authorization)
        for (index, stored) in found.items.enumerated() {
            progress.count(index)
            try versions.removeAll(of: KeptName(stored.item), stored.id)
        }
        return count
    }

    // MARK: - Moving

    /// KeychainKit makes the moved item, and knows a part of the attributes.
    private func carryAttributes(_ selection: Selection) throws(KeychainError) {
        guard let target,
            let old = try items.select(selection, limit: 1, includingValues: false, authorization).items.first?.item
        else { return }
        let missing = old.besidesName.filter { targetAttributes[$0.attribute] != $0.value }
        guard !missing.isEmpty else { return }
        let moved = Selection(itemClass: nil, id: PersistentReference(itemClass: old.itemClass, id: target))
        _ = try items.update(moved, authorization) { (stored) throws(KeychainError) in
            var item = stored.item
            for (attribute, value) in missing { item.attributes[attribute] = value }
            return item
        }
    }

    // MARK: - Expiry

    /// The date was that of the old value.
    private func withoutOldExpiry(_ new: Item, _ old: Item) -> Item {
        guard command.renewsValues, new.value != old.value, let date = old.attributes[.expiry],
            new.attributes[.expiry] == date
        else { return new }
        var item = new
        item.attributes[.expiry] = nil
        note("The expiry date belonged to the old value and was removed. To set another: keychainctl expire")
        return item
    }
}

extension Item {
    private static let compared: [(Attribute, String)] = [
        (.label, "label"), (.comment, "comment"), (.itemDescription, "kind"), (.expiry, "expiry"),
    ]

    /// What every write sets.
    private static let written: [Attribute] = [.digest, .creationDate, .modificationDate]

    /// The attributes that an item of another name can have as well.
    fileprivate var besidesName: [Attributes.Element] {
        let name = itemClass.schema.primaryKey.map(\.attribute)
        return attributes.filter { !name.contains($0.attribute) && !Self.written.contains($0.attribute) }
    }

    /// The parts that differ, in words; `moved` if the name differs.
    fileprivate func differences(to other: Item) -> [String] {
        if PrimaryKey(self) != PrimaryKey(other) { return [KeptVersion.Deed.moved] }
        var (words, own, others) = (value == other.value ? [] : ["value"], attributes, other.attributes)
        for (attribute, word) in Self.compared {
            if own[attribute] != others[attribute] { words.append(word) }
            (own[attribute], others[attribute]) = (nil, nil)
        }
        for attribute in Self.written { (own[attribute], others[attribute]) = (nil, nil) }
        if accessControl != other.accessControl { words.append("protection") }
        return own == others ? words : words + ["attributes"]
    }

    /// Items on a token have no value here, and the keychain's own ones are no items of the user.
    fileprivate var mayBeKept: Bool {
        !accessGroup.utf8.elementsEqual(AccessGroups.internalGroup.utf8) && !isOnToken
    }

    /// That of the item, or the better one that the change gives it.
    fileprivate func protectionOfVersion(
        replacedBy new: Item?, isAbsence: Bool
    ) throws(KeychainError) -> AccessControl {
        if isAbsence { return AccessControl(accessControl.accessibility) }
        guard let new else { return accessControl }
        return try accessControl.strengthened(by: new.accessControl)
    }
}
