// SPDX-License-Identifier: Apache-2.0
// Which versions belong to an item, and which to another one that has had the same name.

import Foundation
import KeychainEngine

extension KeptVersions {
    /// The versions of an item, and those of the names that it had before it was moved, each once.
    ///
    /// - Parameter id: The item that there is now, or was until now.
    func related(to name: KeptName, _ id: UUID?) throws(KeychainError) -> [KeptVersion] {
        var known = Set([id].compactMap { $0 })
        var found = try withoutEarlierItems(versions(of: name), id, known)
        known.formUnion(found.map(\.original))
        var next = Array(known)
        while let former = next.popLast() {
            for last in try versions(movedTo: former) {
                if known.insert(last.original).inserted { next.append(last.original) }
                // A later item of the same name keeps its versions.
                let earlier = try versions(of: last.name).filter { $0.number <= last.number }
                for version in try withoutEarlierItems(earlier, id, known) {
                    found.append(version)
                    if known.insert(version.original).inserted { next.append(version.original) }
                }
            }
        }
        var seen: Set<UUID> = []
        return found.filter { seen.insert($0.stored.id).inserted }
    }

    /// The versions of a name without those of an item that was moved away from it, and is still there: it is another one.
    ///
    /// - Parameter own: Identities of the item.
    private func withoutEarlierItems(
        _ found: [KeptVersion], _ id: UUID?, _ own: Set<UUID>
    ) throws(KeychainError) -> [KeptVersion] {
        guard let id else { return found }
        var toOthers: Set<UUID>?
        for (index, version) in found.enumerated().reversed() where version.mayLead && !own.contains(version.original) {
            if let target = version.leadsTo, own.contains(target) { continue }
            let rest = Array(found[(index + 1)...])
            // This alone needs no look at other items.
            if let target = version.leadsTo, try isThere(target, version.name) { return rest }
            if toOthers == nil { toOthers = try leading(toOthersThan: id, like: version.name) }
            if toOthers?.contains(version.stored.id) == true { return rest }
        }
        return found
    }

    /// The versions that lead from former names to all items but one, over any number of moves. A version that requires the user does not
    /// show without a proof where it leads, but the index finds it by that. So this begins at the items.
    private func leading(toOthersThan id: UUID, like name: KeptName) throws(KeychainError) -> Set<UUID> {
        var selection = Selection(itemClass: name.item?.itemClass ?? .genericPassword)
        selection.namesConstrained = true
        let items = try items.select(selection, limit: nil, includingValues: false, authorization).items
        var next: [UUID] = []
        for other in items where other.id != id { next += try [other.id] + addedAgain(KeptName(other.item)) }
        var found: Set<UUID> = []
        while let target = next.popLast() {
            for link in try versions(movedTo: target) where found.insert(link.stored.id).inserted {
                next += try [link.original] + addedAgain(link.name, before: link.number)
            }
        }
        return found
    }

    /// The identities that an item had under a name before it was deleted and added again.
    private func addedAgain(_ name: KeptName, before number: Int = .max) throws(KeychainError) -> [UUID] {
        let earlier = try versions(of: name).filter { $0.number < number }
        return earlier.reversed().prefix { !$0.mayLead }.map(\.original)
    }

    func isThere(_ id: UUID, _ formerName: KeptName) throws(KeychainError) -> Bool {
        let itemClass = formerName.item?.itemClass ?? .genericPassword
        var selection = Selection(itemClass: nil, id: PersistentReference(itemClass: itemClass, id: id))
        selection.namesConstrained = true
        return try !items.select(selection, limit: 1, includingValues: false, authorization).items.isEmpty
    }
}
