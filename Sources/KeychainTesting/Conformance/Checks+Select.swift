// SPDX-License-Identifier: Apache-2.0
// Checks: searching items by conditions, with and without values.

import Foundation
import KeychainEngine

extension StoreConformance {
    static let selecting: [Check] = [
        Check("search_withoutAMatch_findsNothing") { trial in
            try trial.insert(trial.item("alice"))
            for selection: Selection in [.account("bob"), .all(of: .internetPassword)] {
                try trial.expectEqual(try trial.select(selection).count, 0, "number of items found")
            }
        },
        Check("limit_belowTheNumberOfItems_isHeld") { trial in
            for name in ["a", "b", "c"] { try trial.insert(trial.item(name)) }
            for (limit, count) in [(0, 0), (1, 1), (2, 2), (3, 3), (4, 3)] {
                try trial.expectEqual(try trial.select(limit: limit).count, count, "items with a limit of \(limit)")
            }
            try trial.expectEqual(try trial.select(limit: nil).count, 3, "items without a limit")
        },
        Check("values_notAskedFor_areLeftOut") { trial in
            for name in ["a", "b"] { try trial.insert(trial.item(name)) }
            for selection: Selection in [.all, .account("a")] {
                let found = try trial.select(selection, includingValues: false)
                try trial.expect(found.allSatisfy { $0.item.value == nil }, "no values")
            }
        },
        Check("values_askedFor_areThoseOfTheirItems") { trial in
            for name in ["a", "b", "c"] { try trial.insert(trial.item(name, value: Data(name.utf8))) }
            let found = try trial.select()
            try trial.expectEqual(found.count, 3, "number of items found")
            try trial.expect(
                found.allSatisfy { $0.item.value == Data($0.item.account.utf8) }, "each item with its own value")
        },
        Check("reference_ofNoItem_findsNothing") { trial in
            try trial.insert(trial.item())
            let reference = PersistentReference(itemClass: .genericPassword, id: UUID())
            try trial.expectEqual(try trial.select(Selection(itemClass: nil, id: reference)).count, 0, "items found")
        },
        Check("reference_besideAnotherClassOrCondition_findsNothing") { trial in
            let stored = try trial.insert(trial.item("alice"))
            let selections = [
                Selection(itemClass: .internetPassword, id: stored.reference),
                Selection(itemClass: nil, id: stored.reference, conditions: [.account: .string("bob")]),
                Selection(itemClass: nil, id: stored.reference, groups: ["com.example.elsewhere"]),
            ]
            for selection in selections {
                try trial.expectEqual(try trial.select(selection).count, 0, "items found")
            }
        },
    ]

    static let matching: [Check] = [
        Check("conditions_given_allHold") { trial in
            try trial.insert(trial.item("alice", service: "a").with(.label, .string("one")))
            try trial.insert(trial.item("bob", service: "a").with(.label, .string("two")))
            try trial.insert(trial.item("alice", service: "b").with(.label, .string("two")))
            var selection = Selection.account("alice")
            try trial.expectEqual(try trial.select(selection).count, 2, "items with the account")
            selection.conditions[.label] = .string("two")
            try trial.expectEqual(try trial.select(selection).count, 1, "items with the account and the label")
            selection.conditions[.service] = .string("a")
            try trial.expectEqual(try trial.select(selection).count, 0, "items with all three")
        },
        Check("blob_ofEqualBytes_matchesInAnyType") { trial in
            let rows: [(stored: AttributeValue, asked: AttributeValue, matches: Bool)] = [
                (.data(Data("abc".utf8)), .string("abc"), true), (.string("abc"), .data(Data("abc".utf8)), true),
                (.number(0x636261), .data(Data("abc\0".utf8)), true), (.string("abc"), .string("ABC"), false),
                (.string("abc"), .string("abcd"), false), (.string("\u{E9}"), .string("e\u{301}"), false),
            ]
            try trial.checkMatches(.generic, rows)
        },
        Check("number_asNumericText_matchesTheNumber") { trial in
            let rows: [(stored: AttributeValue, asked: AttributeValue, matches: Bool)] = [
                (.number(5), .number(5), true), (.number(5), .string("5"), true), (.number(5), .number(6), false),
                (.number(5), .string("five"), false), (.number(-1), .number(-1), true),
            ]
            try trial.checkMatches(.creator, rows)
        },
        Check("attribute_notIndexed_isACondition") { trial in
            try trial.insert(trial.item("alice").with(.scriptCode, .number(7)))
            try trial.insert(trial.item("bob").with(.isNegative, .number(1)))
            try trial.expectEqual(try trial.accounts(.with(.scriptCode, .number(7))), ["alice"], "accounts found")
            try trial.expectEqual(try trial.accounts(.with(.isNegative, .number(1))), ["bob"], "accounts found")
        },
        Check("creationDate_asReturned_isACondition") { trial in
            let stored = try trial.insert(trial.item())
            let date = stored.item.attributes[.creationDate] ?? .date(0)
            try trial.expectEqual(try trial.select(.with(.creationDate, date)).count, 1, "items of that date")
            try trial.expectEqual(try trial.select(.with(.creationDate, .date(12.5))).count, 0, "items of another date")
        },
        Check("digest_asReturned_isACondition") { trial in
            let stored = try trial.insert(trial.item("alice"))
            try trial.insert(trial.item("bob"))
            let digest = stored.item.attributes[.digest] ?? .data(Data())
            try trial.expectEqual(try trial.accounts(.with(.digest, digest)), ["alice"], "accounts found")
        },
        Check("accessibility_asACondition_findsItsClass") { trial in
            try trial.insert(trial.item("alice", value: .sample, .always))
            try trial.insert(trial.item("bob", value: .sample, .whenUnlocked))
            let selection = Selection.with(.accessible, .string(Accessibility.always.rawValue))
            try trial.expectEqual(try trial.accounts(selection), ["alice"], "accounts found")
        },
        Check("emptyName_asACondition_findsItemsWithoutAName") { trial in
            try trial.insert(trial.item(""))
            try trial.insert(trial.item("bob"))
            try trial.expectEqual(try trial.accounts(.account("")), [""], "accounts found")
        },
        Check("synchronizableCondition_leftOut_findsBothKinds") { trial in
            try trial.insert(trial.item("alice"))
            try trial.insert(trial.item("bob").with(.synchronizable, .number(1)))
            try trial.expectEqual(try trial.accounts(), ["alice", "bob"], "accounts of both kinds")
            for (number, account) in [(Int64(0), "alice"), (1, "bob")] {
                let selection = Selection.with(.synchronizable, .number(number))
                try trial.expectEqual(try trial.accounts(selection), [account], "accounts of one kind")
            }
        },
        Check("host_asked_findsItselfAndWhatLiesBelow") { trial in
            for server in ["example.com", "git.example.com", "notexample.com", "example.com.org", "EXAMPLE.com"] {
                try trial.insert(trial.item("alice", .internetPassword).with(.server, .string(server)))
            }
            var selection = Selection(itemClass: .internetPassword)
            selection.host = "example.com"
            let servers = try trial.select(selection).map { $0.item.attributes[.server] }
            try trial.expect(
                servers.count == 2 && servers.contains(.string("example.com"))
                    && servers.contains(.string("git.example.com")),
                "the host and the one below it", came: "\(servers.count) items")
        },
    ]
}

extension Trial {
    /// Checks that a condition finds an item if the row says so.
    fileprivate func checkMatches(
        _ attribute: Attribute, _ rows: [(stored: AttributeValue, asked: AttributeValue, matches: Bool)]
    ) throws {
        for (number, row) in rows.enumerated() {
            let name = "row \(number)"
            try insert(item(name).with(attribute, row.stored))
            var selection = Selection.account(name)
            selection.conditions[attribute] = row.asked
            try expectEqual(try select(selection).count, row.matches ? 1 : 0, "items found in \(name) of the table")
        }
    }
}
