// SPDX-License-Identifier: Apache-2.0
// A keychain that does not answer, and callers that do not wait for ever.

import Foundation
import KeychainEngine
import KeychainKit
import SecretMemory
import Synchronization
import Testing

@Suite("Deadlines")
struct DeadlineTests {
    /// In a process of its own, so that it is nobody else's waiting that is measured.
    @Test func thousandReads_ofAStoreThatNeverAnswers_timeOutInTimeAndLeakNothing() throws {
        let lines = try SharedVault().run("silent", "1000", "200").lines
        let found = Dictionary(
            uniqueKeysWithValues: lines.map { line in
                let words = line.split(separator: " ")
                return (String(words[0]), Double(words[1]) ?? .nan)
            })
        #expect(found["timed-out"] == 1000)
        #expect(try #require(found["milliseconds"]) < 1000)
        #expect(try #require(found["ticks"]) > 1000, "other tasks go on")
        #expect(try #require(found["blocked"]) <= 8, "few threads wait")
        #expect(try #require(found["threads-more"]) <= 1)
        // Of five thousand calls; the allocator keeps some for itself, the more the busier the machine is.
        #expect(try #require(found["kilobytes-more"]) < 8192)
    }

    @Test func store_thatNobodyUsesAnyMore_goesWithItsCalls() async throws {
        weak var gone: SilentStore?
        do {
            let silent = SilentStore()
            gone = silent
            var store = SecretStore(service: "s", store: silent)
            store.deadline = Deadline(silent: .milliseconds(50))
            for _ in 0..<20 {
                let result = await reason { [store] in try await store.readText("a") }
                #expect(result == .timedOut)
            }
            silent.release()
        }
        // The threads let go of it when they find nothing more to do.
        let end = ContinuousClock.now + .seconds(10)
        while gone != nil, ContinuousClock.now < end { await Task.yield() }
        #expect(gone == nil)
    }

    @Test func read_afterTheStoreAnswersAgain_works() async throws {
        let silent = SilentStore()
        var store = SecretStore(service: "s", store: silent)
        store.deadline = Deadline(silent: .milliseconds(50))
        for _ in 0..<20 {
            let result = await reason { [store] in try await store.readText("a") }
            #expect(result == .timedOut)
        }
        silent.release()
        store.deadline = nil
        try await store.save("x", for: "a")
        #expect(try await store.readText("a") == "x")
    }

    @Test func synchronousRead_withADeadline_timesOut() throws {
        let silent = SilentStore()
        defer { silent.release() }
        var store = SecretStore(service: "s", store: silent)
        store.deadline = Deadline(silent: .milliseconds(100))
        let result = reason { try store.read(String.self, for: "a") }
        #expect(result == .timedOut)
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(-1), .zero, .seconds(10_000_000_000)])
    func deadline_ofAnyLength_endsTheCall(length: Duration) async throws {
        let silent = SilentStore()
        var store = SecretStore(service: "s", store: silent)
        let sleeps = Mutex(0)
        store.clock = KeychainClock(
            now: { Date() }, elapsed: KeychainClock.system.elapsed,
            sleep: {
                sleeps.withLock { $0 += 1 }
                try await Task.sleep(for: $0)
            })
        store.deadline = Deadline(silent: length)
        let reading = Task { [store] in await reason { try await store.readText("a") } }
        if length <= .zero {
            #expect(await reading.value == .timedOut)
        } else {
            while silent.waitingCount == 0 { await Task.yield() }
            for _ in 0..<1000 { await Task.yield() }
            silent.release()
            #expect(await reading.value == nil)
            #expect(sleeps.withLock { $0 } < 10)
        }
        silent.release()
    }

    @Test func synchronousCalls_withADeadlineBeyondCounting_end() throws {
        var store = SecretStore(service: "s", store: MemoryStore())
        store.deadline = Deadline(silent: .seconds(1e19), asking: .seconds(1e19))
        try store.update(Int.self, for: "n") { $0 = 1 }
        #expect(try store.read(Int.self, for: "n") == 1)
    }

    @Test func cancelledRead_ofASilentStore_endsAtOnce() async throws {
        let silent = SilentStore()
        defer { silent.release() }
        var store = SecretStore(service: "s", store: silent)
        // A busy machine may take longer than usual to get to the cancelling.
        store.deadline = Deadline(silent: .seconds(600))
        let task = Task { [store] in await reason { try await store.readText("a") } }
        while silent.waitingCount == 0 { await Task.yield() }
        task.cancel()
        #expect(await task.value == .cancelled)
    }

    @Test func read_inATaskThatIsCancelledAlready_doesNotReachTheStore() async throws {
        let silent = SilentStore()
        defer { silent.release() }
        let store = SecretStore(service: "s", store: silent)
        let result = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await reason { try await store.readText("a") }
        }.value
        #expect(result == .cancelled)
        #expect(silent.waitingCount == 0)
    }

    // MARK: - A person

    @Test func timeOfAPerson_isNotTimeOfTheKeychain() async throws {
        let person = Person()
        var store = try protectedStore(person)
        store.deadline = Deadline(silent: .milliseconds(100), asking: .seconds(30))
        let reading = Task { [store] in try await store.readText("a") }
        await person.isAsked()
        let end = ContinuousClock.now + .milliseconds(300)
        while ContinuousClock.now < end { await Task.yield() }
        person.answer("passphrase")
        #expect(try await reading.value == "secret")
    }

    @Test func person_whoDoesNotAnswer_isAskedNoLonger() async throws {
        let person = Person()
        var store = try protectedStore(person)
        store.deadline = Deadline(silent: .seconds(30), asking: .milliseconds(100))
        let failure = await failure { [store] in try await store.readText("a") }
        #expect(failure?.reason == .timedOut)
        #expect(failure?.message.contains("Nobody answered") == true)
        #expect(person.wasCancelled)
    }

    @Test func cancelledRead_thatAsksAPerson_takesTheQuestionBack() async throws {
        let person = Person()
        let store = try protectedStore(person)
        let task = Task { await reason { try await store.readText("a") } }
        await person.isAsked()
        task.cancel()
        #expect(await task.value == .cancelled)
        #expect(person.wasCancelled)
    }

    private func protectedStore(_ person: Person) throws -> SecretStore {
        var store = SecretStore(
            service: "s", accessControl: .userPresence, store: MemoryStore(passphrase: "passphrase"))
        try store.save("secret", for: "a")
        store.context = AuthenticationContext { person }
        return store
    }
}

/// Somebody who answers when the test says so.
private final class Person: Authenticator {
    let methods: Set<AuthenticationMethod> = [.passphrase]
    private let answered = DispatchSemaphore(value: 0)
    private let state = Mutex(State())

    private struct State {
        var isAsked = false
        var wasCancelled = false
        var answer: String?
    }

    var wasCancelled: Bool { state.withLock { $0.wasCancelled } }

    func isAsked() async {
        while !state.withLock({ $0.isAsked }) { await Task.yield() }
    }

    func answer(_ text: String) {
        state.withLock { $0.answer = text }
        answered.signal()
    }

    func ask(_ question: AuthenticationQuestion) throws(KeychainError) -> AuthenticationAnswer {
        state.withLock { $0.isAsked = true }
        let registration = question.cancellation.onCancel { [self] in
            state.withLock { $0.wasCancelled = true }
            answered.signal()
        }
        answered.wait()
        withExtendedLifetime(registration) {}
        guard let answer = state.withLock({ $0.answer }) else {
            throw KeychainError(.cancelled, "The question was taken back.")
        }
        return .secret(Array(answer.utf8).withUnsafeBytes { SecretBytes(copying: $0) })
    }
}

extension SecretStore {
    fileprivate func readText(_ account: String) async throws(KeychainError) -> String? {
        try await read(String.self, for: account)
    }
}
