// SPDX-License-Identifier: Apache-2.0
// Which closures an observation takes, and where it may go.

import Keychain
import Synchronization
import Testing

import class KeychainEngine.MemoryStore

@Suite("Observations")
struct ObservationTests {
    /// As programs have written them for the original: the closure is for one thread.
    @Test func observation_ofAClassThatIsNotSendable_unregistersThere() {
        final class Registry {
            var observers: [Int: (String?) -> Void] = [:]

            func add(_ number: Int, _ observer: @escaping (String?) -> Void) -> Observation {
                observers[number] = observer
                return Observation { [weak self] in self?.observers[number] = nil }
            }
        }
        let registry = Registry()
        let observation = registry.add(1) { _ in }
        _ = registry.add(2) { _ in }
        observation.stopObserving()
        #expect(registry.observers.keys.sorted() == [2])
    }

    @MainActor @Test func observation_madeOnTheMainActor_changesWhatIsThere() {
        var count = 0
        let unregister: () -> Void = { count += 1 }
        let observation = Observation(unregister: unregister)
        observation.stopObserving()
        #expect(count == 1)
    }

    @Test func observation_handedOverToAnotherTask_stops() async throws {
        let store = ObservedValueStore(valueStore: ValueKeychainStore(accountName: "a").using(MemoryStore()))
        let isTold = Mutex(false)
        let observation = store.observeChanges { _ in isTold.withLock { $0 = true } }
        await Task.detached { observation.stopObserving() }.value
        try store.set("1")
        #expect(isTold.withLock { $0 } == false)
    }
}
