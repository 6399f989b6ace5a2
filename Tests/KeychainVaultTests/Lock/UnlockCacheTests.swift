// SPDX-License-Identifier: Apache-2.0
// Entries of the unlock cache that have become wrong, and threads that share a vault.

import Foundation
import KeychainEngine
import SecretMemory
import Synchronization
import Testing

@testable import KeychainVault

@Suite struct UnlockCacheTests {
    /// Another process has removed a protector since this one unlocked for itself.
    @Test func entryOfTheProcess_thatFitsNoLonger_doesNotHideTheKernels() throws {
        let test = try TestVault.locked()
        let vault = test.another()
        let vaultID = try vault.session().keybag.vaultID
        let keys = WrappingKeys(rootKey: .random(count: 32), deviceKey: nil, vaultID: vaultID)
        let entry = UnlockEntry(
            bootID: try BootID.read(vault.settings.bootIDFile), idleTimeout: nil, keys: keys.bytes)
        for state in [LockState.locked, .unlocked] { _ = ProcessUnlockCache().store(entry, state, vaultID: vaultID) }
        try vault.unlock(.old)
        #expect(try vault.lockState == .unlocked)
        #expect(try vault.engine.text(.find(.whenUnlocked)) == "value")
        try test.forget()
    }

    /// As 0 it would mean no timeout, and shorter than asked it would lock a vault in use.
    @Test(arguments: [(1, 1), (500, 1), (1000, 1), (1500, 2), (2001, 3)])
    func idleTimeout_inAnEntry_isRoundedUpToWholeSeconds(milliseconds: Int, seconds: Int) throws {
        let entry = UnlockEntry(bootID: .zero, idleTimeout: .milliseconds(milliseconds), keys: .random(count: 32))
        let stored = try #require(UnlockEntry(bytes: entry.bytes))
        #expect(stored.idleTimeout == .seconds(seconds))
    }

    @Test func idleTimeout_ofNoTime_isNotStoredAsNone() throws {
        let entry = UnlockEntry(bootID: .zero, idleTimeout: .zero, keys: .random(count: 32))
        #expect(UnlockEntry(bytes: entry.bytes)?.idleTimeout == .seconds(1))
    }

    /// Protectors change, class keys rotate, a program closes what it holds: other threads must not notice.
    @Test func threads_readingWhileTheVaultIsClosed_areNotDisturbed() throws {
        let test = try TestVault(.cheap)
        try test.engine.add(.item(.whenUnlocked))
        let failures = Mutex<[String]>([])
        let isOver = Mutex(false)
        let group = DispatchGroup()
        for number in 0..<6 {
            DispatchQueue.global().async(group: group) {
                while !isOver.withLock({ $0 }) {
                    do {
                        if number == 0 {
                            try test.engine.update(.find(.whenUnlocked), value: "value")
                        } else {
                            _ = try test.engine.text(.find(.whenUnlocked))
                        }
                    } catch {
                        failures.withLock { $0.append("\(error)") }
                    }
                }
            }
        }
        for _ in 0..<1000 {
            _ = try test.engine.text(.find(.whenUnlocked))
            try test.vault.close()
        }
        for _ in 0..<3 { try test.vault.rotate() }
        isOver.withLock { $0 = true }
        #expect(group.wait(timeout: .now() + 600) == .success)
        #expect(Set(failures.withLock { $0 }) == [])
    }
}
