// SPDX-License-Identifier: Apache-2.0
// Changes of the keybag that conflict with other changes, and copies that are not authenticated.

import Foundation
import KeychainCrypto
import KeychainEngine
import SecretMemory
import Testing

@testable import KeychainVault

@Suite struct KeybagChangeTests {
    /// Locked, with a passphrase and a key file.
    private static func vault() throws -> TestVault {
        let test = try TestVault.locked()
        try test.another().addProtector(.keyFile(), authority: .old)
        return test
    }

    /// Between deriving its authority and writing, another process takes a protector away, and the root key changes.
    @Test func change_byAnAuthorityOverAnEarlierRootKey_isRefusedAndLosesNothing() throws {
        let test = try TestVault.locked()
        let (vault, other) = (test.another(), test.another())
        try other.addProtector(.deviceKey, authority: .old)
        let authority = try vault.authority(.old)
        try other.removeProtector(other.slot(DeviceKeyProtector.kind), authority: .old)
        let outcome = reason {
            try vault.changeKeybag(authority) { (keybag, authority) throws(KeychainError) in
                try keybag.rotating(authority, at: Date())
            }
        }
        #expect(outcome == .busy)
        try test.another().unlock(.old)
        #expect(try test.another().engine.text(.find(.whenUnlocked)) == "value")
        try test.forget()
    }

    /// An attacker who can write the file and has no key puts another keybag before the right one.
    @Test func copy_thatNobodyVouchesFor_isNotSignedByTheNextChange() throws {
        let test = try TestVault.locked()
        var spoiled = try test.another().session().keybag
        let right = spoiled.userKey?.publicKey
        spoiled.userKey?.publicKey = try UserKey.publicKey(of: UserKey.make())
        spoiled.sequence += 1
        try Connection(test.databaseFile).execute("UPDATE keybag SET bytes = ?", [.blob(spoiled.bytes)])
        try test.another().addProtector(.keyFile(), authority: .old)
        let keybag = try test.another().session().keybag
        #expect(keybag.userKey?.publicKey == right)
        #expect(keybag.isAuthentic(try test.another().authority(.old).wrappingKeys))
    }

    @Test func damagedCopy_ofAVaultUnlockedByAPassphrase_isRepairedByTheNextWrite() throws {
        let test = try TestVault.locked()
        try PlainDatabase(test.databaseFile).run("UPDATE keybag SET bytes = zeroblob(100)")
        let vault = test.another()
        try vault.unlock(.old)
        #expect(try vault.status().isKeybagCopyDamaged)
        try vault.engine.update(.find(.whenUnlocked), value: "another")
        #expect(try !test.another().status().isKeybagCopyDamaged)
        try test.forget()
    }

    /// Both have opened the slot before one of them replaces it.
    @Test func weakSlot_unlockedByTwoAtOnce_unlocksForBoth() throws {
        let test = try TestVault.locked()
        var settings = VaultSettings.cheap
        settings.scryptCost.floor.rounds = 1 << 16
        let vaults = [test.another(settings), test.another(settings)]
        let openings = try vaults.map { try $0.open($0.session(), .old) }
        for (vault, opening) in zip(vaults, openings) { #expect(reason { try vault.rewrapIfWeak(opening) } == nil) }
        try test.another(settings).unlock(.old)
        try test.forget()
    }

    /// It is changed by another process between opening the slot and replacing it.
    @Test func weakSlot_whosePassphraseHasChanged_keepsTheNewOne() throws {
        let test = try TestVault.locked()
        var settings = VaultSettings.cheap
        settings.scryptCost.floor.rounds = 1 << 16
        let (vault, other) = (test.another(settings), test.another())
        let opening = try vault.open(vault.session(), .old)
        try other.changeProtector(other.slot(PassphraseProtector.kind), to: .new, authority: .old)
        #expect(reason { try vault.rewrapIfWeak(opening) } == nil)
        #expect(reason { try test.another().unlock(.old) } == .authenticationFailed)
    }

    /// As a passphrase whose slot needs more memory than there is: perhaps it has that passphrase.
    @Test func protector_thatCannotBeTriedOnTheOtherSlots_isNotAdded() throws {
        let test = try Self.vault()
        let (vault, untried) = (test.another(), UntriedProtector())
        let before = try vault.session().keybag.slots
        let id = try vault.slot(KeyFileProtector.kind)
        #expect(
            reason { try vault.changeProtector(id, among: before, to: untried, vault.authority(.old)) } == .unavailable)
        #expect(try test.another().session().keybag.slots == before)
    }

    /// The class keys of an older copy are those of today.
    @Test func deviceKeySlot_removed_opensNoItemLaterByTheClassKeysOfAnOlderCopy() throws {
        let test = try TestVault(.cheap)
        try test.engine.add(.item(.whenUnlocked))
        let keys = try ClassKeys(test.vault.session().keybag, test.vault.authority(nil))
        try test.protect()
        let vault = test.another()
        try vault.unlock(.old)
        try vault.engine.update(.find(.whenUnlocked), value: "written after the removal")
        var opened: [String] = []
        try vault.session().reader.read { db in
            try ItemTable(db).forEach(.all, .metadataAndValue) { row in
                do throws(UnreadableRow) {
                    opened.append(String(decoding: try RowSealer(keys).openValue(row) ?? Data(), as: UTF8.self))
                } catch {}
                return true
            }
        }
        #expect(opened == [])
        try test.forget()
    }

    /// The device key that is left is another machine's: nothing here opens the vault then.
    @Test func lastProtectorBesideAnotherMachinesDeviceKey_removed_isRefused() throws {
        let test = try TestVault(.cheap)
        try test.engine.add(.item(.whenUnlocked))
        try test.vault.addProtector(.old)
        try test.vault.close()
        try FileManager.default.removeItem(atPath: test.location.deviceKeyFile)
        let vault = test.another()
        let slot = try vault.slot(PassphraseProtector.kind)
        #expect(reason { try vault.removeProtector(slot, erasingItems: true, authority: .old) } == .unsupported)
    }

    @Test func passphrase_whereTheDeviceKeysFileIsDamaged_stillUnlocks() throws {
        let test = try TestVault.locked()
        try Data("damaged".utf8).write(to: URL(fileURLWithPath: test.location.deviceKeyFile))
        chmod(test.location.deviceKeyFile, 0o600)
        let vault = test.another()
        #expect(reason { try vault.unlock(.old) } == nil)
        #expect(try vault.engine.text(.find(.whenUnlocked)) == "value")
        try test.forget()
    }

    /// Both have opened the slot before one of them replaces it: only one of the new secrets can open it.
    @Test func protector_changedByTwoAtOnce_isChangedByOne() throws {
        let test = try TestVault.locked()
        let (vault, other) = (test.another(), test.another())
        let (id, slots) = (try vault.slot(PassphraseProtector.kind), try vault.session().keybags.flatMap(\.slots))
        let authority = try vault.authority(.old)
        try other.changeProtector(id, to: .new, authority: .old)
        let outcome = reason { try vault.changeProtector(id, among: slots, to: vault.protector(.old), authority) }
        #expect(outcome == .busy)
        #expect(reason { try test.another().unlock(.new) } == nil)
        try test.forget()
    }

    /// The passphrase is replaced after it was opened, and before what it authorizes is written.
    @Test(arguments: ["adds", "removes"])
    func passphrase_replacedMeanwhile_authorizesNothing(_ change: String) throws {
        let test = try Self.vault()
        let (vault, other) = (test.another(), test.another())
        let (keyFile, before) = (try vault.slot(KeyFileProtector.kind), try vault.session().keybag.slots.count)
        let authority = try vault.authority(.old)
        try other.changeProtector(other.slot(PassphraseProtector.kind), to: .new, authority: .old)
        let outcome = reason {
            try vault.changeKeybag(authority) { (keybag, authority) throws(KeychainError) in
                try change == "adds"
                    ? keybag.adding(vault.protector(.recoveryKey(Vault.makeRecoveryKey())), authority, at: Date())
                    : keybag.removing(keyFile, authority, [], keepingKeys: true, at: Date()).keybag
            }
        }
        #expect(outcome == .busy)
        #expect(try test.another().session().keybag.slots.count == before)
        try test.forget()
    }

    @Test func protector_changed_keepsItsIdentity() throws {
        let test = try TestVault.locked()
        let vault = test.another()
        let slot = try vault.slot(PassphraseProtector.kind)
        try vault.changeProtector(slot, to: .new, authority: .old)
        #expect(try vault.slot(PassphraseProtector.kind) == slot)
    }

    @Test func deviceKeysSlot_whenAnotherIsRemoved_keepsItsIdentity() throws {
        let test = try TestVault(.cheap)
        try test.vault.addProtector(.old)
        let slots = try test.vault.status().slots
        try test.vault.removeProtector(slots[1].id, authority: .old)
        #expect(try test.vault.slot(DeviceKeyProtector.kind) == slots[0].id)
    }

    /// Both copies would be replaced by it, and nobody could open the vault.
    @Test func keybag_thatCouldNotBeReadAgain_isNotSigned() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        let authority = try test.vault.authority(nil)
        var keybag = try test.vault.session().keybag
        var slot = try #require(keybag.slots.first)
        (slot.id, slot.parameters) = (UUID(), Data(count: 5000))
        keybag.slots.append(slot)
        #expect(reason { _ = try keybag.signed(authority) } == .unsupported)
    }
}

/// A key file that seals, and cannot open anything.
private struct UntriedProtector: Protector {
    static let kind = KeyFileProtector.kind
    private let keyFile = KeyFileProtector(secret: SecretBytes(bytes: Array(repeating: 9, count: 32)))

    static func probe(_: ProtectorEnvironment) -> (any Protector)? { nil }

    static func make(_: SecretBytes, _: ProtectorEnvironment) -> (any Protector)? { nil }

    func wrap(_ key: SecretBytes, as id: UUID, vaultID: UUID, at date: Date) throws(KeychainError) -> Keybag.Slot {
        try keyFile.wrap(key, as: id, vaultID: vaultID, at: date)
    }

    func unwrap(_: Keybag.Slot, vaultID _: UUID) throws(KeychainError) -> SecretBytes? {
        throw KeychainError(.unavailable, "test")
    }
}
