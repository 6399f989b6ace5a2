// SPDX-License-Identifier: Apache-2.0
// Secrets as properties, and for views.

import Foundation
import KeychainEngine
import KeychainKit
import KeychainTestSupport
import KeychainTesting
import Observation
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(60)))
struct PropertyTests {
    private struct Session {
        @Secret var token: String?

        init(_ store: SecretStore) { _token = Secret(for: "token", in: store) }
    }

    @Test func property_readsWhatIsSaved() throws {
        let session = Session(SecretStore(service: "s", store: MemoryStore()))
        #expect(session.token == nil)
        try session.$token.save("1")
        #expect(session.token == "1")
        #expect(try session.$token.remove())
        #expect(session.token == nil)
    }

    @Test func property_thatCannotBeRead_isNilAndReadTellsWhy() throws {
        let memory = MemoryStore()
        let session = Session(SecretStore(service: "s", store: memory))
        try session.$token.save("1")
        memory.lockState = .locked
        #expect(session.token == nil)
        #expect(reason { try session.$token.read() } == .locked)
    }

    @Test func property_followed_givesEachValue() async throws {
        let session = Session(SecretStore(service: "s", store: MemoryStore()))
        var values = try await session.$token.values().makeAsyncIterator()
        #expect(try await values.next() == .some(nil))
        try await session.$token.save("1")
        #expect(try await values.next() == "1")
    }

    // MARK: - Views

    /// Ends the pause before a failed read is repeated. The other sleeper is the timer of asynchronous calls.
    private static func endPause(_ clock: TestClock) async {
        await clock.untilSleeping(2)
        clock.advance(by: .seconds(1))
    }

    /// Until it is so, as a view would be drawn again.
    @MainActor
    private static func see(_ isSo: @MainActor () -> Bool) async {
        while !Task.isCancelled {
            let (changes, change) = AsyncStream.makeStream(of: Void.self)
            if withObservationTracking(isSo, onChange: { change.yield() }) { return }
            for await _ in changes { break }
        }
    }

    @MainActor
    @Test func observedSecret_followsItsItem() async throws {
        let memory = MemoryStore()
        let store = SecretStore(service: "s", store: memory)
        let secret = ObservedSecret(String.self, for: "alice", in: store)
        #expect(!secret.isKnown)
        await Self.see { secret.isKnown }
        #expect(secret.value == nil && secret.failure == nil)
        try await store.save("1", for: "alice")
        await Self.see { secret.value == "1" }
        memory.lockState = .locked
        await Self.see { secret.isLocked }
        #expect(secret.value == nil)
        memory.lockState = .unlocked
        await Self.see { secret.value == "1" }
        #expect(secret.failure == nil)
    }

    @MainActor
    @Test func observedSecret_whenTheFirstUnlockIsForgotten_isDropped() async throws {
        let memory = MemoryStore()
        var store = SecretStore(service: "s", store: memory)
        store.accessibility = .afterFirstUnlock
        try await store.save("1", for: "alice")
        memory.lockState = .locked
        let secret = ObservedSecret(String.self, for: "alice", in: store)
        await Self.see { secret.value == "1" }
        memory.lockState = .beforeFirstUnlock
        await Self.see { secret.isLocked }
        #expect(secret.value == nil)
    }

    /// A failure that no change of the store ends.
    @MainActor
    @Test(arguments: [ScriptedStore.Fault.busy, .timedOut, .unavailable, .inputOutput])
    func observedSecret_whoseReadFailedOnce_isReadAgainAfterAPause(fault: ScriptedStore.Fault) async throws {
        let (scripted, clock) = (ScriptedStore(), TestClock())
        var store = SecretStore(service: "s", store: scripted)
        store.clock = clock
        try await store.save("1", for: "alice")
        scripted.fail(fault, on: [.select])
        let secret = ObservedSecret(String.self, for: "alice", in: store)
        await Self.see { secret.failure != nil }
        #expect(secret.isKnown && secret.value == nil)
        await Self.endPause(clock)
        await Self.see { secret.value == "1" }
        #expect(secret.failure == nil)
    }

    /// The clock stands still, so the pause does not end by itself.
    @MainActor
    @Test func observedSecret_thatChangesDuringThePauseAfterAFailure_isReadAtOnce() async throws {
        let (scripted, clock) = (ScriptedStore(), TestClock())
        var store = SecretStore(service: "s", store: scripted)
        store.clock = clock
        try await store.save("1", for: "alice")
        scripted.fail(.busy, on: [.select])
        let secret = ObservedSecret(String.self, for: "alice", in: store)
        await Self.see { secret.failure != nil }
        try await store.save("2", for: "alice")
        await Self.see { secret.value == "2" }
        #expect(secret.value == "2")
    }

    @MainActor
    @Test func observedSecret_thatGoesDuringThePauseAfterAFailure_observesNothing() async throws {
        let (counted, clock) = (CountedStore(), TestClock())
        let scripted = ScriptedStore(over: counted)
        var store = SecretStore(service: "s", store: scripted)
        store.clock = clock
        scripted.fail(.busy, on: [.select])
        var secret: ObservedSecret<String>? = ObservedSecret(for: "alice", in: store)
        if let secret { await Self.see { secret.failure != nil } }
        await clock.untilSleeping(2)
        secret = nil
        await counted.untilNotObserved()
        #expect(counted.observations == 0)
    }

    @MainActor
    @Test func observedSecret_whoseObservationFailedOnce_followsItsItem() async throws {
        let (counted, clock) = (CountedStore(), TestClock())
        counted.failures.withLock { $0 = 1 }
        var store = SecretStore(service: "s", store: counted)
        store.clock = clock
        let secret = ObservedSecret(String.self, for: "alice", in: store)
        await Self.see { secret.failure?.reason == .inputOutput }
        await Self.endPause(clock)
        await Self.see { secret.isKnown && secret.failure == nil }
        try await store.save("1", for: "alice")
        await Self.see { secret.value == "1" }
    }

    @MainActor
    @Test func observedSecret_whoseReadFailed_asksNobodyWhenItIsRepeated() async throws {
        let (scripted, clock) = (ScriptedStore(over: MemoryStore(passphrase: "p")), TestClock())
        let person = Person(passphrase: "p")
        var store = SecretStore(service: "s", accessControl: .userPresence, store: scripted)
        store.clock = clock
        store.context = AuthenticationContext { person }
        try await store.save("1", for: "alice")
        scripted.fail(.timedOut, on: [.select])
        let secret = ObservedSecret(String.self, for: "alice", in: store)
        await Self.see { secret.failure?.reason == .timedOut }
        await Self.endPause(clock)
        await Self.see { secret.failure?.reason == .interactionNotAllowed }
        #expect(person.questions.isEmpty)
    }

    @MainActor
    @Test func observedSecret_thatHasGone_observesNothing() async throws {
        let counted = CountedStore()
        var secret: ObservedSecret<String>? = ObservedSecret(
            for: "alice", in: SecretStore(service: "s", store: counted))
        if let secret { await Self.see { secret.isKnown } }
        #expect(counted.observations == 1)
        secret = nil
        await counted.untilNotObserved()
        #expect(counted.observations == 0)
    }

    @MainActor
    @Test func observedSecret_ofAStoreThatNoticesNothing_saysSo() async throws {
        let store = SecretStore(service: "s", store: ForgetfulStore())
        let secret = ObservedSecret(String.self, for: "alice", in: store)
        await Self.see { secret.isKnown }
        #expect(secret.failure?.reason == .unsupported)
    }
}
