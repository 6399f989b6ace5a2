// SPDX-License-Identifier: Apache-2.0
// Everything that waits for a new state, and an exchange with an end.

import KeychainEngine
import SecretMemory

/// Sequences of states.
struct SyncListeners {
    private var signals: [Int: AsyncStream<Void>.Continuation] = [:]
    private var count = 0

    mutating func add(_ signal: AsyncStream<Void>.Continuation) -> Int {
        count += 1
        signals[count] = signal
        return count
    }

    mutating func remove(_ number: Int) { signals[number] = nil }

    /// Makes all of them look again.
    func signal() { for signal in signals.values { signal.yield() } }
}

/// An exchange of which the caller gets what was done when its time is up. A carrier that does not answer then holds only the rest of it.
final class TimedExchange: Sendable {
    typealias Outcome = Result<SyncReport, KeychainError>

    private let member: RingMember
    private let timeout: Duration
    private let clock: any Clock<Duration>
    private let progress = Guarded(ExchangeReport())
    private let caller = Guarded<CheckedContinuation<Outcome, Never>?>(nil)

    init(_ member: RingMember, _ timeout: Duration, _ clock: any Clock<Duration>) {
        (self.member, self.timeout, self.clock) = (member, timeout.bounded, clock)
    }

    func report() async throws(KeychainError) -> SyncReport {
        let exchange = Task {
            do throws(KeychainError) {
                // The caller has its answer before the wait for another process ends.
                let report = try await member.exchange(timeout: timeout + .seconds(1)) { report in
                    self.progress.withLock { $0 = report }
                }
                answer(.success(SyncReport(report)))
            } catch {
                answer(.failure(error))
            }
        }
        let limit = Task {
            do { try await clock.sleep(for: timeout) } catch { return }
            exchange.cancel()
            answer(.success(SyncReport(progress.withLock { $0 }, isComplete: false)))
        }
        defer { limit.cancel() }
        let outcome: Outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { wait($0) }
        } onCancel: {
            exchange.cancel()
            answer(.failure(.cancelledExchange))
        }
        return try outcome.get()
    }

    /// The answer that came before anybody waited for it.
    private let early = Guarded<Outcome?>(nil)

    private func wait(_ continuation: CheckedContinuation<Outcome, Never>) {
        let outcome = early.withLock { early in
            if early == nil { caller.withLock { $0 = continuation } }
            return early
        }
        if let outcome { continuation.resume(returning: outcome) }
    }

    /// Only the first one counts.
    private func answer(_ outcome: Outcome) {
        let continuation = early.withLock { early -> CheckedContinuation<Outcome, Never>? in
            guard early == nil else { return nil }
            early = outcome
            return caller.withLock { $0 }
        }
        continuation?.resume(returning: outcome)
    }
}
