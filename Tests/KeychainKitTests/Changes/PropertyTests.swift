// SPDX-License-Identifier: Apache-2.0
// Secrets as properties, and for views.

import Foundation
import KeychainEngine
import KeychainKit
import Observation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct PropertyTests {
    private struct Session {
        @Secret var token: String?

        init(_ store: SecretStore) { _token = Secret("token", in: store) }
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

    /// Until it is so, as a view would be drawn anew.
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

    @MainActor
    @Test func observedSecret_thatHasGone_observesNothing() async throws {
        let counted = CountedStore()
        var secret: ObservedSecret<String>? = ObservedSecret(
            for: "alice", in: SecretStore(service: "s", store: counted))
        if let secret { await Self.see { secret.isKnown } }
        #expect(counted.observations == 1)
        secret = nil
        while counted.observations > 0, !Task.isCancelled { await Task.yield() }
        #expect(counted.observations == 0)
    }

    @MainActor
    @Test func observedSecret_ofAStoreThatNoticesNothing_saysSo() async throws {
        let silent = SilentStore()
        let secret = ObservedSecret(String.self, for: "alice", in: SecretStore(service: "s", store: silent))
        await Self.see { secret.isKnown }
        #expect(secret.failure?.reason == .unsupported)
    }
}
