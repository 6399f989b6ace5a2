// SPDX-License-Identifier: Apache-2.0
// The stores of this package do what a store has to do.

import KeychainEngine
import KeychainTestSupport
import KeychainTesting
import Testing

@Suite("Conformance")
struct ConformanceTests {
    @Test(arguments: StoreConformance.checks)
    func memoryStore_checked_conforms(_ check: StoreConformance.Check) throws {
        #expect(try check.run(on: Self.memory()) == .passed)
    }

    @Test(arguments: StoreConformance.checks)
    func vault_checked_conforms(_ check: StoreConformance.Check) throws {
        let outcome = try check.run(on: try LockableVault(isLockable: check.needsLock).subject)
        #expect(outcome == .passed || outcome == .skipped("the store does not notice changes"))
    }

    @Test(arguments: StoreConformance.checks)
    func scriptedStore_withoutFaults_conforms(_ check: StoreConformance.Check) throws {
        let memory = MemoryStore()
        var subject = StoreUnderTest(ScriptedStore(over: memory))
        subject.setLockState = { memory.lockState = $0 }
        #expect(try check.run(on: subject) == .passed)
    }

    @Test func checks_listed_haveNamesOfTheirOwn() {
        let names = StoreConformance.checks.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(names.count >= 60)
        #expect(names.allSatisfy { $0.split(separator: "_").count == 3 })
    }

    @Test func checksThatNeedALock_withoutOne_areSkippedAndListed() {
        let report = StoreConformance.run { StoreUnderTest(MemoryStore()) }
        #expect(report.failures == [])
        #expect(report.skipped.contains { $0 == ("delete_ofALockedItem_removesIt", "no way to lock the store") })
        #expect(report.passed.count + report.skipped.count == StoreConformance.checks.count)
    }

    @Test func store_thatCannotBeMade_isAFailureOfEachCheck() {
        let report = StoreConformance.run { throw KeychainError(.unavailable, "There is none.") }
        #expect(report.failures.count == StoreConformance.checks.count)
    }

    @Test func failure_described_namesCheckAndWhatCame() throws {
        let check = try #require(StoreConformance.checks.first { $0.name == "item_insertedTwice_isADuplicate" })
        let failure = #expect(throws: ConformanceFailure.self) {
            try check.run { BrokenStore(.duplicates) }
        }
        #expect(
            failure?.description
                == "item_insertedTwice_isADuplicate: expected 'duplicateItem' from a second insertion, came success")
    }

    static func memory() -> StoreUnderTest {
        let store = MemoryStore()
        var subject = StoreUnderTest(store)
        subject.setLockState = { store.lockState = $0 }
        return subject
    }
}
