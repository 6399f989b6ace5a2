// SPDX-License-Identifier: Apache-2.0
// One call that somebody waits for, until it is done, its time is up, or nobody wants it any more.

import KeychainEngine
import Synchronization

final class Call<Output: Sendable>: Lane.Job, Expiring {
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
        /// Dropped when the call ends, with all that it holds.
        var body: Body?
        /// Why the call is to end once the commit that has begun is over, and when that is looked at again.
        var ending: (error: KeychainError, nextLook: Duration)?
    }

    /// How long after a commit was met it is looked at again whether the call can end. A commit takes as long as the disk.
    private static var lookInterval: Duration { .milliseconds(20) }

    private let state: Mutex<State>
    private let lane: Lane
    private let clock: KeychainClock
    private let length: Deadline
    private let cancellation = AuthenticationCancellation()
    private let gate = CommitGate()

    init(
        _ lane: Lane, _ clock: KeychainClock, _ deadline: Deadline,
        _ body: @escaping Body
    ) {
        self.lane = lane
        self.clock = clock
        length = deadline
        state = Mutex(State(budget: Budget(deadline, at: clock.elapsed()), body: body))
    }

    var deadline: Duration { state.withLock { $0.ending?.nextLook ?? $0.budget.end } }

    /// - Parameter deliver: Gets the ending, once, on whatever thread.
    func start(_ deliver: @escaping @Sendable (Ending) -> Void) {
        let ending: Ending? = state.withLock { state in
            if case .ended(let ending) = state.phase { return ending }
            state.deliver = deliver
            return nil
        }
        if let ending { return deliver(ending) }
        clock.alarm.set(for: self)
        lane.add(self)
    }

    func run() {
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
        state.withLock { $0.budget.setAsking(isAsking, at: clock.elapsed()) }
        setAlarm()
    }

    // MARK: - Ending

    /// For a caller that waits on a thread of its own, where the alarm may be waiting for that very thread.
    func expireIfDue() {
        if deadline <= clock.elapsed() { expire() }
    }

    func expire() {
        let (isAsking, ending) = state.withLock { ($0.budget.isAsking, $0.ending) }
        let timeout: KeychainError =
            isAsking ? .nobodyAnswered(within: length.asking) : .timedOut(after: length.silent)
        stop(ending?.error ?? timeout)
    }

    func cancel() {
        stop(.callCancelled)
    }

    /// Ends the call before its change, or leaves the ending to the commit that has begun. Nothing is changed later.
    private func stop(_ error: KeychainError) {
        guard !gate.close(error) else { return end(.failure(error)) }
        state.withLock { $0.ending = (error, clock.elapsed() + Self.lookInterval) }
        cancellation.cancel()
        setAlarm()
    }

    private func setAlarm() {
        clock.alarm.set(for: self)
        // It may have ended just now, and then nobody would clear the alarm.
        if state.withLock({ $0.phase.isEnded }) { clock.alarm.clear(for: self) }
    }

    /// The first ending counts.
    private func end(_ ending: Ending) {
        let before = state.withLock { state in
            defer {
                if !state.phase.isEnded { state.phase = .ended(ending) }
                (state.deliver, state.body) = (nil, nil)
            }
            return state
        }
        guard !before.phase.isEnded else { return }
        clock.alarm.clear(for: self)
        if case .waiting = before.phase { lane.remove(self) }
        cancellation.cancel()
        before.deliver?(ending)
    }
}

extension KeychainError {
    fileprivate static func timedOut(after time: Duration) -> KeychainError {
        KeychainError(
            .timedOut,
            "The keychain did not answer within \(time). What it had not done by then will not be done. Try again.")
    }

    fileprivate static func nobodyAnswered(within time: Duration) -> KeychainError {
        KeychainError(.timedOut, "Nobody answered the question for the user within \(time). Try again.")
    }

    fileprivate static let callCancelled = KeychainError(
        .cancelled, "The program has cancelled the call. What the keychain had not done by then will not be done.")
}
