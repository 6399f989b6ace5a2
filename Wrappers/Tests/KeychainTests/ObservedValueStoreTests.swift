// SPDX-License-Identifier: Apache-2.0
// Which observers receive values, when, and where.

import Foundation
import Keychain
@_spi(Wrappers) import KeychainKit
import Synchronization
import Testing

/// Records the received values, from any thread.
private final class Notes: Sendable {
    private let values = Mutex<[String?]>([])

    var all: [String?] { values.withLock { $0 } }

    func add(_ value: String?) { values.withLock { $0.append(value) } }
}

/// A store that a program implements.
private final class Plain: ValueStore, Sendable {
    private let value = Mutex<String?>(nil)

    func get() throws -> String? { value.withLock { $0 } }

    func set(_ value: String?) throws {
        if value == "refused" { throw CocoaError(.fileWriteUnknown) }
        self.value.withLock { $0 = value }
    }
}

@Suite("Observers", .timeLimit(.minutes(60)))
struct ObservedValueStoreTests {
    private let store = ObservedValueStore(
        valueStore: ValueKeychainStore(accountName: "a").using(MemoryStore()))

    @Test func observer_isToldBeforeSetReturnsUntilItStops() throws {
        var observed: String? = ""
        let observation = store.observeChanges { value in
            observed = value
        }
        try store.set("bananas")
        #expect(observed == "bananas")
        try store.set(nil)
        #expect(observed == nil)
        observation.stopObserving()
        observation.stopObserving()
        try store.set("oranges")
        #expect(try store.get() == "oranges" && observed == nil)
    }

    @Test func synchronousSetting_tellsBeforeItReturns() throws {
        let notes = Notes()
        store.observeChanges { notes.add($0) }
        try store.set("1")
        #expect(try notes.all == ["1"] && store.get() == "1")
    }

    /// The original holds its lock while it calls observers: one that uses the store waits for ever.
    @Test func observer_mayReadAndSetTheStore() throws {
        let notes = Notes()
        let store = store
        store.observeChanges { value in
            notes.add(value)
            do {
                if value == "1" { try store.set("2") }
                notes.add(try store.get())
            } catch {
                notes.add("\(error)")
            }
        }
        let second = Notes()
        store.observeChanges { second.add($0) }
        try store.set("1")
        #expect(notes.all == ["1", "2", "2", "2"] && second.all == ["1", "2"])
    }

    @Test func observer_mayStopAndBeginInItsCallback() throws {
        let notes = Notes()
        let store = store
        var observation: Observation?
        observation = store.observeChanges { value in
            notes.add(value)
            observation?.stopObserving()
            store.observeChanges { notes.add($0.map { "next: " + $0 }) }
        }
        try store.set("1")
        try store.set("2")
        #expect(notes.all == ["1", "next: 2"])
    }

    @Test func value_thatIsNotSet_isNotTold() throws {
        let store = ObservedValueStore(valueStore: Plain())
        let notes = Notes()
        store.observeChanges { notes.add($0) }
        #expect(throws: CocoaError.self) { try store.set("refused") }
        try store.set("1")
        #expect(try store.get() == "1" && notes.all == ["1"])
    }

    @Test func storeOverAnObservedStore_tellsBoth() throws {
        let outer = ObservedValueStore(valueStore: store)
        let notes = Notes()
        store.observeChanges { _ in notes.add("inner") }
        outer.observeChanges { _ in notes.add("outer") }
        try outer.set("1")
        #expect(notes.all == ["inner", "outer"])
    }

    /// Each hears of all values in one order, which ends with what is stored.
    @Test func observers_ofManyTasks_hearOneOrder() async throws {
        let store = ObservedValueStore(valueStore: Plain())
        var (first, second): ([String?], [String?]) = ([], [])
        let isCalled = Mutex(false)
        store.observeChanges { value in
            #expect(isCalled.withLock { old in (old, old = true).0 } == false)
            first.append(value)
            isCalled.withLock { $0 = false }
        }
        store.observeChanges { second.append($0) }
        await withTaskGroup(of: Void.self) { group in
            for number in 1...100 {
                group.addTask {
                    do { try store.set("\(number)") } catch { Issue.record(error) }
                }
            }
        }
        #expect(first == second && Set(first).count == 100)
        #expect(try store.get() == first.last)
    }

    @Test func observer_stoppedAndBegunByManyThreads_isSafe() {
        let store = store
        DispatchQueue.concurrentPerform(iterations: 50) { number in
            let notes = Notes()
            let observation = store.observeChanges { notes.add($0) }
            do { try store.set("\(number)") } catch { Issue.record(error) }
            observation.stopObserving()
        }
        #expect(throws: Never.self) { try store.get() }
    }

    // MARK: - Actors

    @MainActor @Test func observerOnTheMainActor_isCalledThere() async throws {
        var observed: [String?] = []
        let store = store
        let all = AsyncStream<Void>.makeStream()
        store.observeChanges { value in
            MainActor.assertIsolated()
            observed.append(value)
            if observed.count == 3 { all.continuation.finish() }
        }
        try store.set("1")
        #expect(observed == ["1"])
        try store.set("2")
        try await Task.detached { try store.set("3") }.value
        for await _ in all.stream {}
        #expect(observed == ["1", "2", "3"])
    }

    @Test func actor_thatObservesItsOwnStore_isLetGo() async throws {
        actor Listener {
            let store: ObservedValueStore

            init(_ store: ObservedValueStore) { self.store = store }

            func listen(_ notes: Notes) { store.observeChanges { notes.add($0) } }
        }
        let notes = Notes()
        weak var gone: Listener?
        do {
            let listener = Listener(store)
            await listener.listen(notes)
            gone = listener
        }
        #expect(gone == nil)
        try store.set("1")
        #expect(notes.all == ["1"])
    }

    /// The call stands in the actor's queue before `set` returns.
    @Test func actor_thatIsAskedAfterASetting_hasBeenTold() async throws {
        actor Listener {
            var heard: [String?] = []

            func listen(to store: ObservedValueStore) { store.observeChanges { self.heard.append($0) } }
        }
        for number in 1...100 {
            let listener = Listener()
            await listener.listen(to: store)
            try store.set("\(number)")
            #expect(await listener.heard == ["\(number)"])
        }
    }

    @Test func observedStore_asAnyValueStore_tells() throws {
        let notes = Notes()
        store.observeChanges { notes.add($0) }
        let unknown: any ValueStore = store
        try unknown.set("1")
        try ["2", nil].forEach(store.set)
        #expect(notes.all == ["1", "2", nil])
    }

    @Test func observerOnAnActor_isCalledThere() async throws {
        actor Listener {
            var heard: [String?] = []

            func listen(to store: ObservedValueStore, _ done: AsyncStream<Void>.Continuation) {
                store.observeChanges { value in
                    self.assertIsolated()
                    self.heard.append(value)
                    done.finish()
                }
            }
        }
        let listener = Listener()
        let all = AsyncStream<Void>.makeStream()
        await listener.listen(to: store, all.continuation)
        try store.set("1")
        for await _ in all.stream {}
        #expect(await listener.heard == ["1"])
    }
}
