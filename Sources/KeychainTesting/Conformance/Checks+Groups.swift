// SPDX-License-Identifier: Apache-2.0
// Checks: access groups.

import KeychainEngine

extension StoreConformance {
    static let groups: [Check] = [
        Check("group_searched_findsItsItemsOnly") { trial in
            for group in [0, 1] { try trial.insert(trial.item("alice", group: group)) }
            for name in trial.subject.groups {
                let found = try trial.select(.inGroups([name])).map(\.item.accessGroup)
                try trial.expectEqual(found, [name], "groups of the items found")
            }
        },
        Check("severalGroups_searched_areAllSearched") { trial in
            let groups = trial.subject.groups
            for group in [0, 1] { try trial.insert(trial.item("alice", group: group)) }
            for searched: [String]? in [nil, groups, groups.reversed()] {
                try trial.expectEqual(try trial.select(.inGroups(searched)).count, 2, "items found")
                try trial.expectEqual(
                    try trial.select(.inGroups(searched), limit: 1).count, 1, "items with a limit of 1")
            }
            try trial.expectEqual(try trial.select(.inGroups([])).count, 0, "items found in no group")
        },
        Check("group_updated_leavesTheOthers") { trial in
            for group in [0, 1] { try trial.insert(trial.item("alice", group: group)) }
            try trial.setValue(.other, .inGroups([trial.subject.groups[0]]))
            let untouched = try trial.only(.inGroups([trial.subject.groups[1]]))
            try trial.expect(untouched.item.value == .sample, "the value before in the other group")
        },
        Check("group_emptied_leavesTheOthers") { trial in
            let groups = trial.subject.groups
            for group in [0, 1] { try trial.insert(trial.item("alice", group: group)) }
            try trial.expectEqual(try trial.store.delete(.inGroups([groups[0]])), 1, "count")
            try trial.expectEqual(try trial.select().map(\.item.accessGroup), [groups[1]], "groups left")
            try trial.insert(trial.item("alice", group: 0))
            try trial.expectEqual(try trial.store.delete(.inGroups(groups)), 2, "count of both")
        },
        Check("item_movedToAnotherGroup_isFoundThere") { trial in
            let groups = trial.subject.groups
            let inserted = try trial.insert(trial.item("alice", group: 0))
            try trial.change { $0.attributes[.accessGroup] = .string(groups[1]) }
            try trial.expectEqual(try trial.select(.inGroups([groups[0]])).count, 0, "items in the old group")
            try trial.expect(
                try trial.only(.inGroups([groups[1]])).id == inserted.id, "the same identity", came: "another")
        },
    ]
}

extension Selection {
    fileprivate static func inGroups(_ groups: [String]?) -> Selection {
        Selection(itemClass: .genericPassword, groups: groups)
    }
}
