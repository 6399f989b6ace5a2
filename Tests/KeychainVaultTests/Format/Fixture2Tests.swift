// SPDX-License-Identifier: Apache-2.0
// A vault made by format 2 stays readable for good, by whatever opens it.

import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainTestSupport
import SecretMemory
import Testing

@testable import KeychainVault

/// One after another: copies of one vault share what unlocking leaves in the process.
@Suite(.serialized)
struct FormatFixture2Tests {
    private static let folder = FormatReader.testsFolder + "/Fixtures/vault-2"

    private static func file(_ name: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name))
    }

    private static func word(_ name: String) throws -> String {
        try #require(try JSON(fileAt: folder + "/secrets.json")[name]?.text)
    }

    private static func secret(_ bytes: Data) -> SecretBytes { bytes.withUnsafeBytes { SecretBytes(copying: $0) } }

    /// One of the kinds whose secret is given.
    enum Given: String, CaseIterable, Sendable {
        case passphrase, recoveryKey, keyFile

        func secret() throws -> ProtectorSecret {
            let (kind, bytes): (ProtectorKind, Data) =
                switch self {
                case .passphrase: (PassphraseProtector.kind, Data(try word("passphrase").utf8))
                case .recoveryKey: (RecoveryKeyProtector.kind, Data(try word("recoveryKey").utf8))
                case .keyFile: (KeyFileProtector.kind, try file("file.key"))
                }
            return ProtectorSecret(kind, FormatFixture2Tests.secret(bytes))
        }

        func options() -> (options: [String], word: String?) {
            switch self {
            case .passphrase: (["--passphrase-fd", "0"], "passphrase")
            case .recoveryKey: (["--recovery-key-fd", "0"], "recoveryKey")
            case .keyFile: (["--key-file", folder + "/file.key"], nil)
            }
        }
    }

    /// The copy is removed with the folder of its test, so the two stay together.
    private struct Copy {
        let test: TestVault
        let vault: Vault
    }

    /// A copy of the frozen vault, which keeps what unlocking leaves to itself.
    private static func copy(hasDeviceKey: Bool = true, _ settings: VaultSettings? = nil) throws -> Copy {
        let test = try TestVault()
        try test.place(file("vault.db"), at: test.databaseFile)
        if hasDeviceKey { try test.place(file("device.key"), at: test.location.deviceKeyFile) }
        var settings = settings ?? VaultSettings()
        settings.unlockCache = .process
        // The slot of the fixture is cheap, and unlocking would replace it.
        settings.scryptCost = .cheap
        return Copy(test: test, vault: Vault(test.location, settings))
    }

    private static func expectedItems() throws -> [JSON] { try JSON(fileAt: folder + "/items.json").elements }

    private static func proofs(_ copy: Copy) throws -> Proofs {
        let vault = copy.vault
        return Proofs(
            userKey: try vault.userKey(provenBy: secret(Data(word("passphrase").utf8))),
            applicationKey: try vault.applicationKey(from: secret(Data(word("applicationPassword").utf8))))
    }

    /// The items that open, with the values that the proofs open.
    private static func items(_ copy: Copy) throws -> [JSON] {
        let (session, proofs) = (try copy.vault.currentSession(), try proofs(copy))
        let sealer = try session.keyState.sealer()
        var items: [JSON] = []
        try session.reader.read { db in
            try ItemTable(db).forEach(.all, .all) { row in
                if let item = try item(row, sealer, proofs) { items.append(item) }
                return true
            }
        }
        return items
    }

    private static func item(_ row: SealedRow, _ sealer: RowSealer, _ proofs: Proofs) throws -> JSON? {
        do {
            var stored = try sealer.open(row)
            stored.item.value = try sealer.openValue(row, stored.item.accessControl.needs, proofs)
            return stored.printed(row: row.rowID)
        } catch {
            return nil
        }
    }

    // MARK: - The package

    @Test func frozenVault_openedByItsDeviceKey_hasTheItemsOfThen() throws {
        let copy = try Self.copy()
        #expect(try Self.items(copy) == Self.expectedItems())
    }

    @Test func frozenVault_openedByItsCredential_hasTheItemsThatAreNotBoundToADevice() throws {
        let other = try TestVault()
        var settings = VaultSettings()
        settings.credentialsFolder = other.root + "/credentials"
        let name = "credentials/swift-keychain.key"
        try other.place(Self.file(name), at: other.root + "/" + name)
        let copy = try Self.copy(hasDeviceKey: false, settings)
        #expect(try Self.items(copy) == Self.unboundItems())
    }

    @Test(arguments: Given.allCases)
    func frozenVault_withoutItsDeviceKey_opensByWhatWasGiven(_ given: Given) throws {
        let copy = try Self.copy(hasDeviceKey: false)
        try copy.vault.unlock(given.secret())
        #expect(try Self.items(copy) == Self.unboundItems())
    }

    private static func unboundItems() throws -> [JSON] {
        try expectedItems().filter { ["ak", "ck", "dk"].contains($0["accessibility"]?.text) }
    }

    @Test func frozenVault_withAWrongPassphrase_staysClosed() throws {
        let copy = try Self.copy()
        let wrong = ProtectorSecret(PassphraseProtector.kind, Self.secret(Data("wrong".utf8)))
        #expect(reason { try copy.vault.unlock(wrong) } == .authenticationFailed)
    }

    @Test func frozenVault_opened_hasNoDamage() throws {
        let copy = try Self.copy()
        let status = try copy.vault.status()
        #expect(status.damagedCount == 0)
        #expect(!status.isKeybagCopyDamaged)
    }

    @Test func frozenVault_whoseRotationIsFinished_keepsItsItems() throws {
        let copy = try Self.copy()
        try copy.vault.rotate()
        #expect(try !copy.vault.status().isRotating)
        #expect(try Self.items(copy) == Self.expectedItems())
    }

    // MARK: - The reader

    @Test(.enabled(if: FormatReader.isAvailable, FormatReader.requirement))
    func frozenVault_readByTheReaderWithAllSecrets_hasTheItemsOfThen() throws {
        let copy = try Self.copy()
        let reading = try FormatReader.read(
            copy.test.location, ["--passphrase-fd", "0", "--application-password-fd", "0"],
            secrets: [Self.word("passphrase"), Self.word("applicationPassword")])
        #expect(reading.items == (try Self.expectedItems()), "\(reading.errors)")
        #expect(reading.status == 0)
    }

    @Test(.enabled(if: FormatReader.isAvailable, FormatReader.requirement))
    func constrainedItem_readByTheReaderWithoutProofs_isListedWithoutItsValue() throws {
        let copy = try Self.copy()
        let asking = try FormatReader.read(copy.test.location).items.filter { $0["asks"] != nil }
        #expect(asking.map { $0["row"] } == [18, 19, 20, 21, 24].map { .number($0) })
        #expect(asking.allSatisfy { $0["value"] == .null })
    }

    @Test(.enabled(if: FormatReader.isAvailable, FormatReader.requirement), arguments: Given.allCases)
    func frozenVault_readByTheReaderWithoutItsDeviceKey_opensByWhatWasGiven(_ given: Given) throws {
        let copy = try Self.copy(hasDeviceKey: false)
        let (options, word) = given.options()
        let secrets = try word.map { [try Self.word($0)] } ?? []
        let reading = try FormatReader.read(copy.test.location, hasDeviceKey: false, options, secrets: secrets)
        #expect(reading.items.map { $0["row"] } == (try Self.unboundItems().map { $0["row"] }), "\(reading.errors)")
        #expect(reading.status == 0)
    }

    @Test(.enabled(if: FormatReader.isAvailable, FormatReader.requirement))
    func frozenVault_rotatedByThePackage_isReadByTheReader() throws {
        let copy = try Self.copy()
        try copy.vault.rotate()
        try copy.vault.close()
        let reading = try FormatReader.read(
            copy.test.location, ["--recovery-key-fd", "0", "--application-password-fd", "0"],
            secrets: [Self.word("recoveryKey"), Self.word("applicationPassword")])
        #expect(reading.items == (try Self.expectedItems()), "\(reading.errors)")
    }

    @Test(.enabled(if: FormatReader.isAvailable, FormatReader.requirement))
    func vault_whoseDeviceKeySlotIsGone_opensByTheDeviceKeyForTheClassesThatAreAlwaysOpen() throws {
        let copy = try Self.copy()
        let slot = try #require(try copy.vault.currentSession().keybag.slots.first { $0.kind == 1 })
        try copy.vault.removeProtector(slot.id, keepingKeys: true, authority: Given.passphrase.secret())
        try copy.vault.close()
        let reading = try FormatReader.read(copy.test.location)
        let expected = try Self.expectedItems().filter { ["dk", "dku"].contains($0["accessibility"]?.text) }
        #expect(reading.items == expected, "\(reading.errors)")
        #expect(reading.status == 0)
    }
}
