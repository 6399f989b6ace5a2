// SPDX-License-Identifier: Apache-2.0
// Rows under other numbers than those in their identities, and numbers that come again.

import Foundation
import KeychainEngine
import Testing

@testable import KeychainVault

struct FormatRowNumberTests {
    private static func change(_ test: TestVault, _ sql: SQL) throws {
        try Connection(test.databaseFile).execute(sql)
    }

    /// Three items, of which those of `a` and `b` have changed places.
    private static func vaultWithSwappedRows() throws -> TestVault {
        let test = try TestVault()
        for account in ["a", "b", "c"] { try test.engine.add(.genericPassword("s", account, value: "of " + account)) }
        for (from, to) in [(1, 9), (2, 1), (9, 2)] {
            try change(test, "UPDATE item SET id = \(to) WHERE id = \(from)")
            try change(test, "UPDATE lookup SET item = \(to) WHERE item = \(from)")
        }
        return test
    }

    @Test func item_underAnotherNumber_isNotShown() throws {
        let test = try Self.vaultWithSwappedRows()
        let found = reasonOrText { try test.engine.text(.genericPassword("s", "a")) }
        #expect(found == "!corrupt")
    }

    @Test func item_deletedWhileUnderAnotherNumber_leavesTheOthers() throws {
        let test = try Self.vaultWithSwappedRows()
        try test.engine.delete(.genericPassword("s", "a"))
        let left = try test.vault.select(Selection(itemClass: .genericPassword), limit: nil, includingValues: false)
        #expect(!left.items.contains { $0.item[.account] == .string("a") })
    }

    @Test func item_updatedWhileItsRowIsUnderAnotherNumber_isNotAcknowledgedAndLost() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "a", value: "old"))
        try Self.change(test, "UPDATE item SET id = 7")
        let failure = reason { try test.engine.update(.genericPassword("s", "a"), value: "new") }
        let found = reasonOrText { try test.engine.text(.genericPassword("s", "a")) }
        #expect(failure != nil || found == "new")
    }

    @Test func row_quarantinedUnderANumberThatWasQuarantinedBefore_isKeptToo() throws {
        let test = try TestVault()
        for _ in 0..<2 {
            try test.engine.add(.genericPassword("s", "a", value: "v"))
            try Self.change(test, "UPDATE item SET metadata = zeroblob(284)")
            _ = reason { try test.engine.delete(.genericPassword("s", "a")) }
        }
        let count = try test.vault.status().quarantinedCount
        #expect(count == 2)
    }

    @Test func item_underTheLookupOfAnother_survivesADeletionByIt() throws {
        let test = try TestVault()
        for account in ["a", "b"] {
            var query = Query.genericPassword("s", account, value: "of " + account)
            query.attributes[.label] = .string("label " + account)
            try test.engine.add(query)
        }
        try Self.change(test, "INSERT INTO lookup SELECT digest, 1 FROM lookup WHERE item = 2")
        try test.engine.delete(Query(.genericPassword, [.label: .string("label b")]))
        let found = reasonOrText { try test.engine.text(.genericPassword("s", "a")) }
        #expect(found == "of a")
    }
}
