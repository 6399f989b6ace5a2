// SPDX-License-Identifier: Apache-2.0
// Which item of several a vault finds first, also where the first one is damaged.

import Foundation
import KeychainEngine
import Testing

@testable import KeychainVault

@Suite("Order of items in a vault")
struct ListOrderTests {
    private static let ofService = Query(.genericPassword, [.service: .string("s")])

    /// Items of one service, added in a random order, each with its account as value.
    private func vault(_ accounts: [String]) throws -> TestVault {
        let test = try TestVault()
        for account in accounts.shuffled() { try test.engine.add(.genericPassword("s", account, value: account)) }
        return test
    }

    private func accounts(_ found: [StoredItem]) -> [String] {
        found.map { if case .string(let text) = $0.item.attributes[.account] { text } else { "" } }
    }

    @Test func items_inSeveralVaults_areListedInOneOrder() throws {
        let names = (0..<20).map { "account \($0)" }
        let inOrder = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        for _ in 1...3 {
            let test = try vault(names)
            for limit in [nil, 1, 5] {
                let found = try test.vault.select(
                    Selection(itemClass: .genericPassword), limit: limit, includingValues: false)
                #expect(accounts(found.items) == Array(inOrder.prefix(limit ?? .max)))
            }
        }
    }

    @Test func items_withinATransaction_areListedInTheSameOrder() throws {
        let test = try vault(["b", "c", "a"])
        let found = try test.vault.transaction(.none) { (items) throws(KeychainError) in
            try items.select(Selection(itemClass: .genericPassword), limit: 2, includingValues: true, .none)
        }
        #expect(accounts(found.items) == ["a", "b"])
        #expect(found.items.map(\.item.value) == [Data("a".utf8), Data("b".utf8)])
    }

    // MARK: - Damage

    @Test(arguments: ["metadata", "value"])
    func firstItem_damaged_makesWayForTheNext(_ column: String) throws {
        let victim = try TamperTests.Victim()
        try victim.set(column, of: "a", to: .blob(Data(count: 152)))
        #expect(try victim.test.engine.text(Self.ofService) == "value of b")
    }

    @Test(arguments: ["metadata", "value"])
    func damagedItem_amongSome_doesNotCountTowardsTheLimit(_ column: String) throws {
        let victim = try TamperTests.Victim()
        try victim.test.engine.add(.genericPassword("s", "c", value: "value of c"))
        try victim.set(column, of: "a", to: .blob(Data(count: 152)))
        let query = Self.ofService.returning(.value, limit: .atMost(2))
        let expected = ["value of b", "value of c"].map { Outcome.Result.value(Data($0.utf8)) }
        #expect(try victim.test.engine.copyMatching(query, accessGroups: .unrestricted) == .many(expected))
    }

    @Test func valueThatIsDamaged_notAskedFor_leavesItsItemFirst() throws {
        let victim = try TamperTests.Victim()
        try victim.set("value", of: "a", to: .blob(Data(count: 152)))
        let found = try victim.test.vault.select(
            Selection(itemClass: .genericPassword), limit: 1, includingValues: false)
        #expect(accounts(found.items) == ["a"])
    }

    @Test(arguments: ["metadata", "value"])
    func allItems_damaged_areCorrupt(_ column: String) throws {
        let victim = try TamperTests.Victim()
        for account in ["a", "b"] { try victim.set(column, of: account, to: .blob(Data(count: 152))) }
        #expect(reason { _ = try victim.test.engine.value(Self.ofService) } == .corrupt)
    }

    /// Of one service and account, in two groups: found by the leading parts of the key.
    @Test(arguments: [nil, "metadata", "value"])
    func itemOfTheFirstGroup_damaged_makesWayForThatOfTheNext(_ column: String?) throws {
        let victim = try TamperTests.Victim()
        var rowIDs: [String: Int64] = [:]
        for group in ["second", "first"] {
            var item = Query.genericPassword("s", "shared", value: group).returning(.persistentReference)
            item.attributes[.accessGroup] = .string(group)
            let added = try victim.test.engine.requests.add(item, accessGroups: .unrestricted)
            rowIDs[group] = try #require(try victim.test.vault.openSession()).keyState.sealer().rowID(of: added.id)
        }
        if let column { try victim.set(column, ofRow: try #require(rowIDs["first"]), to: .blob(Data(count: 152))) }
        let found = try victim.test.engine.text(.genericPassword("s", "shared"))
        #expect(found == (column == nil ? "first" : "second"))
    }
}
