// SPDX-License-Identifier: Apache-2.0
// How several changes are combined for a slow observer.

import Foundation
import KeychainEngine
import Testing

@testable import KeychainKit

@Suite struct PendingChangesTests {
    private static func change(_ word: String, _ account: String = "a") -> KnownChange {
        guard let kind = SecretChange.Kind(rawValue: word) else { preconditionFailure("a word of this file") }
        if kind == .locked || kind == .unlocked { return KnownChange(isLocked: kind == .locked) }
        let item = Item(
            itemClass: .genericPassword, attributes: [.account: .string(account)],
            accessControl: AccessControl(.whenUnlocked), value: nil)
        return KnownChange(kind, StoredItem(id: UUID(), version: 1, item: item))
    }

    private static func taken(_ changes: [KnownChange]) -> [String] {
        var pending = PendingChanges()
        for change in changes { pending.add(change) }
        var words: [String] = []
        while let change = pending.takeFirst() { words.append(change.words) }
        return words
    }

    @Test(arguments: [
        (["added", "updated"], ["added a"]), (["added", "removed"], []), (["added", "removed", "added"], ["added a"]),
        (["updated", "updated"], ["updated a"]), (["updated", "removed"], ["removed a"]),
        (["removed", "added"], ["updated a"]), (["removed", "added", "removed"], ["removed a"]),
        (["updated", "removed", "added"], ["updated a"]), (["locked", "unlocked"], ["unlocked"]),
        (["unlocked", "locked"], ["locked"]), (["locked", "locked"], ["locked"]),
    ])
    func changes_ofOneItem_becomeOne(_ kinds: [String], _ result: [String]) {
        #expect(Self.taken(kinds.map { Self.change($0) }) == result)
    }

    @Test func changes_ofSeveralItems_keepTheirOrder() {
        let changes = [("updated", "a"), ("added", "b"), ("locked", ""), ("updated", "a"), ("removed", "c")]
        #expect(Self.taken(changes.map { Self.change($0, $1) }) == ["updated a", "added b", "locked", "removed c"])
    }

    @Test func items_thatComeAndGo_takeNoRoom() {
        var pending = PendingChanges()
        pending.add(Self.change("added", "b"))
        for _ in 0..<100_000 {
            pending.add(Self.change("added"))
            pending.add(Self.change("removed"))
        }
        #expect(pending.room < 100)
        #expect(pending.takeFirst()?.words == "added b")
        #expect(pending.takeFirst() == nil)
    }
}

extension PendingChanges {
    fileprivate var room: Int {
        Mirror(reflecting: self).children.compactMap { ($0.value as? any Collection)?.count }.reduce(0, +)
    }
}
