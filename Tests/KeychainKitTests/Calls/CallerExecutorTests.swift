// SPDX-License-Identifier: Apache-2.0
// Asynchronous calls of an actor need no thread of Swift's pool.

import KeychainEngine
import KeychainTestSupport
import Synchronization
import Testing

@testable import KeychainKit

/// Stands for Swift's pool, and counts what runs there.
private final class CountingExecutor: TaskExecutor {
    private let jobs = Atomic(0)
    var count: Int { jobs.load(ordering: .relaxed) }

    func enqueue(_ job: consuming ExecutorJob) {
        jobs.add(1, ordering: .relaxed)
        let job = UnownedJob(job)
        Task.detached { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// While all threads of the pool are busy, the time of a call that begins there would be over before it has begun.
@Suite(.timeLimit(.minutes(60)))
struct CallerExecutorTests {
    private let pool = CountingExecutor()
    private let interrupted = InterruptedStore()

    @Test func executor_isUsedOutsideOfActors() async {
        await withTaskExecutorPreference(pool) { await Task.yield() }
        #expect(pool.count > 0)
    }

    @MainActor
    @Test func callOfAnActor_beginsWithoutAThreadOfThePool() async throws {
        let (store, pool) = (SecretStore(service: "s", store: interrupted), pool)
        let count = Atomic(-1)
        try await withTaskExecutorPreference(pool) { @MainActor () async throws in
            let before = pool.count
            interrupted.interrupt { count.store(pool.count - before, ordering: .relaxed) }
            #expect(try await store.read(String.self, for: "alice") == nil)
        }
        #expect(count.load(ordering: .relaxed) == 0)
    }

    @MainActor
    @Test func changeThatIsThere_isTakenWithoutAThreadOfThePool() async throws {
        let (store, pool) = (SecretStore(service: "s", store: MemoryStore()), pool)
        let changes = try await store.changes(for: "alice")
        try await store.save("1", for: "alice")
        await changes.feed.untilPending()
        await withTaskExecutorPreference(pool) { @MainActor in
            let before = pool.count
            var iterator = changes.makeAsyncIterator()
            #expect(await iterator.next()?.kind == .added)
            #expect(pool.count == before)
        }
    }
}
