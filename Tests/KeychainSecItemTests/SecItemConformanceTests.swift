// SPDX-License-Identifier: Apache-2.0
// The system's keychain as a store does what every store has to do.

import KeychainEngine
import KeychainSecItem
import KeychainServices
import KeychainTestSupport
import KeychainTesting
import Testing

@Suite("Conformance of SecItemStore")
struct SecItemConformanceTests {
    @Test(arguments: StoreConformance.checks)
    func storeOverServices_inMemory_conforms(_ check: StoreConformance.Check) throws {
        let memory = MemoryStore()
        try run(check, SecItemStore(over: memory)) { memory.lockState = $0 }
    }

    @Test(arguments: StoreConformance.checks)
    func storeOverServices_overAVault_conforms(_ check: StoreConformance.Check) throws {
        let vault = try LockableVault(isLockable: check.needsLock)
        try run(check, SecItemStore(over: vault.vault)) { try vault.setLockState($0) }
    }

    @Test(arguments: StoreConformance.checks)
    func storeOverAStricterSystem_checked_conforms(_ check: StoreConformance.Check) throws {
        let memory = MemoryStore()
        try run(check, SecItemStore(.stricter(over: memory))) { memory.lockState = $0 }
    }

    private func run(
        _ check: StoreConformance.Check, _ store: SecItemStore,
        _ setLockState: @escaping @Sendable (LockState) throws -> Void
    ) throws {
        var subject = StoreUnderTest(store)
        subject.setLockState = setLockState
        subject.keepsReasons = false
        subject.tellsLockState = false
        let outcome = try check.run(on: subject)
        let lacking = ["the store has no transactions", "the store does not tell its lock state"]
        #expect(outcome == .passed || lacking.contains { outcome == .skipped($0) })
    }
}
