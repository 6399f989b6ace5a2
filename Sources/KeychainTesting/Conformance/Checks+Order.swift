// SPDX-License-Identifier: Apache-2.0
// Checks: the order in which items are listed.

import KeychainEngine

extension StoreConformance {
    static let ordering: [Check] = [
        Check("items_insertedInAnyOrder_areListedByTheirPrimaryKey") { trial in
            try trial.checkOrder(trial.passwordsInOrder, .all)
        },
        Check("internetPasswords_insertedInAnyOrder_areListedByTheirPrimaryKey") { trial in
            try trial.checkOrder(trial.internetPasswordsInOrder, .all(of: .internetPassword))
        },
    ]
}

extension Trial {
    /// Inserts the items in a random order and lists them again, with every limit.
    fileprivate func checkOrder(_ items: [Item], _ selection: Selection) throws {
        // Names that differ only in their normalization are equal strings, so the labels distinguish the items.
        let numbered = items.enumerated().map { $1.with(.label, .string("\($0)")) }
        for item in numbered.shuffled() { try insert(item) }
        let labels = numbered.map(\.label)
        for includingValues in [true, false] {
            for limit in [nil] + (1...labels.count).map({ Optional($0) }) {
                let found = try select(selection, limit: limit, includingValues: includingValues)
                let expected = Array(labels.prefix(limit ?? .max))
                try expectEqual(found.map(\.item.label), expected, "items in order")
            }
        }
    }

    /// By access group, synchronizable, account and service.
    fileprivate var passwordsInOrder: [Item] {
        let groups = [0, 1].sorted { subject.groups[$0].utf8.lexicographicallyPrecedes(subject.groups[$1].utf8) }
        var items: [Item] = []
        for group in groups {
            items += ["", "B", "a", "ab", "e\u{301}", "z", "\u{E9}"].map { item($0, group: group) }
            items.append(item("\u{E9}", service: "example.org", group: group))
            items.append(item("a", group: group).with(.synchronizable, .number(1)))
        }
        return items
    }

    /// By account, server and port.
    fileprivate var internetPasswordsInOrder: [Item] {
        let places: [(account: String, server: String, port: Int64)] = [
            ("a", "b", 80), ("a", "b", 443), ("a", "b", 8443), ("a", "c", 22), ("b", "a", 1),
        ]
        return places.map { place in
            item("", .internetPassword).with(.account, .string(place.account)).with(.server, .string(place.server))
                .with(.port, .number(place.port))
        }
    }
}

extension Item {
    fileprivate var label: String {
        if case .string(let text) = attributes[.label] { text } else { "" }
    }
}
