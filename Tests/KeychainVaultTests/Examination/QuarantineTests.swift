// SPDX-License-Identifier: Apache-2.0
// What is in the quarantine: told, put back when it opens again, and erased.

import Foundation
import KeychainEngine
import Testing

@testable import KeychainVault

struct QuarantineTests {
    /// A vault whose item "a" was spoiled in a column and quarantined.
    private func vault(spoiling column: String = "scope") throws -> (test: TestVault, original: Data) {
        let test = try TestVault()
        var item = Query.genericPassword("s", "a", value: "value of a")
        item.attributes[.label] = .string("label of a")
        try test.engine.add(item)
        try test.vault.close()
        let queue = try Connection(test.databaseFile)
        let original = try queue.blob("SELECT \(column) FROM item") ?? Data()
        try queue.execute("UPDATE item SET \(column) = zeroblob(length(\(column)))")
        try queue.close()
        try test.vault.accept()
        try test.engine.add(.genericPassword("s", "b", value: "value of b"))
        if column != "metadata" {
            // As a write or a rotation does that finds it damaged; deleting takes only what does not open at all.
            try test.vault.close()
            try PlainDatabase(test.databaseFile).run(
                """
                INSERT INTO quarantine SELECT *, unixepoch() - 978307200.5 FROM item WHERE id = 1;
                DELETE FROM item WHERE id = 1; DELETE FROM lookup WHERE item = 1
                """)
            try test.vault.accept()
        } else {
            try test.engine.delete(.genericPassword("s", "a"))
        }
        return (test, original)
    }

    private func heal(_ test: TestVault, _ column: String, _ bytes: Data) throws {
        try test.vault.close()
        let queue = try Connection(test.databaseFile)
        try queue.execute("UPDATE quarantine SET \(column) = ?", [.blob(bytes)])
        try queue.close()
    }

    @Test(arguments: ["metadata", "value"])
    func item_thatIsDamaged_isToldAndNotPutBack(_ column: String) throws {
        let (test, _) = try vault(spoiling: column)
        let found = try #require(try test.vault.quarantinedItems().first)
        #expect(found.state == .damaged && found.item == nil && found.size > 0 && found.generation == 1)
        #expect(abs(found.quarantinedAt.timeIntervalSinceNow) < 3600)
        #expect(try test.vault.restoreQuarantined().map(\.state) == [.damaged])
        #expect(try test.vault.status().quarantinedCount == 1)
    }

    @Test(arguments: ["metadata", "value", "scope"])
    func item_thatOpensAgain_isPutBackWithItsIndex(_ column: String) throws {
        let (test, original) = try vault(spoiling: column)
        if column != "scope" { try heal(test, column, original) }
        let found = try #require(try test.vault.quarantinedItems().first)
        #expect(found.state == .opens && found.item?.item.attributes[.account] == .string("a"))
        #expect(found.item?.item.value == nil)
        #expect(try test.vault.restoreQuarantined([found.id]).map(\.state) == [.opens])
        #expect(try test.reopened().text(.genericPassword("s", "a")) == "value of a")
        let label = Query(.genericPassword, [.label: .string("label of a")])
        #expect(try test.reopened().text(label) == "value of a")
        #expect(try test.vault.quarantinedItems().isEmpty)
        #expect(Vault.examine(test.location).filter { $0.severity == .problem } == [])
    }

    @Test func item_whosePlaceIsTaken_staysInTheQuarantine() throws {
        let (test, original) = try vault(spoiling: "value")
        try test.engine.add(.genericPassword("s", "a", value: "newer"))
        try heal(test, "value", original)
        #expect(try test.vault.restoreQuarantined().map(\.state) == [.placeTaken])
        #expect(try test.reopened().text(.genericPassword("s", "a")) == "newer")
        #expect(try test.vault.quarantinedItems().map(\.state) == [.placeTaken])
    }

    @Test func itemsOfOneName_areNotBothPutBack() throws {
        let (test, original) = try vault(spoiling: "value")
        try heal(test, "value", original)
        let first = try #require(try test.vault.quarantinedItems().first).id
        try test.engine.add(.genericPassword("s", "a", value: "second"))
        try test.vault.close()
        try PlainDatabase(test.databaseFile).run(
            """
            INSERT INTO quarantine SELECT *, 1e9 FROM item WHERE id <> 2;
            DELETE FROM item WHERE id <> 2
            """)
        try test.vault.accept()
        let found = try test.vault.restoreQuarantined()
        #expect(found.map(\.state) == [.opens, .placeTaken])
        #expect(found.last?.id == first)
        #expect(try test.reopened().text(.genericPassword("s", "a")) == "second")
    }

    @Test func item_ofAnotherDevice_isToldAsThatAndPutBackWithTheRightKey() throws {
        let test = try TestVault.locked()
        defer { do { try test.forget() } catch { Issue.record(error) } }
        let kept = test.root + "/kept.key"
        try PlainDatabase(test.databaseFile).run(
            """
            INSERT INTO quarantine SELECT *, 1 FROM item WHERE class IN (9);
            DELETE FROM item WHERE id IN (SELECT id FROM quarantine)
            """)
        let vault = test.another()
        try vault.accept()
        #expect(try vault.quarantinedItems().map(\.state) == [.locked])
        try FileManager.default.moveItem(atPath: test.location.deviceKeyFile, toPath: kept)
        let without = test.another()
        try without.unlock(.old, keepingKeysIn: .process)
        #expect(try without.quarantinedItems().map(\.state) == [.ofAnotherDevice])
        #expect(try without.restoreQuarantined().map(\.state) == [.ofAnotherDevice])
        try without.lock(forgettingFirstUnlock: true)
        try FileManager.default.moveItem(atPath: kept, toPath: test.location.deviceKeyFile)
        let with = test.another()
        try with.unlock(.old, keepingKeysIn: .process)
        defer { do { try with.lock(forgettingFirstUnlock: true) } catch { Issue.record(error) } }
        #expect(try with.restoreQuarantined().map(\.state) == [.opens])
    }

    @Test func item_thatIsNotThere_isAnErrorAndChangesNothing() throws {
        let (test, original) = try vault(spoiling: "value")
        try heal(test, "value", original)
        let id = try #require(try test.vault.quarantinedItems().first).id
        #expect(reason { _ = try test.vault.restoreQuarantined([id, 4711]) } == .itemNotFound)
        #expect(reason { _ = try test.vault.purgeQuarantined([id, 4711]) } == .itemNotFound)
        #expect(try test.vault.quarantinedItems().count == 1)
        _ = try test.vault.purgeQuarantined()
        #expect(reason { _ = try test.vault.purgeQuarantined() } == .itemNotFound)
        #expect(reason { _ = try test.vault.restoreQuarantined() } == .itemNotFound)
    }

    @Test func itemPurged_isInNoFileAnyMore() throws {
        let (test, original) = try vault(spoiling: "value")
        try heal(test, "value", original)
        // Long enough to be found by nothing but itself.
        let needle = original.prefix(64)
        try test.vault.close()
        #expect(try test.files().values.contains { $0.range(of: needle) != nil })
        #expect(try test.vault.purgeQuarantined() == 1)
        #expect(try !test.files().values.contains { $0.range(of: needle) != nil })
        #expect(try test.reopened().text(.genericPassword("s", "b")) == "value of b")
    }

    @Test(arguments: ["9e999", "-1e300", "1e300"])
    func date_thatIsNone_doesNotTrap(_ date: String) throws {
        let (test, _) = try vault(spoiling: "value")
        try test.vault.close()
        try PlainDatabase(test.databaseFile).run("UPDATE quarantine SET set_aside = \(date)")
        #expect(try test.vault.quarantinedItems().map(\.quarantinedAt) == [.distantPast])
    }
}
