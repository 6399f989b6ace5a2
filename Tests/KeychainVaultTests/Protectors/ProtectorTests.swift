// SPDX-License-Identifier: Apache-2.0
// Adding, changing and removing what opens a vault.

import Foundation
import KeychainEngine
import SecretMemory
import Testing

@testable import KeychainVault

@Suite struct ProtectorTests {
    @Test func secrets_ofEachKind_openTheVault() throws {
        let test = try TestVault.locked()
        let (vault, text) = (test.another(), Vault.makeRecoveryKey())
        try vault.addProtector(.recoveryKey(text), authority: .old)
        try vault.addProtector(.keyFile(), authority: .old)
        for secret in [ProtectorSecret.old, .recoveryKey(text), .keyFile()] {
            try vault.unlock(secret)
            #expect(try test.another().engine.text(.find(.whenUnlocked)) == "value")
            try test.forget()
        }
    }

    @Test func passphrase_changed_opensOnlyWithTheNewOne() throws {
        let test = try TestVault.locked()
        let vault = test.another()
        try vault.changeProtector(vault.slot(PassphraseProtector.kind), to: .new, authority: .old)
        #expect(reason { try test.another().unlock(.old) } == .authenticationFailed)
        try test.another().unlock(.new)
        #expect(try test.another().engine.text(.find(.whenUnlocked)) == "value")
        try test.forget()
    }

    /// The sealed bytes of the slot that was changed.
    @Test func passphrase_changed_leavesNothingOfTheOldSlotInTheFiles() throws {
        let test = try TestVault.locked()
        let vault = test.another()
        let wrapped = try vault.session().keybag.slots[0].wrappedKey
        try vault.changeProtector(vault.slot(PassphraseProtector.kind), to: .new, authority: .old)
        try vault.close()
        for (path, bytes) in try test.files() { #expect(bytes.range(of: wrapped) == nil, "\(path)") }
    }

    @Test func anotherPassphrase_vouchedForByTheDeviceKeyAlone_isRefused() throws {
        let test = try TestVault()
        let vault = test.another()
        try vault.addProtector(.old)
        #expect(reason { try vault.addProtector(.new) } == .authenticationFailed)
        try vault.addProtector(.new, authority: .old)
        #expect(try vault.status().slots.count == 3)
    }

    @Test func protector_addedWithoutAnyAuthority_isRefused() throws {
        let test = try TestVault.locked()
        #expect(reason { try test.another().addProtector(.keyFile()) } == .authenticationFailed)
        #expect(reason { try test.another().addProtector(.keyFile(), authority: .new) } == .authenticationFailed)
    }

    @Test func lastProtector_removed_isRefused() throws {
        let test = try TestVault.locked()
        let vault = test.another()
        let slot = try vault.slot(PassphraseProtector.kind)
        #expect(reason { try vault.removeProtector(slot, erasingItems: true, authority: .old) } == .unsupported)
        try vault.unlock(.old)
        #expect(reason { try vault.removeProtector(slot, erasingItems: true, authority: .old) } == .unsupported)
        try test.forget()
    }

    /// Protectors that cannot be opened here do not count.
    @Test func lastProtectorBesideAnUnknownOne_removed_isRefused() throws {
        let test = try TestVault()
        try test.engine.add(.item(.always))
        let session = try test.vault.session()
        var keybag = session.keybag
        keybag.slots.append(keybag.slots[0])
        keybag.slots[1].kind = 200
        let authority = try test.vault.authority(nil)
        #expect(
            reason { _ = try keybag.removing(keybag.slots[0].id, authority, [], at: Date()).keybag } == .unsupported)
    }

    @Test func deviceKeySlot_addedAgain_opensWithoutAsking() throws {
        let test = try TestVault.locked()
        try test.another().addProtector(.deviceKey, authority: .old)
        #expect(try test.another().lockState == .unlocked)
        #expect(try test.another().engine.text(.find(.whenUnlocked)) == "value")
    }

    @Test func slotOfUnknownKind_isKeptByEveryChange() throws {
        let test = try TestVault()
        try test.engine.add(.item(.always))
        try test.vault.changeKeybag(try test.vault.authority(nil)) { (keybag, authority) throws(KeychainError) in
            var next = keybag
            next.slots.append(keybag.slots[0])
            next.slots[1].kind = 200
            return try next.signed(authority)
        }
        let vault = test.another()
        try vault.addProtector(.old)
        #expect(try vault.status().slots.map(\.kind) == [DeviceKeyProtector.kind, nil, PassphraseProtector.kind])
    }

    /// An attacker has an earlier copy of the vault and the device key.
    @Test func deviceKeySlot_removed_opensNothingLaterEvenByAnOlderCopy() throws {
        let test = try TestVault(.cheap)
        try test.engine.add(.item(.whenUnlocked))
        let old = try test.vault.session().keybag
        let oldAuthority = try test.vault.authority(nil)
        try test.protect()
        let new = try test.another().session().keybag
        #expect(old.isAuthentic(oldAuthority.wrappingKeys))
        #expect(!new.isAuthentic(oldAuthority.wrappingKeys))
        let entry = try #require(new.keys.first { $0.keyClass == 6 })
        #expect(reason { _ = try oldAuthority.wrappingKeys.unwrap(entry) } == .corrupt)
        try test.another().unlock(.old)
        #expect(try test.another().engine.text(.find(.whenUnlocked)) == "value")
        try test.forget()
    }

    // MARK: - The class that needs a passcode

    @Test func passcodeClass_onceAPassphraseIsSet_keepsItems() throws {
        let test = try TestVault()
        let vault = test.another()
        #expect(reason { try vault.engine.add(.item(.whenPasscodeSetThisDeviceOnly)) } == .unavailable)
        try vault.addProtector(.old)
        try vault.engine.add(.item(.whenPasscodeSetThisDeviceOnly))
        #expect(try vault.engine.text(.find(.whenPasscodeSetThisDeviceOnly)) == "value")
    }

    @Test func lastPassphrase_removedWithItemsThatNeedOne_takesThemOnlyIfTold() throws {
        let test = try TestVault()
        let vault = test.another()
        try vault.addProtector(.old)
        try vault.engine.add(.item(.whenPasscodeSetThisDeviceOnly))
        let slot = try vault.slot(PassphraseProtector.kind)
        #expect(reason { try vault.removeProtector(slot) } == .unsupported)
        #expect(try vault.engine.text(.find(.whenPasscodeSetThisDeviceOnly)) == "value")
        try vault.removeProtector(slot, erasingItems: true)
        #expect(reason { _ = try vault.engine.text(.find(.whenPasscodeSetThisDeviceOnly)) } == .itemNotFound)
    }

    @Test func removal_thatIsRefusedForItsItems_changesNothing() throws {
        let test = try TestVault()
        let vault = test.another()
        try vault.addProtector(.old)
        try vault.engine.add(.item(.whenPasscodeSetThisDeviceOnly))
        let before = try vault.session().keybag
        let slot = try vault.slot(PassphraseProtector.kind)
        #expect(reason { try vault.removeProtector(slot) } == .unsupported)
        #expect(try vault.session().keybag == before)
    }

    @Test func passcodeClass_underALaterPassphrase_hasAnotherKey() throws {
        let test = try TestVault()
        let vault = test.another()
        try vault.addProtector(.old)
        let first = try vault.session().keybag.keys.filter { $0.keyClass == 12 }
        try vault.removeProtector(vault.slot(PassphraseProtector.kind))
        #expect(try vault.session().keybag.keys.allSatisfy { $0.keyClass != 12 })
        try vault.addProtector(.new)
        let second = try vault.session().keybag.keys.filter { $0.keyClass == 12 }
        #expect(first.count == 1 && second.count == 1)
        #expect(first[0].wrapped != second[0].wrapped)
        try vault.engine.add(.item(.whenPasscodeSetThisDeviceOnly))
        #expect(try vault.engine.text(.find(.whenPasscodeSetThisDeviceOnly)) == "value")
    }

    // MARK: - This device only

    @Test func vault_onAnotherDevice_opensWhatIsNotForOneDevice() throws {
        let test = try TestVault.locked()
        try FileManager.default.removeItem(atPath: test.location.deviceKeyFile)
        let vault = test.another()
        #expect(reason { _ = try vault.engine.text(.find(.always)) } == .locked)
        try vault.unlock(.old)
        for accessibility in [Accessibility.whenUnlocked, .afterFirstUnlock, .always] {
            #expect(try vault.engine.text(.find(accessibility)) == "value")
        }
        for accessibility in [Accessibility.whenUnlockedThisDeviceOnly, .alwaysThisDeviceOnly] {
            #expect(reason { _ = try vault.engine.text(.find(accessibility)) } == .ofAnotherDevice)
        }
        #expect(reason { try vault.engine.update(.find(.whenUnlockedThisDeviceOnly), value: "x") } == .ofAnotherDevice)
        var item = Query.item(.whenUnlockedThisDeviceOnly)
        item.attributes[.accessible] = .string(Accessibility.whenUnlocked.rawValue)
        #expect(reason { try vault.engine.save(item, accessGroups: .unrestricted) } == .ofAnotherDevice)
        try test.forget()
    }

    /// `doctor` says that such items are kept.
    @Test func item_ofAnotherDeviceDeleted_isQuarantinedAndCanBePutBack() throws {
        let test = try TestVault.locked()
        let kept = test.root + "/kept.key"
        try FileManager.default.moveItem(atPath: test.location.deviceKeyFile, toPath: kept)
        let vault = test.another()
        try vault.unlock(.old, keepingKeysIn: .process)
        try vault.engine.delete(.find(.whenUnlockedThisDeviceOnly))
        #expect(try vault.quarantinedItems().map(\.state) == [.ofAnotherDevice])
        #expect(reason { try vault.engine.delete(.find(.whenUnlockedThisDeviceOnly)) } == .itemNotFound)
        try vault.lock(forgettingFirstUnlock: true)
        try FileManager.default.moveItem(atPath: kept, toPath: test.location.deviceKeyFile)
        let with = test.another()
        try with.unlock(.old, keepingKeysIn: .process)
        defer { do { try with.lock(forgettingFirstUnlock: true) } catch { Issue.record(error) } }
        #expect(try with.restoreQuarantined().map(\.state) == [.opens])
        #expect(try with.engine.text(.find(.whenUnlockedThisDeviceOnly)) == "value")
    }

    /// By its digests an item of another device is known not to be meant.
    @Test func search_forAnotherNameThanThatOfAnItemOfAnotherDevice_findsNothing() throws {
        let test = try TestVault.locked()
        let vault = try test.withoutDeviceKey()
        try vault.unlock(.old, keepingKeysIn: .process)
        defer { do { try vault.lock(forgettingFirstUnlock: true) } catch { Issue.record(error) } }
        #expect(reason { _ = try vault.engine.text(.genericPassword("exerciser", "nobody")) } == .itemNotFound)
        #expect(reason { try vault.engine.delete(.genericPassword("exerciser", "nobody")) } == .itemNotFound)
    }

    @Test func vault_adoptedByAnotherDevice_storesItemsForThatDevice() throws {
        let test = try TestVault.locked()
        try FileManager.default.removeItem(atPath: test.location.deviceKeyFile)
        let vault = test.another()
        try vault.unlock(.old)
        var item = Query.item(.whenUnlockedThisDeviceOnly)
        item.attributes[.account] = .string("new")
        #expect(reason { try vault.engine.add(item) } == .ofAnotherDevice)
        try vault.adoptDevice(authority: .old)
        try vault.unlock(.old)
        try vault.engine.add(item)
        #expect(try vault.engine.text(.genericPassword("exerciser", "new")) == "value")
        #expect(try vault.engine.text(.find(.whenUnlocked)) == "value")
        #expect(reason { _ = try vault.engine.text(.find(.whenUnlockedThisDeviceOnly)) } == .ofAnotherDevice)
        #expect(try vault.status().isOfThisDevice)
        try test.forget()
    }
}
