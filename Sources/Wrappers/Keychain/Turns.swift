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

    func inTurn<Result>(_ body: () throws -> Result) throws -> Result {
        let turn = DispatchSemaphore(value: 0)
        wait { turn.signal() }
        turn.wait()
        defer { pass() }
        return try body()
    }

    nonisolated(nonsending) func inTurn<Result>(
        _ body: nonisolated(nonsending) () async throws -> Result
    ) async throws -> Result {
        await withCheckedContinuation { turn in wait { turn.resume() } }
        defer { pass() }
        return try await body()
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
