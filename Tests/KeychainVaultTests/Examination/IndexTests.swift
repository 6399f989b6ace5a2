// SPDX-License-Identifier: Apache-2.0
// Index entries that are missing or wrong: found by an examination, and rebuilt from the items.

import Foundation
import KeychainEngine
import Testing

@testable import KeychainVault

struct IndexTests {
    /// What is done to a vault of three items with labels, and what is found.
    struct Spoiling: CustomTestStringConvertible {
        let statement: String
        var missing = 0
        var foreign = 0
        var wronglyIndexed = 0

        var testDescription: String { statement }
    }

    static let spoilings = [
        Spoiling(statement: "DELETE FROM lookup WHERE item = 1", missing: 1),
        Spoiling(statement: "DELETE FROM lookup", missing: 3),
        Spoiling(statement: "INSERT INTO lookup VALUES (zeroblob(16), 2)", foreign: 1),
        Spoiling(statement: "INSERT INTO lookup VALUES (zeroblob(16), 99)", foreign: 1),
        Spoiling(statement: "UPDATE OR IGNORE lookup SET item = 2 WHERE item = 1", missing: 1, foreign: 1),
        Spoiling(statement: "UPDATE item SET scope = zeroblob(16) WHERE id = 3", wronglyIndexed: 1),
        // The keys of two items swapped.
        Spoiling(
            statement: """
                CREATE TEMP TABLE k AS SELECT id, minor, scope FROM item;
                UPDATE item SET scope = randomblob(16);
                UPDATE item SET (minor, scope) = (SELECT minor, scope FROM k WHERE k.id = 3 - item.id) WHERE id < 3;
                UPDATE item SET scope = (SELECT scope FROM k WHERE k.id = 3) WHERE id = 3
                """, wronglyIndexed: 2),
    ]

    private func vault() throws -> TestVault {
        let test = try TestVault()
        for account in ["a", "b", "c"] {
            var item = Query.genericPassword("s", account, value: "value of \(account)")
            item.attributes[.label] = .string("label of \(account)")
            try test.engine.add(item)
        }
        return test
    }

    private func spoil(_ test: TestVault, _ statement: String) throws {
        try test.vault.close()
        try PlainDatabase(test.databaseFile).run(statement)
    }

    private func problems(_ test: TestVault) throws -> [String] {
        try test.vault.close()
        return Vault.examine(test.location).filter { $0.severity == .problem }.map(\.check)
    }

    @Test func wholeVault_hasNoIndexFaults() throws {
        let test = try vault()
        #expect(try problems(test) == [])
        let status = try test.vault.status()
        #expect(status.missingIndexCount + status.foreignIndexCount + status.wronglyIndexedCount == 0)
    }

    @Test(arguments: spoilings)
    func index_spoiled_isFoundOutByDoctorAndStatus(_ spoiling: Spoiling) throws {
        let test = try vault()
        try spoil(test, spoiling.statement)
        #expect(try problems(test) == ["index", "head"])
        let status = try test.vault.status()
        #expect(status.missingIndexCount == spoiling.missing)
        #expect(status.foreignIndexCount == spoiling.foreign)
        #expect(status.wronglyIndexedCount == spoiling.wronglyIndexed)
    }

    @Test(arguments: spoilings)
    func index_repaired_findsEveryItemAgain(_ spoiling: Spoiling) throws {
        let test = try vault()
        try spoil(test, spoiling.statement)
        let repair = try test.vault.repairIndex()
        #expect(
            repair
                == IndexRepair(
                    addedCount: spoiling.missing, removedCount: spoiling.foreign,
                    reindexedCount: spoiling.wronglyIndexed,
                    blockedCount: 0, closedCount: 0))
        #expect(try problems(test) == [])
        for account in ["a", "b", "c"] {
            #expect(try test.reopened().text(.genericPassword("s", account)) == "value of \(account)")
            let label = Query(.genericPassword, [.label: .string("label of \(account)")])
            #expect(try test.reopened().text(label) == "value of \(account)")
        }
    }

    @Test func repair_changesNeitherMetadataNorValues() throws {
        let test = try vault()
        try spoil(test, Self.spoilings.map(\.statement)[1] + "; UPDATE item SET scope = zeroblob(16) WHERE id = 3")
        let before = try sealed(test)
        _ = try test.vault.repairIndex()
        #expect(try sealed(test) == before)
    }

    /// All rows, without the digests under which they are indexed.
    private func sealed(_ test: TestVault) throws -> [[Data]] {
        try test.vault.close()
        var rows: [[Data]] = []
        let sql: SQL = "SELECT uuid, metadata, value, id, version, class, generation FROM item ORDER BY id"
        try Connection(test.databaseFile).forEach(sql) { row in
            rows.append((0..<3).map { row.blob($0) } + (3..<7).map { Data((row.text($0) ?? "").utf8) })
            return true
        }
        return rows
    }

    @Test func entries_ofARowThatDoesNotOpen_areLeftAloneByARepair() throws {
        let test = try vault()
        try spoil(test, "UPDATE item SET metadata = zeroblob(284) WHERE id = 1")
        #expect(try test.vault.status().foreignIndexCount == 0)
        let repair = try test.vault.repairIndex()
        #expect(repair.closedCount == 1 && repair.removedCount == 0)
        try test.vault.close()
        let count = try Connection(test.databaseFile).number("SELECT count(*) FROM lookup WHERE item = 1")
        #expect(count == 1)
    }

    @Test func itemUnderAnotherKey_whoseOwnIsTaken_staysAndIsTold() throws {
        let test = try vault()
        // The damaged row stays where the third item belongs.
        try spoil(
            test,
            """
            UPDATE item SET scope = zeroblob(16) WHERE id = 3;
            UPDATE item SET metadata = zeroblob(284),
                (minor, scope) = (SELECT minor, zeroblob(16) FROM item WHERE id = 2) WHERE id = 1
            """)
        try test.vault.close()
        try PlainDatabase(test.databaseFile).run(
            """
            UPDATE item SET scope = x'01' WHERE id = 1;
            CREATE TEMP TABLE k AS SELECT minor, scope FROM item WHERE id = 2;
            UPDATE item SET scope = x'02' WHERE id = 2;
            UPDATE item SET (minor, scope) = (SELECT minor, scope FROM k) WHERE id = 1
            """)
        let repair = try test.vault.repairIndex()
        #expect(repair.blockedCount == 1 && repair.reindexedCount == 1)
        #expect(try problems(test).sorted() == ["head", "index", "items"])
    }

    @Test func rows_thatAreLockedOrOfAnotherDevice_areNoDamage() throws {
        let test = try TestVault.locked()
        defer { do { try test.forget() } catch { Issue.record(error) } }
        let settings = VaultSettings.cheap
        #expect(Vault.examine(test.location, settings).filter { $0.severity == .problem } == [])
        try FileManager.default.removeItem(atPath: test.location.deviceKeyFile)
        let vault = test.another()
        try vault.unlock(.old, keepingKeysIn: .process)
        defer { do { try vault.lock(forgettingFirstUnlock: true) } catch { Issue.record(error) } }
        let findings = Vault.examine(test.location, settings)
        #expect(findings.filter { $0.severity == .problem } == [])
        #expect(findings.contains { $0.check == "items" && $0.message.contains("3 are bound to another device") })
    }

    @Test(arguments: ["value", "metadata"])
    func damagedItem_isAProblemOfItsOwn(_ column: String) throws {
        let test = try vault()
        try spoil(test, "UPDATE item SET \(column) = zeroblob(length(\(column))) WHERE id = 2")
        #expect(try problems(test) == ["items", "head"])
        let findings = Vault.examine(test.location)
        #expect(findings.contains { $0.check == "items" && $0.message.hasPrefix("2 items open.") })
    }

    @Test func constrainedItem_damagedInItsOuterWrap_isFoundOutWithoutAsking() throws {
        let test = try TestVault(.cheap)
        try test.vault.addProtector(.old)
        var item = Query.genericPassword("s", "constrained", value: "value")
        item.accessControl = try AccessControl(.whenUnlocked, flags: .userPresence)
        try test.engine.add(item)
        #expect(try problems(test) == [])
        try spoil(test, "UPDATE item SET value = zeroblob(length(value))")
        #expect(try problems(test) == ["items", "head"])
    }
}
