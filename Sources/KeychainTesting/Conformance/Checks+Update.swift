// SPDX-License-Identifier: Apache-2.0
// Checks: changing items, all selected ones or none.

import Foundation
import KeychainEngine

extension StoreConformance {
    static let updating: [Check] = [
        Check("item_updated_keepsItsIdentity") { trial in
            let inserted = try trial.insert(trial.item())
            try trial.setValue(.other)
            let found = try trial.only()
            try trial.expect(found.id == inserted.id, "the same identity", came: "another")
            try trial.expectEqual(try trial.select(.reference(inserted)).count, 1, "items found by its reference")
        },
        Check("item_updated_hasAnotherVersionAndDigest") { trial in
            let before = try trial.insert(trial.item())
            try trial.setValue(.other)
            let after = try trial.only()
            try trial.expect(after.version != before.version, "another version", came: "the same")
            try trial.expect(
                after.item.attributes[.digest] != before.item.attributes[.digest], "another digest", came: "the same")
        },
        Check("update_done_returnsTheItemsAsTheyWere") { trial in
            let inserted = try trial.insert(trial.item())
            let returned = try trial.setValue(.other).items
            try trial.expectEqual(returned.count, 1, "number of items returned")
            try trial.expect(returned[0].version == inserted.version, "the version before")
            try trial.expect(returned[0].item.value == .sample, "the value before")
        },
        Check("update_ofTheValue_leavesTheAttributes") { trial in
            let inserted = try trial.insert(trial.item().with(.label, .string("a label")))
            try trial.setValue(.other)
            let found = try trial.only().item
            try trial.expect(found.value == .other, "the new value")
            try trial.expect(found.content == inserted.item.content, "the same attributes")
        },
        Check("update_ofAnAttribute_leavesTheValue") { trial in
            try trial.insert(trial.item())
            try trial.change { $0.attributes[.label] = .string("new") }
            let found = try trial.only(.with(.label, .string("new"))).item
            try trial.expect(found.value == .sample, "the same value")
        },
        Check("update_ofAnIndexedAttribute_movesTheItem") { trial in
            try trial.insert(trial.item().with(.label, .string("old")))
            try trial.change { $0.attributes[.label] = .string("new") }
            try trial.expectEqual(try trial.select(.with(.label, .string("old"))).count, 0, "items by the old label")
            try trial.expectEqual(try trial.select(.with(.label, .string("new"))).count, 1, "items by the new label")
        },
        Check("attribute_takenAwayByAnUpdate_isGoneOrTheUpdateUnsupported") { trial in
            try trial.insert(trial.item().with(.label, .string("old")))
            try trial.unlessUnsupported { () throws(KeychainError) in
                try trial.change { $0.attributes[.label] = nil }
            } then: { isDone in
                let label = try trial.only().item.attributes[.label]
                try trial.expect(label == (isDone ? nil : .string("old")), "all of the change or none")
            }
        },
        Check("update_ofTheAccessibility_movesTheItemToThatClass") { trial in
            try trial.insert(trial.item())
            try trial.change { $0.accessControl = AccessControl(.always) }
            let found = try trial.only().item
            try trial.expect(found.accessControl == AccessControl(.always), "the new accessibility")
            try trial.expect(found.value == .sample, "the same value")
        },
        Check("update_ofThePrimaryKey_renamesTheItem") { trial in
            let inserted = try trial.insert(trial.item("alice"))
            try trial.change { $0.attributes[.account] = .string("bob") }
            try trial.expectEqual(try trial.accounts(), ["bob"], "accounts")
            try trial.expect(try trial.only(.account("bob")).id == inserted.id, "the same identity", came: "another")
            try trial.insert(trial.item("alice"))
        },
        Check("update_toATakenPrimaryKey_isADuplicateAndChangesNothing") { trial in
            for name in ["alice", "bob"] { try trial.insert(trial.item(name)) }
            try trial.expect(.duplicateItem, of: "an update to a taken name") { () throws(KeychainError) in
                try trial.change(.account("alice")) {
                    $0.attributes[.account] = .string("bob")
                    $0.value = .other
                }
            }
            try trial.expectEqual(try trial.accounts(), ["alice", "bob"], "accounts")
            try trial.expect(try trial.select().allSatisfy { $0.item.value == .sample }, "the values before")
        },
        Check("update_withoutAMatch_changesAndReturnsNothing") { trial in
            try trial.insert(trial.item("alice"))
            try trial.expectEqual(try trial.setValue(.other, .account("bob")).items.count, 0, "items returned")
            try trial.expect(try trial.only().item.value == .sample, "the value before")
        },
        Check("update_ofSeveralItemsAlike_changesAll") { trial in
            for name in ["a", "b", "c"] { try trial.insert(trial.item(name)) }
            try trial.expectEqual(try trial.setValue(.other).items.count, 3, "items returned")
            try trial.expect(try trial.select().allSatisfy { $0.item.value == .other }, "the new value in all items")
        },
        Check("update_ofSomeItems_leavesTheOthers") { trial in
            for name in ["alice", "bob"] { try trial.insert(trial.item(name)) }
            try trial.setValue(.other, .account("alice"))
            try trial.expect(try trial.only(.account("alice")).item.value == .other, "the new value")
            try trial.expect(try trial.only(.account("bob")).item.value == .sample, "the value before")
        },
        Check("update_ofSeveralItemsEachInItsWay_isWholeOrUnsupported") { trial in
            for name in ["a", "b"] { try trial.insert(trial.item(name)) }
            try trial.unlessUnsupported { () throws(KeychainError) in
                try trial.change { $0.value = Data($0.account.utf8) }
            } then: { isDone in
                for stored in try trial.select() {
                    let expected = isDone ? Data(stored.item.account.utf8) : .sample
                    try trial.expect(stored.item.value == expected, "all of the change or none")
                }
            }
        },
        Check("update_thatFailsForOneItem_changesNone") { trial in
            for name in ["a", "b", "c"] { try trial.insert(trial.item(name)) }
            let before = try trial.select().map(\.version).sorted()
            try trial.expect(.duplicateItem, of: "an update of two items to one name") { () throws(KeychainError) in
                try trial.change { $0.attributes[.account] = .string("same") }
            }
            try trial.expectEqual(try trial.accounts(), ["a", "b", "c"], "accounts")
            try trial.expectEqual(try trial.select().map(\.version).sorted(), before, "versions")
        },
        Check("change_thatThrows_changesNothingAndIsThrown") { trial in
            for name in ["a", "b"] { try trial.insert(trial.item(name)) }
            let refusal = KeychainError(.typeMismatch, "Thrown by the check.")
            var seen = 0
            try trial.expect(thrown: refusal) { () throws(KeychainError) in
                try trial.store.update(.all, .none) { (stored) throws(KeychainError) in
                    seen += 1
                    guard seen < 2 else { throw refusal }
                    return stored.item.changed { $0.value = .other }
                }
            }
            try trial.expect(try trial.select().allSatisfy { $0.item.value == .sample }, "the values before")
        },
        Check("change_asked_isGivenTheValue") { trial in
            try trial.insert(trial.item(value: Data([1])))
            try trial.change { $0.value?.append(2) }
            try trial.expect(try trial.only().item.value == Data([1, 2]), "the old value and what was added")
        },
        Check("update_ofAVersionThatIsPast_changesNothing") { trial in
            let inserted = try trial.insert(trial.item())
            var selection = Selection.account("alice")
            selection.conditions[.digest] = inserted.item.attributes[.digest]
            try trial.setValue(.other, selection)
            try trial.expectEqual(try trial.setValue(.sample, selection).items.count, 0, "items of the version before")
            try trial.expect(try trial.only().item.value == .other, "the value of the first update")
        },
        Check("reference_inAnUpdate_changesThatItemOnly") { trial in
            let alice = try trial.insert(trial.item("alice"))
            try trial.insert(trial.item("bob"))
            try trial.setValue(.other, .reference(alice))
            try trial.expect(try trial.only(.account("alice")).item.value == .other, "the new value")
            try trial.expect(try trial.only(.account("bob")).item.value == .sample, "the value before")
        },
    ]

    static let deleting: [Check] = [
        Check("delete_ofAnItem_removesItAndCountsOne") { trial in
            for name in ["alice", "bob"] { try trial.insert(trial.item(name)) }
            try trial.expectEqual(try trial.store.delete(.account("alice")), 1, "count")
            try trial.expectEqual(try trial.accounts(), ["bob"], "accounts left")
        },
        Check("delete_ofSeveralItems_countsThem") { trial in
            for name in ["a", "b", "c"] { try trial.insert(trial.item(name)) }
            try trial.insert(trial.item("alice", .internetPassword))
            try trial.expectEqual(try trial.store.delete(.all), 3, "count")
            try trial.expectEqual(try trial.select().count, 0, "items left")
            try trial.expectEqual(try trial.select(.all(of: .internetPassword)).count, 1, "items of another class")
        },
        Check("delete_withoutAMatch_countsNone") { trial in
            try trial.insert(trial.item("alice"))
            try trial.expectEqual(try trial.store.delete(.account("bob")), 0, "count")
            try trial.expectEqual(try trial.store.delete(.all(of: .key)), 0, "count")
            try trial.expectEqual(try trial.accounts(), ["alice"], "accounts left")
        },
        Check("reference_inADeletion_removesThatItemOnly") { trial in
            let alice = try trial.insert(trial.item("alice"))
            try trial.insert(trial.item("bob"))
            try trial.expectEqual(try trial.store.delete(.reference(alice)), 1, "count")
            try trial.expectEqual(try trial.accounts(), ["bob"], "accounts left")
            try trial.expectEqual(try trial.store.delete(.reference(alice)), 0, "count of a second deletion")
        },
        Check("conditions_inADeletion_allHold") { trial in
            try trial.insert(trial.item("alice").with(.label, .string("one")))
            try trial.insert(trial.item("bob").with(.label, .string("two")))
            var selection = Selection.account("alice")
            selection.conditions[.label] = .string("two")
            try trial.expectEqual(try trial.store.delete(selection), 0, "count")
            try trial.expectEqual(try trial.accounts(), ["alice", "bob"], "accounts left")
        },
    ]
}
