// SPDX-License-Identifier: Apache-2.0
// One call that a caller waits for, until it is done, times out, or is cancelled.

import KeychainEngine
import SecretMemory

final class Call<Output: Sendable>: WorkerQueue.Job, Expiring {
    typealias Ending = Result<Output, KeychainError>

    private enum Phase {
        case waiting
        case running
        case ended(Ending)

        var isEnded: Bool { if case .ended = self { true } else { false } }
    }

    typealias Body = @Sendable (Query.Questions?) throws(KeychainError) -> Output

    private struct State {
        var phase = Phase.waiting
        var budget: Budget
        var deliver: (@Sendable (Ending) -> Void)?
        /// Released when the call ends, with everything that it captures.
        var body: Body?
        /// The error to end with when the current commit is over, and the time of the next check.
        var ending: (error: KeychainError, nextLook: Duration)?
    }

    /// The interval between checks whether a commit is over. A commit takes as long as the disk needs.
    private static var lookInterval: Duration { .milliseconds(20) }

    private let state: Guarded<State>
    private let workerQueue: WorkerQueue
    private let time: Timekeeper
    private let timeout: Timeout
    private let cancellation = AuthenticationCancellation()
    private let gate = CommitGate()

    init(
        _ workerQueue: WorkerQueue, _ time: Timekeeper, _ timeout: Timeout,
        _ body: @escaping Body
    ) {
        self.workerQueue = workerQueue
        self.time = time
        self.timeout = timeout
        state = Guarded(State(budget: Budget(timeout, at: time.elapsed()), body: body))
    }

    var deadline: Duration { state.withLock { $0.ending?.nextLook ?? $0.budget.end } }

    /// - Parameter deliver: Receives the result once, on any thread.
    func start(_ deliver: @escaping @Sendable (Ending) -> Void) {
        let ending: Ending? = state.withLock { state in
            if case .ended(let ending) = state.phase { return ending }
            state.deliver = deliver
            return nil
        }
        if let ending { return deliver(ending) }
        time.timer.set(for: self)
        workerQueue.add(self)
    }

    /// Starts the call and waits for its result, without blocking a thread. Cancelling the task cancels the call.
    ///
    /// - Parameter isolation: The actor of the caller.
    func ending(isolation: isolated (any Actor)?) async -> Ending {
        await withTaskCancellationHandler {
            // A closure that does not use the parameter runs on a thread of Swift's pool. While these are all busy, the time of
            // a call that has not started would run out.
            _ = isolation
            return await withCheckedContinuation { continuation in
                start { continuation.resume(returning: $0) }
            }
        } onCancel: {
            cancel()
        }
    }

    func run() {
        // The timer may be late, and other calls may have ended before this one.
        guard deadline > time.elapsed() else { return expire() }
        let body: Body? = state.withLock { state in
            guard case .waiting = state.phase else { return nil }
            state.phase = .running
            return state.body
        }
        guard let body else { return }
        let questions = Query.Questions(cancellation: cancellation, gate: gate) { [weak self] isOpen in
            self?.setAsking(isOpen)
        }
        do throws(KeychainError) {
            end(.success(try body(questions)))
        } catch {
            end(.failure(error))
        }
    }

    private func setAsking(_ isAsking: Bool) {
        state.withLock { $0.budget.setAsking(isAsking, at: time.elapsed()) }
        setTimer()
    }

    // MARK: - Ending

    func expire() {
        let (isAsking, ending) = state.withLock { ($0.budget.isAsking, $0.ending) }
        let timedOut: KeychainError =
            isAsking ? .nobodyAnswered(within: timeout.userInteraction) : .timedOut(after: timeout.operation)
        stop(ending?.error ?? timedOut)
    }

    func cancel() {
        stop(.callCancelled)
    }

    /// Ends the call before its change is committed. If the commit has begun, the commit decides the result. Nothing
    /// changes later.
    private func stop(_ error: KeychainError) {
        guard !gate.close(error) else { return end(.failure(error)) }
        state.withLock { $0.ending = (error, time.elapsed() + Self.lookInterval) }
        cancellation.cancel()
        setTimer()
    }

    private func setTimer() {
        time.timer.set(for: self)
        // The call may have ended just now. Then nothing else would clear the timer.
        if state.withLock({ $0.phase.isEnded }) { time.timer.clear(for: self) }
    }

    /// Only the first result counts.
    private func end(_ ending: Ending) {
        let before = state.withLock { state in
            defer {
                if !state.phase.isEnded { state.phase = .ended(ending) }
                (state.deliver, state.body) = (nil, nil)
            }
            return state
        }
        guard !before.phase.isEnded else { return }
        time.timer.clear(for: self)
        if case .waiting = before.phase { workerQueue.remove(self) }
        cancellation.cancel()
        before.deliver?(ending)
    }
}

extension KeychainError {
    fileprivate static func timedOut(after time: Duration) -> KeychainError {
        KeychainError(
            .timedOut,
            "The keychain did not answer within \(time). Changes that were not made by then will not be made. Try again."
        )
    }

    fileprivate static func nobodyAnswered(within time: Duration) -> KeychainError {
        KeychainError(.timedOut, "The user did not answer the question within \(time). Try again.")
    }

    fileprivate static let callCancelled = KeychainError(
        .cancelled, "The program has cancelled the call. Changes that were not made by then will not be made.")
}
