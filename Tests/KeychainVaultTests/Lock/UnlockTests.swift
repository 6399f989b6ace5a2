// SPDX-License-Identifier: Apache-2.0
// Unlocking and locking: by the kernel's keyring for all processes, or for one.

import Foundation
import KeychainEngine
import KeychainTestSupport
import SecretMemory
import Testing

@testable import KeychainVault

@Suite struct UnlockTests {
    #if DEBUG
        /// Another process gives the vault a new root key while this one derives the old one's secret.
        @Test func vault_whoseRootKeyIsReplacedWhileItIsUnlocked_isOpenAfterwards() throws {
            let test = try TestVault.locked()
            try test.another().addProtector(.keyFile(), authority: .old)
            let vault = test.another()
            let isDone = Guarded(false)
            try Mishap.at(
                .beforeCacheStore,
                {
                    let isFirst = isDone.withLock { done in
                        defer { done = true }
                        return !done
                    }
                    guard isFirst else { return }
                    let other = test.another()
                    try other.removeProtector(try other.slot(KeyFileProtector.kind), authority: .old)
                },
                during: { try vault.unlock(.old) })
            #expect(isDone.withLock { $0 })
            #expect(try vault.lockState == .unlocked)
            #expect(try vault.engine.text(.find(.whenUnlocked)) == "value")
        }
    #endif

    @Test func vault_whoseDeviceKeySlotIsRemoved_isLocked() throws {
        let test = try TestVault.locked()
        #expect(try test.another().lockState == .beforeFirstUnlock)
        #expect(reason { _ = try test.another().engine.text(.find(.whenUnlocked)) } == .locked)
        #expect(try test.another().engine.text(.find(.always)) == "value")
    }

    @Test func vault_withOnlyTheDeviceKey_isAlwaysUnlockedAndCannotBeLocked() throws {
        let test = try TestVault()
        #expect(try test.vault.lockState == .unlocked)
        #expect(reason { try test.vault.lock() } == .unsupported)
        try test.engine.add(.item(.whenUnlocked))
        #expect(reason { try test.vault.lock() } == .unsupported)
        #expect(try test.engine.text(.find(.whenUnlocked)) == "value")
    }

    @Test(arguments: [ProtectorSecret.old, .keyFile()])
    func lock_besideTheDeviceKey_advisesToAddASecretOnlyIfThereIsNone(secret: ProtectorSecret) throws {
        let test = try TestVault(.cheap)
        try test.engine.add(.item(.whenUnlocked))
        let before = #expect(throws: KeychainError.self) { try test.vault.lock() }
        #expect(before?.message.contains("Add a passphrase") == true)
        try test.another().addProtector(secret)
        let after = #expect(throws: KeychainError.self) { try test.another().lock() }
        #expect(after?.message.contains("Remove the device key: keychainctl protect remove device-key") == true)
    }

    @Test func unlocking_inOneProcess_servesOthers() throws {
        let test = try TestVault.locked()
        let waiting = test.another()
        #expect(reason { _ = try waiting.engine.text(.find(.whenUnlocked)) } == .locked)
        #expect(try test.exercise("unlock", "old").lines == ["done"])
        #expect(try test.exercise("read", "ak").lines == ["value", "done"])
        #expect(try waiting.engine.text(.find(.whenUnlocked)) == "value")
        try test.forget()
    }

    @Test func locking_inOneProcess_closesTheNextReadInOthers() throws {
        let test = try TestVault.locked()
        let reading = test.another()
        try reading.unlock(.old)
        #expect(try reading.engine.text(.find(.whenUnlocked)) == "value")
        #expect(try test.exercise("lock").lines == ["done"])
        #expect(reason { _ = try reading.engine.text(.find(.whenUnlocked)) } == .locked)
        #expect(try reading.engine.text(.find(.afterFirstUnlock)) == "value")
        #expect(try reading.lockState == .locked)
        try test.forget()
    }

    @Test func locking_forgettingTheFirstUnlock_closesAllButTheAlwaysOpen() throws {
        let test = try TestVault.locked()
        let reading = test.another()
        try reading.unlock(.old)
        #expect(try test.exercise("lock", "all").lines == ["done"])
        #expect(reason { _ = try reading.engine.text(.find(.afterFirstUnlock)) } == .locked)
        #expect(try reading.engine.text(.find(.alwaysThisDeviceOnly)) == "value")
    }

    @Test func anotherBootID_asAfterARestart_isBeforeTheFirstUnlock() throws {
        let test = try TestVault.locked()
        let bootID = test.root + "/boot-id"
        var settings = VaultSettings.cheap
        settings.bootIDFile = bootID
        try Data((UUID().uuidString + "\n").utf8).write(to: URL(fileURLWithPath: bootID))
        try test.another(settings).unlock(.old)
        #expect(try test.another(settings).lockState == .unlocked)
        try Data((UUID().uuidString + "\n").utf8).write(to: URL(fileURLWithPath: bootID))
        #expect(try test.another(settings).lockState == .beforeFirstUnlock)
        #expect(reason { _ = try test.another(settings).engine.text(.find(.afterFirstUnlock)) } == .locked)
        try test.forget()
    }

    /// For example for lack of file descriptors. Of a folder nothing can be read.
    @Test func bootID_thatCannotBeReadNow_isAnErrorAndNotALockedVault() throws {
        let test = try TestVault.locked()
        try test.another().unlock(.old)
        var settings = VaultSettings.cheap
        settings.bootIDFile = test.root
        #expect(reason { _ = try test.another(settings).lockState } == .unavailable)
        #expect(reason { _ = try test.another(settings).engine.text(.find(.whenUnlocked)) } == .unavailable)
        #expect(try test.another().lockState == .unlocked)
        try test.forget()
    }

    @Test(arguments: VaultSettings.UnlockCacheKind.allCases)
    func idleTimeout_over_locks(cache: VaultSettings.UnlockCacheKind) throws {
        let test = try TestVault.locked()
        var settings = VaultSettings.cheap
        settings.unlockCache = cache
        let vault = test.another(settings)
        try vault.unlock(.old, idleTimeout: .seconds(1))
        // No use meanwhile, as the timeout is one of idleness; asking for the state is none.
        try waitUntil("The end of the unlocking") { try !vault.session().keyState.isUnlockedByCache }
        #expect(try vault.lockState == .locked)
        #expect(try vault.engine.text(.find(.afterFirstUnlock)) == "value")
        try vault.lock(forgettingFirstUnlock: true)
    }

    @Test func unlocking_forTheProcessAlone_servesNoOther() throws {
        let test = try TestVault.locked()
        var settings = VaultSettings.cheap
        settings.unlockCache = .process
        let vault = test.another(settings)
        try vault.unlock(.old)
        #expect(try vault.engine.text(.find(.whenUnlocked)) == "value")
        #expect(try vault.status().unlockCache == .process)
        #expect(try test.exercise("read", "ak").output.contains("failed locked"))
        try vault.lock()
        #expect(reason { _ = try vault.engine.text(.find(.whenUnlocked)) } == .locked)
        try vault.lock(forgettingFirstUnlock: true)
    }

    @Test(.enabled(if: Programs.strace != nil, "strace cannot trace here"))
    func kernel_thatRefusesKeyrings_unlocksForTheProcess() throws {
        let test = try TestVault.locked()
        let strace = try #require(Programs.strace)
        let child = try ChildProcess.run(
            strace,
            [
                "-f", "-qq", "-o", "/dev/null", "-e", "trace=keyctl,add_key", "-e", "inject=keyctl,add_key:error=EPERM",
                Exerciser.path,
            ] + test.exerciserArguments(["unlock-and-read", "old", "ak"]))
        #expect(child.lines == ["value", "done"], "\(child.output) \(child.errors)")
        #expect(try test.another().lockState == .beforeFirstUnlock)
    }

    @Test func wrongPassphrase_unlocksNothing() throws {
        let test = try TestVault.locked()
        #expect(reason { try test.another().unlock(.new) } == .authenticationFailed)
        #expect(try test.another().lockState == .beforeFirstUnlock)
    }

    /// A caller who unlocks to read an item would take `itemNotFound` for the item.
    @Test func protector_thatTheVaultDoesNotHave_failsAuthentication() throws {
        let test = try TestVault.locked()
        let failure = #expect(throws: KeychainError.self) { try test.another().unlock(.keyFile()) }
        #expect(failure?.reason == .authenticationFailed)
        #expect(failure?.message.contains("No key file opens the vault in '\(test.location.folder)'") == true)
    }

    @Test func vault_thatDoesNotExist_cannotBeUnlocked() throws {
        let test = try TestVault()
        #expect(reason { try test.vault.unlock(.old) } == .unavailable)
    }

    /// A process that had the vault open by its device key must not outlast the slot.
    @Test func deviceKeySlot_removedByAnotherProcess_closesAnOpenVault() throws {
        let test = try TestVault()
        try test.engine.add(.item(.whenUnlocked))
        #expect(try test.engine.text(.find(.whenUnlocked)) == "value")
        let other = test.another()
        try other.addProtector(.old)
        try other.removeProtector(other.slot(DeviceKeyProtector.kind), authority: .old)
        #expect(try test.vault.lockState == .beforeFirstUnlock)
        #expect(reason { _ = try test.engine.text(.find(.whenUnlocked)) } == .locked)
    }

    @Test func cacheEntry_ofAnotherLayout_isNoUnlocking() throws {
        let test = try TestVault.locked()
        let vault = test.another()
        let id = try vault.session().keybag.vaultID.uuidString.lowercased()
        for bytes: [UInt8] in [[1], Array(repeating: 1, count: 21), Array(repeating: 1, count: 300)] {
            let key = try KernelKeyring.store(
                SecretBytes(bytes: bytes), as: "swift-keychain:\(id):unlocked", timeout: .seconds(60))
            #expect(reason { _ = try vault.engine.text(.find(.whenUnlocked)) } == .locked)
            try KernelKeyring.remove(key)
        }
    }

    /// No digest shows whether it is visible, so it is unknown whether it is selected.
    @Test func lockedItem_thatMayNotBeMeant_survivesADeletion() throws {
        let test = try TestVault.locked()
        var query = Query.find(.whenUnlocked)
        query.attributes[.isInvisible] = .number(1)
        #expect(reason { try test.another().engine.delete(query) } == .locked)
        let vault = test.another()
        try vault.unlock(.old)
        #expect(try vault.engine.text(.find(.whenUnlocked)) == "value")
        try test.forget()
    }

    @Test func status_ofALockedVault_countsWhatIsClosed() throws {
        let test = try TestVault.locked()
        let status = try test.another().status()
        #expect(status.lockState == .beforeFirstUnlock)
        #expect(!status.isAlwaysUnlocked)
        #expect(status.itemCounts == [.genericPassword: 2])
        #expect(status.lockedCount == 4)
        #expect(status.damagedCount == 0)
    }
}

extension KeyState {
    /// Looks without using, so that nothing is renewed.
    var isUnlockedByCache: Bool {
        get throws { try find(.unlocked) != nil }
    }
}
