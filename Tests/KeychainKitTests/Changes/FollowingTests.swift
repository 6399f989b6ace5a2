// SPDX-License-Identifier: Apache-2.0
// Waiting for changes and for values: beginning, ending, and what may be done meanwhile.

import Foundation
import KeychainEngine
import KeychainKit
import KeychainTestSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(60)))
struct FollowingTests {
    @Test func change_madeBeforeAnybodyWaits_comes() async throws {
        let store = SecretStore(service: "s", store: MemoryStore())
        let changes = try await store.changes(for: "alice")
        try await store.save("1", for: "alice")
        #expect(await changes.next(1) == ["added alice"])
    }

    @Test func reader_thatAsksForChangesFirst_missesNothing() async throws {
        let vault = try SharedVault()
        let (steps, store) = (200, vault.store)
        let program = try vault.start(["burst", "\(steps)", "1"])
        // Anywhere in the midst of it.
        try await yieldUntil("The first value") { try await store.read(String.self, for: "item-0") != nil }
        let changes = try await store.changes(for: "item-0")
        var value = try await store.read(String.self, for: "item-0")
        var iterator = changes.makeAsyncIterator()
        while value != "value-\(steps - 1)", await iterator.next() != nil {
            value = try await store.read(String.self, for: "item-0")
        }
        #expect(value == "value-\(steps - 1)")
        #expect(try program.finish().lines.count == steps)
    }

    @Test func cancelledTask_endsWaitingAndObserving() async throws {
        let counted = CountedStore()
        let store = SecretStore(service: "s", store: counted)
        let changes = try await store.changes()
        #expect(counted.observations == 1)
        let waiting = Task { await changes.next(1) }
        await Task.yield()
        waiting.cancel()
        #expect(await waiting.value == [])
        #expect(counted.observations == 0)
        #expect(await changes.next(1) == [])
    }

    @Test func changes_thatNobodyHoldsAnyMore_areNotObserved() async throws {
        let counted = CountedStore()
        let store = SecretStore(service: "s", store: counted)
        do {
            let changes = try await store.changes()
            try await store.save("1", for: "alice")
            #expect(await changes.next(1) == ["added alice"])
            #expect(counted.observations == 1)
        }
        await counted.untilNotObserved()
        #expect(counted.observations == 0)
    }

    @Test func loop_thatWritesAndReads_isNotInItsOwnWay() async throws {
        let vault = try SharedVault()
        let store = vault.store
        let changes = try await store.changes()
        try await store.save("0", for: "item")
        var count = 0
        for await change in changes {
            count += 1
            let value = try await store.read(String.self, for: "item")
            if value == "10" { break }
            #expect(change.item?.account == "item")
            try await store.save("\(count)", for: "item")
        }
        #expect(try await store.read(String.self, for: "item") == "10")
    }

    @Test func event_describedMirroredAndDumped_showsNoValueAndNoName() async throws {
        let store = SecretStore(service: "the-service", store: MemoryStore())
        let changes = try await store.changes()
        try await store.save("the-value", for: "the-account")
        var text = ""
        for await change in changes {
            dump(change, to: &text)
            text += "\(change) \(String(reflecting: change))"
            break
        }
        dump(Secret<String>(for: "the-account", in: store), to: &text)
        #expect(!text.contains("the-") && text.contains("added"), "\(text)")
    }

    // MARK: - Values

    @Test func values_beginWithTheOneThatIsThere() async throws {
        let store = SecretStore(service: "s", store: MemoryStore())
        try await store.save("1", for: "alice")
        var values = try await store.values(String.self, for: "alice").makeAsyncIterator()
        #expect(try await values.next() == "1")
        try await store.save("2", for: "alice")
        #expect(try await values.next() == "2")
        try await store.remove(for: "alice")
        #expect(try await values.next() == .some(nil))
        try await store.save("3", for: "alice")
        #expect(try await values.next() == "3")
    }

    @Test func values_changedBeforeTheFirstIsTaken_areTheLast() async throws {
        let store = SecretStore(service: "s", store: MemoryStore())
        var values = try await store.values(Int.self, for: "counter").makeAsyncIterator()
        for number in 0...100 { try await store.save(number, for: "counter") }
        #expect(try await values.next() == 100)
        try await store.save(101, for: "counter")
        // The changes of before are the value that was read already.
        #expect(try await values.next() == 101)
    }

    @Test func values_ofAnotherType_failAsSuch() async throws {
        let store = SecretStore(service: "s", store: MemoryStore())
        try await store.save("text", for: "alice")
        let values = try await store.values(Int.self, for: "alice")
        let failed = await reason {
            for try await _ in values {}
            return nil
        }
        #expect(failed == .typeMismatch)
    }

    @Test func values_afterAFailure_areOverAndNotObserved() async throws {
        let counted = CountedStore()
        let store = SecretStore(service: "s", store: counted)
        try await store.save("text", for: "alice")
        var values = try await store.values(Int.self, for: "alice").makeAsyncIterator()
        let failed = await reason { try await values.next() as Any? }
        #expect(failed == .typeMismatch)
        #expect(counted.observations == 0)
        try await store.save(1, for: "alice")
        #expect(try await values.next() == .none)
    }

    @Test func values_lockedAndUnlocked_areTheSameAndDoNotComeAgain() async throws {
        let memory = MemoryStore()
        let store = SecretStore(service: "s", store: memory)
        try await store.save("1", for: "alice")
        let seen = Mutex<[String?]>([])
        let values = try await store.values(String.self, for: "alice")
        let following = Task { for try await value in values { seen.withLock { $0.append(value) } } }
        try await yieldUntil("The first value") { !seen.withLock { $0.isEmpty } }
        let changes = try await store.changes()
        for state in [LockState.locked, .unlocked] {
            memory.lockState = state
            #expect(await changes.next(1) == [state == .locked ? "locked" : "unlocked"])
            for _ in 0..<100 { await Task.yield() }
        }
        try await store.save("2", for: "alice")
        try await yieldUntil("The second value") { seen.withLock { $0.last == "2" } }
        following.cancel()
        #expect(seen.withLock { $0 } == ["1", "2"])
    }

    @Test func values_whileLocked_waitForUnlocking() async throws {
        let memory = MemoryStore()
        let store = SecretStore(service: "s", store: memory)
        try await store.save("1", for: "alice")
        memory.lockState = .locked
        var values = try await store.values(String.self, for: "alice").makeAsyncIterator()
        Thread.detachNewThread { memory.lockState = .unlocked }
        #expect(try await values.next() == "1")
    }

    @Test func values_whoseTaskIsCancelled_endWithoutFailure() async throws {
        let counted = CountedStore()
        let values = try await SecretStore(service: "s", store: counted).values(String.self, for: "alice")
        let following = Task {
            var seen: [String?] = []
            for try await value in values { seen.append(value) }
            return seen
        }
        try await yieldUntil("An observation") { counted.observations > 0 }
        following.cancel()
        #expect(try await following.value.count <= 1)
        #expect(counted.observations == 0)
    }

    @Test func values_ofAnotherProcess_come() async throws {
        let vault = try SharedVault()
        var values = try await vault.store.values(String.self, for: "alice").makeAsyncIterator()
        #expect(try await values.next() == .some(nil))
        #expect(try await vault.lines("save", "alice", "1") == ["done"])
        #expect(try await values.next() == "1")
    }
}
