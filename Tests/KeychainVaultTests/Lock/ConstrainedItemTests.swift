// SPDX-License-Identifier: Apache-2.0
// Items that ask for the user or a password: what keeps them closed is cryptography, not a condition in the code.

import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainTestSupport
import SecretMemory
import Testing

@testable import KeychainVault

@Suite struct ConstrainedItemTests {
    /// A vault that is always open by its device key, with a passphrase, and one constrained item.
    private static func vault(_ flags: AccessControl.Flags) throws -> TestVault {
        let test = try TestVault(.cheap)
        try test.vault.addProtector(.old)
        try test.engine.add(item(flags, "a"))
        return test
    }

    private static func item(_ flags: AccessControl.Flags, _ account: String) throws -> Query {
        var item = Query.genericPassword("s", account, value: "protected")
        item.accessControl = try AccessControl(.whenUnlocked, flags: flags)
        item.context = context("app password")
        return item
    }

    private static func context(_ password: String?) -> AuthenticationContext {
        let context = AuthenticationContext { nil }
        context.setApplicationPassword(password.map { SecretBytes(text: $0) })
        return context
    }

    /// The whole row of the one item, and what opens it but proofs.
    private static func row(_ vault: Vault) throws -> (SealedRow, RowSealer) {
        let session = try vault.session()
        let rows = try session.reader.read { try ItemTable($0).rows(sealedOtherwiseThan: [6: []], from: 1, limit: 1) }
        return (try #require(rows.first), try session.keyState.sealer())
    }

    private static func outcome(_ body: () throws -> Data?) -> String {
        do {
            return String(decoding: try body() ?? Data(), as: UTF8.self)
        } catch UnreadableRow.refused(let needs) {
            return "refused \(needs.rawValue)"
        } catch {
            return "\(error)"
        }
    }

    @Test func userItem_opensOnlyWithTheKeyThatThePassphraseUnwraps() throws {
        let test = try Self.vault(.userPresence)
        let (row, sealer) = try Self.row(test.vault)
        let key = try test.vault.userKey(provenBy: SecretBytes(text: "the old passphrase"))
        #expect(Self.outcome { try sealer.openValue(row, .user) } == "refused 1")
        #expect(Self.outcome { try sealer.openValue(row, .user, Proofs(userKey: UserKey.make())) } == "refused 1")
        #expect(Self.outcome { try sealer.openValue(row, .user, Proofs(userKey: key)) } == "protected")
        // Not even if the item is taken for one that asks for nothing.
        #expect(Self.outcome { try sealer.openValue(row) } == "damaged")
    }

    @Test func passwordItem_opensOnlyWithItsPassword() throws {
        let test = try Self.vault(.applicationPassword)
        let (row, sealer) = try Self.row(test.vault)
        let right = try test.vault.applicationKey(from: SecretBytes(text: "app password"))
        let wrong = try test.vault.applicationKey(from: SecretBytes(text: "app passwore"))
        let open = { try sealer.openValue(row, .applicationPassword, Proofs(applicationKey: $0)) }
        #expect(Self.outcome { try open(right) } == "protected")
        #expect(Self.outcome { try open(wrong) } == "refused 2")
    }

    @Test func itemOfBoth_needsBoth() throws {
        let test = try Self.vault([.userPresence, .applicationPassword])
        let (row, sealer) = try Self.row(test.vault)
        let user = try test.vault.userKey(provenBy: SecretBytes(text: "the old passphrase"))
        let password = try test.vault.applicationKey(from: SecretBytes(text: "app password"))
        let needs: Proofs.Needs = [.user, .applicationPassword]
        #expect(Self.outcome { try sealer.openValue(row, needs, Proofs(userKey: user)) } == "refused 2")
        #expect(Self.outcome { try sealer.openValue(row, needs, Proofs(applicationKey: password)) } == "refused 1")
        let both = Proofs(userKey: user, applicationKey: password)
        #expect(Self.outcome { try sealer.openValue(row, needs, both) } == "protected")
    }

    @Test func value_ofAnEarlierVersionOrAnotherItem_isDamaged() throws {
        let test = try Self.vault(.userPresence)
        try test.engine.add(Self.item(.userPresence, "b"))
        let (row, sealer) = try Self.row(test.vault)
        let key = try test.vault.userKey(provenBy: SecretBytes(text: "the old passphrase"))
        var moved = row
        moved.version += 1
        #expect(Self.outcome { try sealer.openValue(moved, .user, Proofs(userKey: key)) } == "damaged")
        moved = row
        moved.id = UUID()
        #expect(Self.outcome { try sealer.openValue(moved, .user, Proofs(userKey: key)) } == "damaged")
    }

    @Test func userItem_afterRotation_opensWithTheSameKeyAndUnderTheNewOne() throws {
        let test = try Self.vault(.userPresence)
        let key = try test.vault.userKey(provenBy: SecretBytes(text: "the old passphrase"))
        try test.vault.rotate()
        let (row, sealer) = try Self.row(test.vault)
        #expect(row.generation == 2)
        #expect(Self.outcome { try sealer.openValue(row, .user, Proofs(userKey: key)) } == "protected")
    }

    @Test func userItem_afterThePassphraseIsChanged_opensWithTheNewOne() throws {
        let test = try Self.vault(.userPresence)
        try test.vault.changeProtector(test.vault.slot(PassphraseProtector.kind), to: .new, authority: .old)
        let (row, sealer) = try Self.row(test.vault)
        let key = try test.vault.userKey(provenBy: SecretBytes(text: "the new passphrase"))
        #expect(Self.outcome { try sealer.openValue(row, .user, Proofs(userKey: key)) } == "protected")
        #expect(
            reason { _ = try test.vault.userKey(provenBy: SecretBytes(text: "the old passphrase")) }
                == .authenticationFailed)
    }

    @Test func recoveryKey_provesTheUser() throws {
        let test = try Self.vault(.userPresence)
        let text = Vault.makeRecoveryKey()
        try test.vault.addProtector(.recoveryKey(text), authority: .old)
        let key = try test.vault.userKey(provenBy: text)
        let (row, sealer) = try Self.row(test.vault)
        #expect(Self.outcome { try sealer.openValue(row, .user, Proofs(userKey: key)) } == "protected")
    }

    @Test func lastSecretOfAPerson_removed_takesItemsThatAskForTheUserOnlyIfTold() throws {
        let test = try Self.vault(.userPresence)
        try test.engine.add(.genericPassword("s", "plain", value: "v"))
        let slot = try test.vault.slot(PassphraseProtector.kind)
        #expect(reason { try test.vault.removeProtector(slot) } == .unsupported)
        try test.vault.removeProtector(slot, erasingItems: true)
        #expect(try test.engine.text(.genericPassword("s", "plain")) == "v")
        #expect(reason { _ = try test.engine.value(.genericPassword("s", "a")) } == .itemNotFound)
    }

    @Test func userItem_whereNoPassphraseIsSet_isRefused() throws {
        let test = try TestVault()
        #expect(reason { try test.engine.add(Self.item(.userPresence, "a")) } == .unavailable)
        #expect(reason { _ = try test.engine.value(.genericPassword("s", "a")) } == .itemNotFound)
    }

    /// An attacker who can write the file and has no key of the vault.
    @Test func publicKey_exchangedInTheKeybag_isNoticed() throws {
        let test = try Self.vault(.userPresence)
        var keybag = try test.vault.session().keybag
        keybag.userKey?.publicKey = try UserKey.publicKey(of: UserKey.make())
        try test.vault.close()
        let database = try Connection(test.databaseFile)
        for table in ["keybag", "keybag_copy"] {
            try database.execute("UPDATE \(table) SET bytes = ?", [.blob(keybag.bytes)])
        }
        #expect(reason { _ = try test.another().engine.value(.genericPassword("s", "a")) } == .corrupt)
    }

    /// Without the device key it is not known which of the items that it opens require the user.
    @Test func lastSecretOfAPerson_removedWhereTheDeviceKeyIsMissing_isRefusedUnlessItemsMayBeLost() throws {
        let test = try Self.vault(.userPresence)
        var item = try Self.item(.userPresence, "bound")
        item.accessControl = try AccessControl(.whenUnlockedThisDeviceOnly, flags: .userPresence)
        try test.engine.delete(.genericPassword("s", "a"))
        try test.engine.add(item)
        try test.vault.addProtector(.keyFile(), authority: .old)
        let (slot, key) = (try test.vault.slot(PassphraseProtector.kind), test.location.deviceKeyFile)
        try FileManager.default.moveItem(atPath: key, toPath: key + ".away")
        let vault = test.another(.cheap)
        let error = failure { try vault.removeProtector(slot, keepingKeys: true, authority: .keyFile()) }
        #expect(error?.reason == .unsupported)
        #expect(error?.message.contains("--erase-items") == true)
        #expect(try vault.slot(PassphraseProtector.kind) == slot)
        try vault.removeProtector(slot, erasingItems: true, keepingKeys: true, authority: .keyFile())
        #expect(reason { _ = try vault.slot(PassphraseProtector.kind) } == .itemNotFound)
    }
}
