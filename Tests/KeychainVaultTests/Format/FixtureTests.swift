// SPDX-License-Identifier: Apache-2.0
// A vault made by the first version of the format stays readable for good.

import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainTestSupport
import SecretMemory
import Testing

@testable import KeychainVault

struct FormatFixtureTests {
    private static let folder = FormatReader.testsFolder + "/Fixtures/vault-1"

    /// A copy of the frozen vault, in which the package makes files of its own.
    private static func copy() throws -> TestVault { try TestVault(copying: folder) }

    private static func expectedItems() throws -> [JSON] { try JSON(fileAt: folder + "/items.json").elements }

    private static func items(_ test: TestVault) throws -> [JSON] { try test.itemsByRow() }

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

    private static func version(_ test: TestVault) throws -> Int64? {
        try Connection(test.databaseFile).number("PRAGMA user_version")
    }

    @Test func frozenVault_onlyRead_isNotChanged() throws {
        let test = try Self.copy()
        _ = try Self.items(test)
        try test.vault.close()
        #expect(
            try test.files()[test.databaseFile] == Data(contentsOf: URL(fileURLWithPath: Self.folder + "/vault.db")))
    }

    @Test func frozenVault_writtenTo_isRaisedToTheNewestFormatAndKeepsItsKeybag() throws {
        let test = try Self.copy()
        #expect(try Self.version(test) == 1)
        try test.engine.add(.genericPassword("s", "a", value: "new"))
        try test.vault.close()
        #expect(try Self.version(test) == 4)
        #expect(try test.vault.currentSession().keybag.format == 1)
    }

    @Test(.enabled(if: FormatReader.isAvailable, FormatReader.requirement))
    func frozenVault_givenAPassphrase_hasAKeybagOfFormat2ThatTheReaderOpensByIt() throws {
        let test = try Self.copy()
        var settings = VaultSettings()
        settings.scryptCost = .cheap
        let vault = Vault(test.location, settings)
        let passphrase = Data("passphrase".utf8).withUnsafeBytes { SecretBytes(copying: $0) }
        try vault.addProtector(ProtectorSecret(PassphraseProtector.kind, passphrase))
        #expect(try vault.currentSession().keybag.format == 2)
        try vault.close()
        let reading = try FormatReader.read(test.location, ["--passphrase-fd", "0"], secrets: ["passphrase"])
        #expect(reading.items == (try Self.expectedItems()), "\(reading.errors)")
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

extension TestVault {
    /// All items as the reader lists them: in the order of their rows.
    func itemsByRow() throws -> [JSON] {
        let sealer = try #require(try vault.openSession()).keyState.sealer()
        return try vault.select(Selection(itemClass: nil), limit: nil, includingValues: true).items
            .map { (row: sealer.rowID(of: $0.id), item: $0) }.sorted { $0.row < $1.row }
            .map { $0.item.printed(row: $0.row) }
    }

    /// A copy of a frozen vault and its device key.
    convenience init(copying folder: String) throws {
        try self.init()
        for (name, path) in [("vault.db", databaseFile), ("device.key", location.deviceKeyFile)] {
            try place(Data(contentsOf: URL(fileURLWithPath: folder + "/" + name)), at: path)
        }
    }
}
