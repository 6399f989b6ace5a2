// SPDX-License-Identifier: Apache-2.0
// The examples of the comments in KeychainTesting, word for word: each ends where the expectations begin.

import KeychainKit
import KeychainTesting
import Testing

@Suite("Examples of the comments on tests", .timeLimit(.minutes(60)))
struct CommentExamples {
    /// Represents a store that a program implements.
    private typealias MyStore = MemoryStore

    // MARK: - Scripted stores

    @Test func script_inItsExample_isMet() throws {
        let store = ScriptedStore()
        store.fail(.locked, on: [.select], account: "alice")  // the next search for alice
        store.fail(.busy, .nth(3), on: [.update])  // the third update from now
        store.fail(.slow(.milliseconds(20)), .every)  // every call, transactions included
        let secrets = SecretStore(service: "com.example.app", store: store)
        let error = #expect(throws: KeychainError.self) { try secrets.read(String.self, for: "alice") }
        #expect(error?.reason == .locked)
        #expect(try secrets.read(String.self, for: "alice") == nil)
        #expect(store.calls.map(\.fault) == [.locked, .slow(.milliseconds(20))])
    }

    // MARK: - Clocks

    @Test func clock_inItsExample_endsTheRead() async throws {
        let silent = ScriptedStore()
        silent.fail(.neverAnswers, .every)
        let time = TestClock()
        var store = SecretStore(service: "com.example.app", store: silent)  // which never answers
        store.clock = time
        let call = Task { [store] in try await store.read(String.self, for: "alice") }
        await time.untilSleeping()
        time.advance(by: .seconds(60))  // the read ends as `timedOut`
        let error = await #expect(throws: KeychainError.self) { try await call.value }
        #expect(error?.reason == .timedOut)
        silent.reset()
    }

    // MARK: - Conformance

    @Test(arguments: StoreConformance.checks)
    func store_checked_conforms(_ check: StoreConformance.Check) throws {
        try check.run(on: StoreUnderTest(MyStore()))
    }

    @Test func checks_inTheirExample_areAllRun() {
        let report = StoreConformance.run { StoreUnderTest(MyStore()) }
        precondition(report.failures.isEmpty, "\(report)")
        #expect(report.passed.count + report.skipped.count == StoreConformance.checks.count)
    }

    @Test func lock_inItsExample_letsEveryCheckBeMade() throws {
        for check in StoreConformance.checks {
            let store = MemoryStore()
            var subject = StoreUnderTest(store)
            subject.setLockState = { store.lockState = $0 }
            #expect(try check.run(on: subject) == .passed)
        }
    }
}
