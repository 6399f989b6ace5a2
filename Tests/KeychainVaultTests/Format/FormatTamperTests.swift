// SPDX-License-Identifier: Apache-2.0
// What does not hold to the format, the reader written from Docs/FORMAT.md reports or refuses.

import Foundation
import KeychainEngine
import Testing

@testable import KeychainVault

@Suite(.enabled(if: FormatReader.isAvailable, FormatReader.requirement))
struct FormatTamperTests {
    /// A vault with three items, changed behind its back by one statement.
    private static func reading(after sql: SQL, arguments: [SQLValue] = []) throws -> FormatReader.Reading {
        let test = try vaultWithThreeItems()
        try change(test, sql, arguments)
        return try FormatReader.read(test.location)
    }

    private static func vaultWithThreeItems() throws -> TestVault {
        let test = try TestVault()
        for sample in FormatSample.all.prefix(3) { _ = try test.vault.insert(sample.item) }
        return test
    }

    private static func change(_ test: TestVault, _ sql: SQL, _ arguments: [SQLValue] = []) throws {
        try Connection(test.databaseFile).execute(sql, arguments)
    }

    /// SQL for the bytes in a column with another last one.
    private static func changed(_ column: String) -> String {
        let last = "CASE substr(\(column), -1) WHEN x'00' THEN x'01' ELSE x'00' END"
        return "CAST(substr(\(column), 1, length(\(column)) - 1) || \(last) AS BLOB)"
    }

    // MARK: - Rows

    @Test(arguments: ["metadata", "value", "uuid", "major", "minor", "scope"])
    func bytes_changedInARow_areReported(_ column: String) throws {
        let reading = try Self.reading(after: "UPDATE item SET \(column) = \(Self.changed(column)) WHERE id = 2")
        #expect(reading.damagedRows == [.number(2)])
        #expect(reading.items.map { $0["row"] } == [.number(1), .number(3)])
        #expect(reading.status == 1)
    }

    @Test(arguments: ["version", "class", "generation"])
    func number_changedInARow_isReported(_ column: String) throws {
        let reading = try Self.reading(after: "UPDATE item SET \(column) = \(column) + 1 WHERE id = 2")
        #expect(reading.damagedRows == [.number(2)])
    }

    @Test(arguments: ["metadata", "value"])
    func blob_copiedFromAnotherRow_isReported(_ column: String) throws {
        let sql: SQL = "UPDATE item SET \(column) = (SELECT \(column) FROM item WHERE id = 1) WHERE id = 2"
        #expect(try Self.reading(after: sql).damagedRows == [.number(2)])
    }

    @Test func rows_withTheirNumbersSwapped_areReported() throws {
        let test = try Self.vaultWithThreeItems()
        for (from, to) in [(1, 9), (2, 1), (9, 2)] as [(Int64, Int64)] {
            try Self.change(test, "UPDATE item SET id = ? WHERE id = ?", [.number(to), .number(from)])
        }
        #expect(try FormatReader.read(test.location).damagedRows == [.number(1), .number(2)])
    }

    @Test func value_ofAnEarlierVersion_isReported() throws {
        let test = try TestVault()
        let stored = try test.vault.insert(FormatSample.all[0].item)
        try Self.change(test, "CREATE TABLE earlier AS SELECT value FROM item")
        _ = try test.vault.update(Selection(itemClass: nil, id: stored.reference)) { $0.item }
        try Self.change(test, "UPDATE item SET value = (SELECT value FROM earlier)")
        try Self.change(test, "DROP TABLE earlier")
        #expect(try FormatReader.read(test.location).damagedRows == [.number(1)])
    }

    @Test func lookup_thatIsMissing_isReported() throws {
        #expect(try Self.reading(after: "DELETE FROM lookup WHERE item = 3").damagedRows == [.number(3)])
    }

    @Test func lookup_ofAnotherItem_isReported() throws {
        let sql: SQL = "INSERT INTO lookup SELECT digest, 1 FROM lookup WHERE item = 3"
        #expect(try Self.reading(after: sql).damagedRows == [.number(1)])
    }

    @Test func lookup_ofNoItem_isReported() throws {
        let sql: SQL = "INSERT INTO lookup SELECT digest, 77 FROM lookup WHERE item = 3"
        #expect(try Self.reading(after: sql).damagedRows == [.number(77)])
    }

    @Test func row_quarantined_isCountedAndNotRead() throws {
        let test = try Self.vaultWithThreeItems()
        try Self.change(test, "UPDATE item SET value = zeroblob(200) WHERE id = 2")
        _ = try test.vault.insert(FormatSample.all[1].item)
        let reading = try FormatReader.read(test.location)
        #expect(reading.found["quarantined"] == .number(1))
        #expect(reading.items.map { $0["row"] } == [.number(1), .number(3), .number(4)])
    }

    // MARK: - Keybag

    @Test(arguments: ["keybag", "keybag_copy"])
    func keybagCopy_changed_isReportedAndTheOtherServes(_ table: String) throws {
        let reading = try Self.reading(after: "UPDATE \(table) SET bytes = \(Self.changed("bytes"))")
        #expect(reading.keybag.filter { $0 == "damaged" }.count == 1)
        #expect(reading.items.count == 3)
        #expect(reading.status == 1)
    }

    @Test(arguments: ["keybag", "keybag_copy"])
    func keybagCopy_missing_isReportedAndTheOtherServes(_ table: String) throws {
        let reading = try Self.reading(after: "DELETE FROM \(table)")
        #expect(reading.items.count == 3)
        #expect(reading.status == 1)
    }

    @Test func bothKeybagCopies_changed_areRefused() throws {
        let test = try Self.vaultWithThreeItems()
        for table in ["keybag", "keybag_copy"] {
            try Self.change(test, "UPDATE \(table) SET bytes = \(Self.changed("bytes"))")
        }
        #expect(try FormatReader.read(test.location).status == 2)
    }

    // MARK: - Device key

    @Test func deviceKey_ofAnotherVault_isRefused() throws {
        let (test, other) = (try Self.vaultWithThreeItems(), try Self.vaultWithThreeItems())
        let mixed = try VaultLocation(folder: test.location.folder, deviceKeyFile: other.location.deviceKeyFile)
        let reading = try FormatReader.read(mixed)
        #expect(reading.status == 2)
        #expect(reading.errors.contains("the device key is not the one"))
    }

    @Test func deviceKey_thatIsDamaged_isRefused() throws {
        let test = try Self.vaultWithThreeItems()
        try test.place(Data(count: 64), at: test.location.deviceKeyFile)
        #expect(try FormatReader.read(test.location).status == 2)
    }

    @Test func deviceKey_thatIsMissing_isRefused() throws {
        let test = try Self.vaultWithThreeItems()
        try FileManager.default.removeItem(atPath: test.location.deviceKeyFile)
        #expect(try FormatReader.read(test.location).status == 2)
    }

    // MARK: - Database

    private static func refusalByThePackage(_ test: TestVault) -> KeychainError.Reason? {
        let everything = Selection(itemClass: nil)
        return reason { _ = try Vault(test.location).select(everything, limit: nil, includingValues: false) }
    }

    @Test func format_thatIsNewer_isRefusedByBoth() throws {
        let test = try Self.vaultWithThreeItems()
        try Self.change(test, "PRAGMA user_version = 6")
        #expect(try FormatReader.read(test.location).errors.contains("formats 1 to 5"))
        #expect(Self.refusalByThePackage(test) == .newerFormat)
    }

    @Test(arguments: [
        "PRAGMA user_version = 0", "PRAGMA application_id = 0", "DROP INDEX item_key",
        "CREATE INDEX more ON item (scope)",
        "CREATE TABLE more (a)",
        "CREATE TRIGGER t AFTER INSERT ON item BEGIN SELECT 1; END", "CREATE VIEW v AS SELECT 1",
    ])
    func database_thatIsNoVaultOfThisFormat_isRefusedByBoth(_ sql: String) throws {
        let test = try Self.vaultWithThreeItems()
        try Self.change(test, SQL(stringLiteral: sql))
        #expect(try FormatReader.read(test.location).status == 2)
        #expect(Self.refusalByThePackage(test) == .corrupt)
    }

    @Test func folder_withoutADatabase_isRefused() throws {
        let test = try TestVault()
        #expect(try FormatReader.read(test.location).status == 2)
    }
}
