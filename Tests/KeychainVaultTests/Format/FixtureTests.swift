// SPDX-License-Identifier: Apache-2.0
// A vault made by the first version of the format stays readable for good.

import Foundation
import KeychainEngine
import Testing

@testable import KeychainVault

struct FormatFixtureTests {
    private static let folder = FormatReader.testsFolder + "/Fixtures/vault-1"

    /// A copy of the frozen vault, in which the package makes files of its own.
    private static func copy() throws -> TestVault {
        let test = try TestVault()
        for (name, path) in [("vault.db", test.databaseFile), ("device.key", test.location.deviceKeyFile)] {
            try test.place(Data(contentsOf: URL(fileURLWithPath: folder + "/" + name)), at: path)
        }
        return test
    }

    private static func expectedItems() throws -> [JSON] { try JSON(fileAt: folder + "/items.json").elements }

    private static func items(_ test: TestVault) throws -> [JSON] {
        let sealer = try #require(try test.vault.openSession()).keyState.sealer()
        return try test.vault.select(Selection(itemClass: nil), limit: nil, includingValues: true).items
            .map { $0.printed(row: sealer.rowID(of: $0.id)) }
    }

    @Test func frozenVault_opened_hasTheItemsOfThen() throws {
        let test = try Self.copy()
        #expect(try Self.items(test) == Self.expectedItems())
    }

    @Test func frozenVault_opened_hasNoDamage() throws {
        let test = try Self.copy()
        let status = try test.vault.status()
        #expect(status.damagedCount == 0)
        #expect(!status.isKeybagCopyDamaged)
    }

    @Test func frozenVault_writtenTo_keepsTheItemsOfThen() throws {
        let test = try Self.copy()
        try test.engine.add(.genericPassword("s", "a", value: "new"))
        #expect(try Self.items(test).dropLast() == Self.expectedItems()[...])
    }

    @Test func frozenItem_searchedByItsAttributes_isFound() throws {
        let test = try Self.copy()
        let conditions: Attributes = [.server: .string("example.com"), .port: .number(443), .path: .string("/a/b")]
        let selection = Selection(itemClass: .internetPassword, conditions: conditions)
        let found = try test.vault.select(selection, limit: nil, includingValues: true).items
        #expect(found.map(\.item.value) == [Data("pass".utf8)])
    }

    @Test(.enabled(if: FormatReader.isAvailable, FormatReader.requirement))
    func frozenVault_readByTheReader_hasTheItemsOfThen() throws {
        let test = try Self.copy()
        #expect(try FormatReader.read(test.location).items == Self.expectedItems())
    }
}
