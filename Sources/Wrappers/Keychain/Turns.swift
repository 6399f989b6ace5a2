// SPDX-License-Identifier: Apache-2.0
// One after another, for threads and tasks alike.

import Dispatch
import Synchronization

/// Lets one at a time do something, in the order in which they came. Tasks wait without a thread.
final class Turns: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())
    private let thread = OwnThread()

    func inTurn<Result>(_ body: () throws -> Result) throws -> Result {
        let turn = DispatchSemaphore(value: 0)
        wait { turn.signal() }
        turn.wait()
        defer { pass() }
        return try body()
    }

    /// - Parameter body: Runs on a thread of this object, and so does what follows it: whoever waits for a turn on the main
    ///   thread, or on one of the tasks' own, never waits for something that needs that thread.
    nonisolated(nonsending) func inTurn<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let task = Task(executorPreference: thread) {
            await withCheckedContinuation { turn in self.wait { turn.resume() } }
            defer { self.pass() }
            return try await body()
        }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// - Parameter begin: Called once it is the caller's turn.
    private func wait(_ begin: @escaping @Sendable () -> Void) {
        let isFree = state.withLock { state in
            if state.isTaken { state.waiting.append(begin) }
            defer { state.isTaken = true }
            return !state.isTaken
        }
        if isFree { begin() }
    }

    private func pass() {
        let next: (@Sendable () -> Void)? = state.withLock { state in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.isTaken = false
            return nil
        }
        next?()
    }
}

/// Where tasks run while they have their turn.
private final class OwnThread: TaskExecutor {
    private let queue = DispatchQueue(label: "ObservedValueStore")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
