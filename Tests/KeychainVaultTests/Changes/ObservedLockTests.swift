// SPDX-License-Identifier: Apache-2.0
// Observers are told when the vault is locked and unlocked.

import Foundation
import KeychainEngine
import KeychainTestSupport
import SecretMemory
import Testing

@testable import KeychainVault

@Suite struct ObservedLockTests {
    private static func watcher(_ vault: Vault) throws -> Watcher<LockState> {
        try Watcher(vault) { try vault.lockState }
    }

    @Test func lockAndUnlock_inAnotherProcess_areTold() throws {
        let test = try TestVault.locked()
        let watcher = try Self.watcher(test.another())
        #expect(try test.exercise("unlock", "old").lines == ["done"])
        #expect(watcher.sees { $0 == .unlocked })
        #expect(try test.exercise("lock").lines == ["done"])
        #expect(watcher.sees { $0 == .locked })
        #expect(try test.exercise("lock", "all").lines == ["done"])
        #expect(watcher.sees { $0 == .beforeFirstUnlock })
    }

    @Test func lockAndUnlock_forThisProcessAlone_areTold() throws {
        let test = try TestVault.locked()
        let vault = test.another()
        let watcher = try Self.watcher(vault)
        try vault.unlock(.old, keepingKeysIn: .process)
        #expect(watcher.sees { $0 == .unlocked })
        try vault.lock(forgettingFirstUnlock: true)
        #expect(watcher.sees { $0 == .beforeFirstUnlock })
    }

    @Test(arguments: [VaultSettings.UnlockCacheKind.kernel, .process])
    func unlocking_thatRunsOut_isTold(_ place: VaultSettings.UnlockCacheKind) throws {
        let test = try TestVault.locked()
        let vault = test.another()
        let watcher = try Self.watcher(vault)
        try vault.unlock(.old, idleTimeout: .seconds(1), keepingKeysIn: place)
        #expect(watcher.sees { $0 == .locked })
        try test.forget()
    }

    /// The vault was busy, for example. Nothing else would tell of the end of the timeout.
    @Test func idleTimeout_thatCouldNotBeReadOnce_isAskedAgain() {
        let (attempts, told) = (Guarded(0), DispatchSemaphore(value: 0))
        let watch = UnlockingWatch(DispatchQueue(label: "test"), retryPause: .seconds(1)) { () throws(KeychainError) in
            let attempt = attempts.withLock { attempts in
                attempts += 1
                return attempts
            }
            if attempt == 1 { throw KeychainError(.busy, "test") }
            return nil
        } tell: {
            told.signal()
        }
        watch.look()
        #expect(told.wait(timeout: .now() + 60) == .success)
        watch.end()
    }

    @Test func unlocking_putOffWhileObserved_isToldWhenItRunsOut() throws {
        let test = try TestVault.locked()
        let (vault, using) = (test.another(), test.another())
        try vault.unlock(.old, idleTimeout: .seconds(2))
        let watcher = try Self.watcher(vault)
        let end = ContinuousClock.now + .seconds(3)
        // Another one uses it beyond the time at which it would have ended, unless the machine is too busy for that.
        try waitUntil("The end of the use") {
            let failure = reason { _ = try using.engine.text(.find(.whenUnlocked)) }
            return failure == .locked || .now >= end
        }
        #expect(watcher.sees { $0 == .locked })
        #expect(watcher.all.allSatisfy { $0 == .locked }, "told while it was unlocked")
        try test.forget()
    }

    @Test func observingProcess_thatAnotherOneLocks_dropsItsKeysAtOnce() throws {
        let test = try TestVault.locked()
        let vault = test.another()
        let watcher = try Watcher(vault) { try vault.openSession()?.keyState.authentic == nil }
        try vault.unlock(.old)
        #expect(try vault.engine.text(.find(.whenUnlocked)) == "value")
        #expect(try vault.currentSession().keyState.authentic != nil)
        #expect(try test.exercise("lock", "all").lines == ["done"])
        #expect(watcher.sees { $0 })
    }

    @Test func lock_onAMediumThatCannotBeWritten_isToldInTheSameProcess() throws {
        let test = try TestVault.locked()
        // No process can open it for writing, not even root's.
        try FileManager.default.removeItem(atPath: test.location.lockFile)
        try FileManager.default.createDirectory(atPath: test.location.lockFile, withIntermediateDirectories: false)
        let watcher = try Watcher(test.vault) {}
        test.vault.announceLockState()
        #expect(watcher.sees { _ in true })
    }
}
