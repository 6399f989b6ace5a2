// SPDX-License-Identifier: Apache-2.0
// A keychain that does not answer, and callers that do not wait for ever.

import Foundation
import KeychainEngine
import KeychainKit
import KeychainTestSupport
import KeychainTesting
import Synchronization
import Testing

@Suite("Timeouts", .timeLimit(.minutes(60)))
struct TimeoutTests {
    /// In a separate process, so that only its own waiting is measured.
    @Test func thousandReads_ofAStoreThatNeverAnswers_timeOutAndLeakNothing() throws {
        let lines = try Exerciser.run("silent", "1000", "200")
        let found = Dictionary(
            uniqueKeysWithValues: lines.map { line in
                let words = line.split(separator: " ")
                return (String(words[0]), Double(words[1]) ?? .nan)
            })
        #expect(found["timed-out"] == 1000)
        #expect(try #require(found["ticks"]) > 10, "other tasks go on")
        #expect(try #require(found["blocked"]) <= 8, "few threads wait")
        #expect(try #require(found["threads-more"]) <= 1)
        // Of five thousand calls; the allocator keeps some for itself, the more the busier the machine is.
        #expect(try #require(found["kilobytes-more"]) < 8192)
    }

    @Test func store_thatNobodyUsesAnyMore_goesWithItsCalls() async throws {
        weak var gone: ScriptedStore?
        do {
            let silent = Self.silentStore()
            gone = silent
            var store = SecretStore(service: "s", store: silent)
            store.timeout = Timeout(operation: .milliseconds(50))
            for _ in 0..<20 {
                let result = await reason { [store] in try await store.readText("a") }
                #expect(result == .timedOut)
            }
            silent.reset()
        }
        // The threads release it when they find no more work.
        try await yieldUntil("The end of the store") { gone == nil }
    }

    @Test func read_afterTheStoreAnswersAgain_works() async throws {
        let silent = Self.silentStore()
        var store = SecretStore(service: "s", store: silent)
        store.timeout = Timeout(operation: .milliseconds(50))
        for _ in 0..<20 {
            let result = await reason { [store] in try await store.readText("a") }
            #expect(result == .timedOut)
        }
        silent.reset()
        store.timeout = Timeout(operation: .testLimit)
        try await store.save("x", for: "a")
        #expect(try await store.readText("a") == "x")
    }

    @Test func synchronousRead_withATimeout_timesOut() throws {
        let silent = Self.silentStore()
        defer { silent.reset() }
        var store = SecretStore(service: "s", store: silent)
        store.timeout = Timeout(operation: .milliseconds(100))
        let result = reason { try store.read(String.self, for: "a") }
        #expect(result == .timedOut)
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(-1), .zero, .seconds(10_000_000_000)])
    func timeout_ofAnyLength_endsTheCall(length: Duration) async throws {
        let silent = ScriptedStore()
        silent.fail(.slow(.seconds(600)))
        defer { silent.reset() }
        var store = SecretStore(service: "s", store: silent)
        let clock = CountingClock()
        store.clock = clock
        store.timeout = Timeout(operation: length)
        let reading = Task { [store] in await reason { try await store.readText("a") } }
        if length <= .zero {
            #expect(await reading.value == .timedOut)
        } else {
            try await yieldUntil("A call that waits") { silent.blockedCallCount > 0 }
            for _ in 0..<1000 { await Task.yield() }
            silent.release()
            #expect(await reading.value == nil)
            #expect(clock.sleepCount < 10)
        }
    }

    @Test func synchronousCalls_withATimeoutBeyondCounting_end() throws {
        var store = SecretStore(service: "s", store: MemoryStore())
        store.timeout = Timeout(operation: .seconds(1e19), userInteraction: .seconds(1e19))
        try store.update(Int.self, for: "n") { $0 = 1 }
        #expect(try store.read(Int.self, for: "n") == 1)
    }

    @Test func cancelledRead_ofASilentStore_endsAtOnce() async throws {
        let silent = Self.silentStore()
        defer { silent.reset() }
        var store = SecretStore(service: "s", store: silent)
        // A busy machine may take longer than usual to get to the cancelling.
        store.timeout = Timeout(operation: .seconds(600))
        let task = Task { [store] in await reason { try await store.readText("a") } }
        try await yieldUntil("A call that waits") { silent.blockedCallCount > 0 }
        task.cancel()
        #expect(await task.value == .cancelled)
    }

    @Test func read_inATaskThatIsCancelledAlready_doesNotReachTheStore() async throws {
        let silent = Self.silentStore()
        defer { silent.reset() }
        let store = SecretStore(service: "s", store: silent)
        let result = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await reason { try await store.readText("a") }
        }.value
        #expect(result == .cancelled)
        #expect(silent.calls.isEmpty)
    }

    /// A store that does not answer until it is reset: a test that forgets to must not keep its threads for ever.
    private static func silentStore() -> ScriptedStore {
        let silent = ScriptedStore()
        silent.fail(.slow(.seconds(600)), .every)
        return silent
    }

    // MARK: - A person

    @Test func timeOfAPerson_isNotTimeOfTheKeychain() async throws {
        let (person, time) = (SlowPerson(), TestClock())
        var store = try protectedStore(person)
        store.clock = time
        store.timeout = Timeout(operation: .seconds(1), userInteraction: .seconds(30))
        let reading = Task { [store] in try await store.readText("a") }
        await person.wasAsked()
        time.advance(by: .seconds(10))
        person.answer("passphrase")
        #expect(try await reading.value == "secret")
    }

    @Test func person_whoDoesNotAnswer_isAskedNoLonger() async throws {
        let person = SlowPerson()
        var store = try protectedStore(person)
        store.timeout = Timeout(operation: .seconds(600), userInteraction: .milliseconds(100))
        let failure = await failure { [store] in try await store.readText("a") }
        #expect(failure?.reason == .timedOut)
        #expect(failure?.message.contains("The user did not answer") == true)
        #expect(person.wasCancelled)
    }

    @Test func cancelledRead_thatAsksAPerson_takesTheQuestionBack() async throws {
        let person = SlowPerson()
        let store = try protectedStore(person)
        let task = Task { await reason { try await store.readText("a") } }
        await person.wasAsked()
        task.cancel()
        #expect(await task.value == .cancelled)
        #expect(person.wasCancelled)
    }

    private func protectedStore(_ person: SlowPerson) throws -> SecretStore {
        var store = SecretStore(
            service: "s", accessControl: .userPresence, store: MemoryStore(passphrase: "passphrase"))
        try store.save("secret", for: "a")
        store.context = AuthenticationContext { person }
        return store
    }
}

/// The system's clock, which counts how often a task sleeps on it.
private final class CountingClock: Clock {
    private let sleeps = Mutex(0)

    var sleepCount: Int { sleeps.withLock { $0 } }
    var now: ContinuousClock.Instant { .now }
    var minimumResolution: Swift.Duration { ContinuousClock().minimumResolution }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Swift.Duration?) async throws {
        sleeps.withLock { $0 += 1 }
        try await Task.sleep(until: deadline, tolerance: tolerance, clock: .continuous)
    }
}

extension SecretStore {
    fileprivate func readText(_ account: String) async throws(KeychainError) -> String? {
        try await read(String.self, for: account)
    }
}
