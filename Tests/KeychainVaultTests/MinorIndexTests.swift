// SPDX-License-Identifier: Apache-2.0
// A search by account alone does not take longer in a large vault.

import Foundation
import KeychainEngine
import Testing

@testable import KeychainVault

struct MinorIndexTests {
    /// What SQLite says that it does for a search with each kind of condition.
    private static func plan(_ condition: String, _ test: TestVault) throws -> String {
        var plan: [String] = []
        let sql = "EXPLAIN QUERY PLAN SELECT id FROM item" + condition
        try Connection(test.databaseFile).forEach(SQL(stringLiteral: sql), [.blob(Data(count: 16))]) { row in
            plan.append(row.text(3) ?? "")
            return true
        }
        return plan.joined(separator: "; ")
    }

    @Test func search_byAccountAlone_scansNothing() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        let condition = try #require(ItemTable.Candidates.conditions.first { $0.contains("minor = ?)") })
        let plan = try Self.plan(condition, test)
        #expect(plan.contains("item_minor"), "\(plan)")
        #expect(!plan.contains("SCAN"), "\(plan)")
    }

    @Test func search_byAccountAlone_findsTheItemsOfAllServices() throws {
        let test = try TestVault()
        for service in ["one", "two"] {
            for account in ["alice", "bob"] { try test.engine.add(.genericPassword(service, account, value: "v")) }
        }
        let selection = Selection(itemClass: .genericPassword, conditions: [.account: .string("bob")])
        let found = try test.vault.select(selection, limit: nil, includingValues: false).items
        #expect(Set(found.map { $0.item.attributes[.service] }) == [.string("one"), .string("two")])
        #expect(found.allSatisfy { $0.item.attributes[.account] == .string("bob") })
    }
}
