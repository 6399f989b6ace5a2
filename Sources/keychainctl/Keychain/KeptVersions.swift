// SPDX-License-Identifier: Apache-2.0
// The kept versions in the vault, or within one transaction of it.

import Foundation
import KeychainEngine
import KeychainKit

struct KeptVersions {
    let items: any ItemOperations
    var authorization = Authorization.none

    // MARK: - Reading

    /// The versions of an item, the oldest first. Found by an index.
    func versions(of name: KeptName) throws(KeychainError) -> [KeptVersion] {
        var conditions = Attributes()
        conditions[.service] = .string(name.service)
        return try versions(conditions)
    }

    /// The versions under former names of an item that was moved, the oldest first.
    func versions(movedTo id: UUID) throws(KeychainError) -> [KeptVersion] {
        var conditions = Attributes()
        conditions[.generic] = .data(id.data)
        return try versions(conditions)
    }

    /// All versions, the oldest first. Opens the metadata of every item of the vault.
    func all() throws(KeychainError) -> [KeptVersion] { try versions(Attributes()) }

    private func versions(_ conditions: Attributes) throws(KeychainError) -> [KeptVersion] {
        let found = try items.select(
            InternalItem.selection(conditions), limit: nil, includingValues: false, authorization)
        return found.items.compactMap(KeptVersion.init).inOrder
    }

    /// The version with everything that it has, also its value.
    ///
    /// - Throws: `itemNotFound` if it was dropped meanwhile; the errors of asking the user.
    func complete(_ version: KeptVersion) throws(KeychainError) -> KeptVersion {
        let found = try items.select(
            InternalItem.selection(version.stored.id), limit: nil, includingValues: true, authorization)
        guard let stored = found.items.first, let complete = KeptVersion(stored) else {
            throw found.failure ?? KeychainError.isNotKept
        }
        return complete
    }

    // MARK: - Removing

    func remove(_ version: KeptVersion) throws(KeychainError) {
        _ = try items.delete(InternalItem.selection(version.stored.id), authorization)
    }

    /// Removes a version that is beyond the bounds. If the item was moved then, those of its earlier names are found without it.
    func drop(_ version: KeptVersion) throws(KeychainError) {
        let earlier = try mayLead(version) ? versions(movedTo: version.original) : []
        try remove(version)
        for link in earlier where link.original != version.original {
            if let target = version.leadsTo, link.stored.item.accessControl.needs.isEmpty {
                try redirect(link, to: target)
            } else {
                // Nothing could lead from it to the item, so that it would stay when the item is forgotten.
                try dropAll(upTo: link)
            }
        }
    }

    /// Whether a version leads to another name, or may do so. Of one that requires the user it is not known whether the item was moved
    /// after it while the history was off. If the item is gone, and no later version is left of it, it may have been.
    private func mayLead(_ version: KeptVersion) throws(KeychainError) -> Bool {
        guard !version.isLink, !version.leavesNothing, !version.stored.item.accessControl.needs.isEmpty else {
            return version.isLink
        }
        let later = try versions(of: version.name).contains {
            $0.original == version.original && $0.number > version.number
        }
        if later { return false }
        return try !isThere(version.original, version.name)
    }

    /// Removes a version and those of its name that are older. The numbers decide, since the clock may have been ahead.
    private func dropAll(upTo last: KeptVersion) throws(KeychainError) {
        for version in try versions(of: last.name) where version.number <= last.number { try drop(version) }
    }

    /// The item of earlier names has another identity now. Nobody is asked here, and links that require the user stay as they are.
    func relink(_ id: UUID, to target: UUID) throws(KeychainError) {
        for link in try versions(movedTo: id) where link.stored.item.accessControl.needs.isEmpty {
            try redirect(link, to: target)
        }
    }

    private func redirect(_ link: KeptVersion, to target: UUID) throws(KeychainError) {
        _ = try items.update(InternalItem.selection(link.stored.id), authorization) { (stored) throws(KeychainError) in
            var item = stored.item
            item.attributes[.generic] = .data(target.data)
            return item
        }
    }

    /// Makes what is kept of an item lead to its new name, if the move itself is not kept: else it would be protected no better than
    /// before when the item is, and stay when the item is forgotten.
    ///
    /// - Parameter link: A version that has only the name of the item, by its number. It is added if others cannot be changed.
    func link(_ old: StoredItem, to target: UUID, _ link: (Int) -> Item) throws(KeychainError) {
        // Nobody is asked here for another password than the item's.
        let proven = old.item.accessControl.needs.intersection(.user)
        func isOpen(_ version: KeptVersion) -> Bool { version.stored.item.accessControl.needs.isSubset(of: proven) }
        let last = try versions(of: KeptName(old.item)).last
        var leading: [KeptVersion] = []
        // The item had another identity if it was deleted and brought back. What requires the user may be of one that was moved away.
        let mayBeOther = last.map { $0.isLink || !$0.stored.item.accessControl.needs.isEmpty } ?? false
        if let last, last.original == old.id || !mayBeOther { leading = [last] }
        if leading.first?.original != old.id { leading += try versions(movedTo: old.id) }
        guard leading.allSatisfy(isOpen) else {
            _ = try items.insert(link((last?.number ?? 0) + 1), authorization)
            return
        }
        for version in leading { try redirect(version, to: target) }
    }

    /// Removes all versions of an item, and those of the names that it had before it was moved.
    ///
    /// - Parameter id: The item that there is now, or was until now.
    /// - Returns: How many.
    @discardableResult
    func removeAll(of name: KeptName, _ id: UUID?) throws(KeychainError) -> Int {
        let found = try related(to: name, id)
        for version in found { try remove(version) }
        return found.count
    }

    /// Removes the versions that a day has left behind, which an index finds, and those that would be found by nothing else without them.
    ///
    /// - Returns: How many, besides links.
    /// - Throws: `locked` if it is unknown whether they lead to other names.
    @discardableResult
    func remove(ofDay day: Int) throws(KeychainError) -> Int {
        var conditions = Attributes()
        conditions[.label] = .string(KeptVersion.dayLabel(day))
        // Of one that requires the user it is not known.
        let links = try versions(conditions).filter(\.mayLead)
        for link in links { try dropAll(upTo: link) }
        do throws(KeychainError) {
            return try items.delete(InternalItem.selection(conditions), authorization)
        } catch {
            // A damaged version stays, and the command that made room goes on.
            guard error.reason == .corrupt else { throw error }
            return 0
        }
    }

    /// Removes the versions of days to come, which may be too many days for an index.
    func remove(ofDaysAhead days: ClosedRange<Int>) throws(KeychainError) {
        for version in try all() where days.contains(KeptVersion.day(of: version.date)) { try dropAll(upTo: version) }
    }

    /// Removes all versions. Those that do not open, such as of another device, have no name here, and are found by their days: they are
    /// quarantined.
    ///
    /// - Returns: How many were removed, and how many are in the quarantine now.
    func removeAll() throws(KeychainError) -> (removed: Int, quarantined: Int) {
        let found = try items.select(
            InternalItem.selection(Attributes()), limit: nil, includingValues: false, authorization)
        let versions = found.items.compactMap(KeptVersion.init)
        for version in versions { try remove(version) }
        guard found.damaged + found.ofAnotherDevice > 0 else { return (versions.count, 0) }
        var count = 0
        for day in KeptVersion.firstDay...max(KeptVersion.firstDay, KeptVersion.day(of: Date()) + 3650) {
            count += try remove(ofDay: day)
        }
        return (versions.count, count)
    }

    /// Stores changed settings, and removes all versions beyond them.
    ///
    /// - Returns: How many remain.
    func apply(_ settings: inout HistorySettings, at now: Date) throws(KeychainError) -> Int {
        let today = KeptVersion.day(of: now)
        // The versions of all past days are looked at below.
        _ = settings.pass(to: today)
        if let ahead = settings.takeDaysAhead(on: today) { try remove(ofDaysAhead: ahead) }
        // Settings that were damaged do not tell that the clock was ahead.
        settings.noteVersion(of: try all().map { KeptVersion.day(of: $0.date) }.max() ?? today, on: today)
        try settings.write(items, at: now)
        return try trim(to: settings, at: now)
    }

    /// Removes all versions beyond the bounds.
    ///
    /// - Returns: How many remain.
    @discardableResult
    func trim(to settings: HistorySettings, at now: Date) throws(KeychainError) -> Int {
        for name in Set(try all().map(\.name)) {
            // They are read again, since what was dropped before may have changed where they lead.
            for version in settings.excess(try versions(of: name).reversed(), at: now) { try drop(version) }
        }
        return try all().count
    }
}

extension [KeptVersion] {
    /// The oldest first. Of one name the numbers decide, since the clock may have been put back.
    var inOrder: [KeptVersion] {
        var latest: [KeptName: Date] = [:]
        let dated = sorted { $0.number < $1.number }.map { version in
            let date = Swift.max(version.date, latest[version.name] ?? version.date)
            latest[version.name] = date
            return (date: date, version: version)
        }
        return dated.sorted { ($0.date, $0.version.number) < ($1.date, $1.version.number) }.map(\.version)
    }
}

extension KeychainError {
    static let isNotKept = KeychainError(
        .itemNotFound, "No such version is kept. To see which: keychainctl history")
}
