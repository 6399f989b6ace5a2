// SPDX-License-Identifier: Apache-2.0
// A vault made by format 3 stays readable for good, and as it was left.

import Foundation
import KeychainEngine
import Testing

@testable import KeychainVault

struct FormatFixture3Tests {
    private static let folder = FormatReader.testsFolder + "/Fixtures/vault-3"

    private static func copy() throws -> TestVault { try TestVault(copying: folder) }

    private static func expectedItems() throws -> [JSON] { try JSON(fileAt: folder + "/items.json").elements }

    @Test func frozenVault_opened_hasTheItemsOfThen() throws {
        let test = try Self.copy()
        #expect(try test.itemsByRow() == Self.expectedItems())
    }

    @Test func frozenVault_opened_isAsItsHeadSays() throws {
        let test = try Self.copy()
        #expect(try test.vault.headFindings(wholeVault: true) == [])
        try test.engine.add(.genericPassword("s", "a", value: "new"))
        #expect(try test.another().headFindings(wholeVault: true) == [])
    }

    // MARK: - Raised to the newest format

    private static func version(_ test: TestVault) throws -> Int64? {
        try Connection(test.databaseFile).number("PRAGMA user_version")
    }

    @Test func frozenVault_addedTo_isRaisedToTheNewestFormat() throws {
        let test = try Self.copy()
        #expect(try Self.version(test) == 3)
        try test.engine.add(.genericPassword("s", "a", value: "new"))
        #expect(try Self.version(test) == Int64(VaultSchema.version))
        #expect(try Connection(test.databaseFile).texts("SELECT name FROM sqlite_schema").contains("item_minor"))
    }

    /// On a full disk there is no space for the index.
    @Test func frozenVault_removedFrom_staysAsItIsAndIsAsItsHeadSays() throws {
        let test = try Self.copy()
        let before = try test.itemsByRow().count
        try test.engine.delete(Query(.genericPassword))
        #expect(try test.itemsByRow().count < before)
        #expect(try Self.version(test) == 3)
        #expect(try test.another().headFindings(wholeVault: true) == [])
    }

    @Test func frozenVault_searchedByAccountAlone_isFoundBeforeAndAfterItIsRaised() throws {
        let test = try Self.copy()
        let all = try test.vault.select(Selection(itemClass: .genericPassword), limit: nil, includingValues: false)
        let account = try #require(all.items.lazy.compactMap { $0.item.attributes[.account] }.first)
        let selection = Selection(itemClass: .genericPassword, conditions: [.account: account])
        let before = try test.vault.select(selection, limit: nil, includingValues: false).items.map(\.id)
        #expect(!before.isEmpty)
        try test.engine.add(.genericPassword("s", "another account", value: "new"))
        #expect(try test.vault.select(selection, limit: nil, includingValues: false).items.map(\.id) == before)
    }

    // MARK: - The reader

    @Test(.enabled(if: FormatReader.isAvailable, FormatReader.requirement))
    func frozenVault_readByTheReader_isAsItsHeadSaysAndHasTheItemsOfThen() throws {
        let test = try Self.copy()
        let reading = try FormatReader.read(test.location)
        #expect(try reading.items == Self.expectedItems())
        #expect(reading.found["head"]?["sequence"] == .number(18))
        #expect(reading.found["head"]?["differs"] == .list([]))
        #expect(reading.status == 0)
    }

    @Test(
        .enabled(if: FormatReader.isAvailable, FormatReader.requirement),
        arguments: [
            ("DELETE FROM item WHERE id = 1", ["items", "itemSum"]),
            ("DELETE FROM lookup", ["lookups", "lookupSum"]), ("DELETE FROM quarantine", ["quarantined"]),
            ("UPDATE item SET scope = zeroblob(16) WHERE id = 1", ["itemSum"]), ("DELETE FROM head", ["head"]),
        ])
    func frozenVault_changed_isNotAsTheReaderExpectsIt(_ statement: String, _ differences: [String]) throws {
        let test = try Self.copy()
        try PlainDatabase(test.databaseFile).run(statement)
        let reading = try FormatReader.read(test.location)
        #expect(reading.found["head"]?["differs"] == .list(differences.map { .text($0) }))
        #expect(reading.status == 1)
    }
}
