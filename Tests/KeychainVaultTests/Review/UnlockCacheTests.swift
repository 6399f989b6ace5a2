// SPDX-License-Identifier: Apache-2.0
// Entries of the unlock cache that have become wrong, and threads that share a vault.

import Foundation
import KeychainEngine
import SecretMemory
import Synchronization
import Testing

@testable import KeychainVault

@Suite struct UnlockCacheTests {
    private func spin(_ duration: Duration) {
        let end = ContinuousClock.now + duration
        while .now < end { sched_yield() }
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
        group.wait()
        #expect(Set(failures.withLock { $0 }) == [])
    }
}
