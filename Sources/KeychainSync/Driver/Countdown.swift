// SPDX-License-Identifier: Apache-2.0
// The time that a call has, and asynchronous steps that its thread waits for.

import Dispatch
import KeychainEngine
import SecretMemory

/// Counts down from when it is made. A step that is running when the time is over is cancelled, and not waited for.
final class Countdown: Sendable {
    private struct State {
        var isOver = false
        /// Ends the wait for the present step.
        var stop: (@Sendable () -> Void)?
    }

    private let state: Guarded<State>
    private let timer: Task<Void, Never>

    init(_ limit: Duration, _ clock: any Clock<Duration>) {
        let (state, limit) = (Guarded(State()), limit.bounded)
        self.state = state
        timer = Task {
            do { try await clock.sleep(for: limit) } catch { return }
            let stop = state.withLock { state in
                state.isOver = true
                return state.stop
            }
            stop?()
        }
    }

    deinit { timer.cancel() }

    var isOver: Bool { state.withLock { $0.isOver } }

    /// Runs an asynchronous step while this thread waits. Call it on a thread that may wait.
    ///
    /// - Returns: `nil` if the time was over first. What the step holds is released when it ends.
    func run<Output: Sendable>(
        _ step: @escaping @Sendable () async throws(KeychainError) -> Output
    ) throws(KeychainError) -> Output? {
        let (ended, outcome) = (DispatchSemaphore(value: 0), Guarded<Result<Output, KeychainError>?>(nil))
        let task = Task {
            let result: Result<Output, KeychainError>
            do throws(KeychainError) { result = .success(try await step()) } catch { result = .failure(error) }
            outcome.withLock { $0 = result }
            ended.signal()
        }
        let isInTime = state.withLock { state in
            if !state.isOver {
                state.stop = {
                    task.cancel()
                    ended.signal()
                }
            }
            return !state.isOver
        }
        guard isInTime else {
            task.cancel()
            return nil
        }
        ended.wait()
        let wasStopped = state.withLock { state in
            state.stop = nil
            return state.isOver
        }
        switch outcome.withLock({ $0 }) {
        case .success(let output): return output
        // It fails because it was cancelled.
        case .failure(let error): if wasStopped { return nil } else { throw error }
        case nil: return nil
        }
    }
}
