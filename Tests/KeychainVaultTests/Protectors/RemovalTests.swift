// SPDX-License-Identifier: Apache-2.0
// A removed protector does not open anything that is stored after its removal, whatever else an attacker has kept.

import Foundation
import KeychainEngine
import KeychainTestSupport
import SecretMemory
import Testing

@testable import KeychainVault

@Suite struct RemovalTests {
    /// Opens with the device key and the old passphrase, and holds 20 items and one for this device alone.
    private static func vault() throws -> TestVault {
        let test = try TestVault(.cheap)
        for index in 0..<20 { try test.engine.add(.genericPassword("s", "\(index)", value: "earlier")) }
        try test.engine.add(.item(.whenUnlockedThisDeviceOnly))
        try test.vault.addProtector(.old)
        return test
    }

    /// One item in each class whose keys take more than the device key; the classes that are always open are open to it.
    private static func storeLater(_ test: TestVault) throws {
        let vault = test.another()
        try vault.unlock(.old)
        for accessibility in [
            Accessibility.whenUnlocked, .afterFirstUnlock, .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly,
            .whenPasscodeSetThisDeviceOnly,
        ] {
            var item = Query.item(accessibility)
            item.attributes[.account] = .string("later " + accessibility.rawValue)
            item.value = Data("later".utf8)
            try vault.engine.add(item)
        }
        try test.forget()
    }

    private static func deviceKey(_ test: TestVault) throws -> DeviceKey {
        try #require(try DeviceKey.load(test.location.deviceKeyFile))
    }

    /// The generation that a rotation which was broken off has made is one that the removed key leads to.
    @Test func deviceKey_removedWhileARotationIsPending_opensNothingThatIsStoredLater() throws {
        let test = try Self.vault()
        let vault = test.another()
        try vault.changeKeybag(try vault.authority(nil)) { (keybag, authority) throws(KeychainError) in
            try keybag.rotating(authority, at: Date())
        }
        let before = try vault.session().keybag
        try vault.removeProtector(vault.slot(DeviceKeyProtector.kind), authority: .old)
        try Self.storeLater(test)
        let key = try Self.deviceKey(test)
        #expect(try test.values(openedBy: DeviceKeyProtector(deviceKey: key), key, [before]) == [])
        #expect(try !test.another().status().isRotating)
        try test.another().unlock(.old)
        #expect(try test.another().engine.text(.genericPassword("s", "7")) == "earlier")
        try test.forget()
    }

    /// A reader keeps the WAL from being emptied. So all that the removal wrote is in it, and can be cut off from the end.
    @Test func deviceKey_removedBesideAReader_opensNothingThatIsStoredLaterWhereverTheWALIsCut() throws {
        let test = try Self.vault()
        let key = try Self.deviceKey(test)
        let reader = try Connection(test.databaseFile)
        try reader.execute("BEGIN; SELECT count(*) FROM item")
        let vault = test.another()
        try vault.removeProtector(vault.slot(DeviceKeyProtector.kind), authority: .old)
        try Self.storeLater(test)
        let cuts = try WALCuts(test.location, in: test.root + "/cuts")
        let keybags = try cuts.keybags()
        #expect(cuts.lengths.count > 5)
        let protector = DeviceKeyProtector(deviceKey: key)
        // Otherwise this would show nothing: the removed key does open what the files have kept.
        #expect(try keybags.contains { try $0.authority(protector, key) != nil })
        let opened = try test.values(openedBy: protector, key, keybags)
        #expect(!opened.contains("later"))
        try cuts.forEach { path in
            let folder = FileSafety.parent(of: path)
            let copy = Vault(try VaultLocation(folder: folder, deviceKeyFile: test.location.deviceKeyFile), .cheap)
            #expect(!Self.opens("later", copy), "\(folder)")
        }
        try reader.execute("ROLLBACK")
        try reader.close()
    }

    private static func opens(_ value: String, _ vault: Vault) -> Bool {
        do {
            let found = try vault.select(Selection(itemClass: .genericPassword), limit: nil, includingValues: true)
            return found.items.contains { $0.item.value == Data(value.utf8) }
        } catch {
            return false
        }
    }

    /// The slot is gone with the first transaction; all else may come later.
    @Test(.enabled(if: Programs.strace != nil, "strace cannot trace here"))
    func keyFile_removedAndKilledAnywhere_opensNothingThatIsStoredLater() throws {
        let strace = try #require(Programs.strace)
        var points = 0
        for occurrence in 1...12 {
            let test = try TestVault(.cheap)
            try test.engine.add(.genericPassword("s", "0", value: "earlier"))
            try test.protect()
            try test.another().addProtector(.keyFile(), authority: .old)
            let slot = try test.another().slot(KeyFileProtector.kind)
            _ = try test.exercise(
                ["change", "remove"], injecting: "fdatasync:signal=KILL:when=\(occurrence)", strace: strace)
            let keybags = try WALCuts(test.location, in: test.root + "/cuts").keybags()
            guard try !test.another().status().slots.contains(where: { $0.id == slot }) else { continue }
            points += 1
            try Self.storeLater(test)
            let protector = KeyFileProtector(secret: SecretBytes(bytes: Array(repeating: 7, count: 32)))
            let opened = try test.values(openedBy: protector, Self.deviceKey(test), keybags)
            #expect(!opened.contains("later"), "fdatasync \(occurrence)")
            try test.another().rotate(authority: .old)
            #expect(try !test.another().status().isRotating)
        }
        #expect(points > 0)
    }

    // MARK: - What is missing

    @Test func removal_withoutThePersonsSecret_isRefusedAndChangesNothing() throws {
        let test = try Self.vault()
        let vault = test.another()
        let before = try vault.session().keybag
        let slot = try vault.slot(DeviceKeyProtector.kind)
        let outcome = failure { try vault.removeProtector(slot) }
        #expect(outcome?.reason == .authenticationFailed)
        #expect(outcome?.message.contains("give the passphrase or recovery key") == true)
        #expect(try test.another().session().keybag == before)
        #expect(try !vault.removeProtector(slot, keepingKeys: true))
        #expect(try test.another().lockState == .beforeFirstUnlock)
    }

    @Test func removal_withoutACredential_isRefusedAndNamesIt() throws {
        let test = try Self.vault()
        var settings = VaultSettings.cheap
        settings.credentialsFolder = test.root + "/credentials"
        try test.place(Data(repeating: 3, count: 32), at: test.root + "/credentials/swift-keychain.key")
        try test.another(settings).addProtector(ProtectorSecret(.credential))
        let vault = test.another()
        let slot = try vault.slot(DeviceKeyProtector.kind)
        let outcome = failure { try vault.removeProtector(slot, authority: .old) }
        #expect(outcome?.reason == .unavailable)
        #expect(outcome?.message.contains("the credential is missing") == true)
        #expect(try test.another(settings).removeProtector(slot, authority: .old))
    }

    @Test func removal_withoutTheDeviceKey_isRefusedAndNamesIt() throws {
        let test = try TestVault.locked()
        try test.another().addProtector(.keyFile(), authority: .old)
        let elsewhere = try test.withoutDeviceKey()
        let slot = try elsewhere.slot(KeyFileProtector.kind)
        let outcome = failure { try elsewhere.removeProtector(slot, authority: .old) }
        #expect(outcome?.reason == .unavailable)
        #expect(outcome?.message.contains("the device key that the vault is bound to is missing") == true)
    }

    /// A key of another device is wrapped under the root key of before, and could not be wrapped again.
    @Test func removal_withItemsOfAnotherDevice_isRefusedUntilTheyAreGone() throws {
        let test = try TestVault.locked()
        try test.another().addProtector(.keyFile(), authority: .old)
        let elsewhere = try test.withoutDeviceKey()
        try elsewhere.adoptDevice(authority: .old)
        let slot = try elsewhere.slot(KeyFileProtector.kind)
        let outcome = failure { try elsewhere.removeProtector(slot, authority: .old) }
        #expect(outcome?.reason == .unavailable)
        #expect(outcome?.message.contains("which 3 items need") == true, "\(outcome?.message ?? "")")
        for accessibility in Accessibility.allCases
        where accessibility.isThisDeviceOnly && accessibility != .whenPasscodeSetThisDeviceOnly {
            try elsewhere.engine.delete(.find(accessibility))
        }
        // They are quarantined, and need their keys there as well.
        #expect(reason { try elsewhere.removeProtector(slot, authority: .old) } == .unavailable)
        #expect(try elsewhere.purgeQuarantined() == 3)
        #expect(try elsewhere.removeProtector(slot, authority: .old))
        #expect(try elsewhere.session().keybag.keysOfOtherDevices == [])
    }

    /// The secret that authorizes the removal is also given.
    @Test func deviceKey_removedByTheKeyFile_givesTheVaultNewKeys() throws {
        let test = try TestVault(.cheap)
        try test.engine.add(.item(.whenUnlocked))
        try test.vault.addProtector(.keyFile())
        let vault = test.another()
        #expect(try vault.removeProtector(vault.slot(DeviceKeyProtector.kind), authority: .keyFile()))
        try vault.unlock(.keyFile())
        #expect(try vault.engine.text(.find(.whenUnlocked)) == "value")
        try test.forget()
    }

    @Test func lastPassphrase_removedWithAQuarantinedPasscodeItem_takesThatOnlyIfTold() throws {
        let test = try Self.vault()
        let vault = test.another()
        try vault.engine.add(.item(.whenPasscodeSetThisDeviceOnly))
        try vault.write { transaction in try transaction.content.items.quarantine(22, at: Date()) }
        let slot = try vault.slot(PassphraseProtector.kind)
        #expect(reason { try vault.removeProtector(slot) } == .unsupported)
        try vault.removeProtector(slot, erasingItems: true)
        #expect(try vault.status().quarantinedCount == 0)
    }
}
