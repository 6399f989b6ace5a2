// SPDX-License-Identifier: Apache-2.0
// Calls of a library that may never return.

#if TPM
    import Dispatch
    import Foundation
    import KeychainEngine
    import SecretMemory

    /// A thread for the calls of one connection, because the libraries of TPMs ignore timeouts: a caller stops waiting when its time
    /// is over, and the thread remains until its call returns. Otherwise it ends with this object.
    ///
    /// All calls of a connection come from the same thread: the kernel ends programs that a module has started when the thread ends
    /// that started them (`PR_SET_PDEATHSIG`).
    final class ConnectionThread: Sendable {
        private enum Outcome<Result> {
            case waiting
            case ended(Result)
            case abandoned
        }

        private struct Work {
            var next: (@Sendable () -> Void)?
            var isOver = false
        }

        /// The calls that nobody waits for any more.
        private static let abandoned = Guarded(0)
        private static let abandonedLimit = 8

        private let work: Guarded<Work>
        private let wake: DispatchSemaphore

        /// - Throws: `unavailable` if too many earlier calls have not returned yet, or there is no thread.
        init() throws(KeychainError) {
            guard Self.abandoned.withLock({ $0 < Self.abandonedLimit }) else { throw .silentTPM(.unavailable) }
            let (work, wake) = (Guarded(Work()), DispatchSemaphore(value: 0))
            (self.work, self.wake) = (work, wake)
            let code = BlockingThread.start {
                // The library writes into sockets, and SIGPIPE would end the process. The signal ends with the thread instead.
                BlockingThread.blockSignals()
                while true {
                    wake.wait()
                    let (next, isOver) = work.withLock { ($0.next.take(), $0.isOver) }
                    next?()
                    if isOver { return }
                }
            }
            guard code == 0 else {
                throw KeychainError(.unavailable, "The system has no thread for the TPM. Try again.")
            }
        }

        deinit {
            work.withLock { $0.isOver = true }
            wake.signal()
        }

        /// Runs one call. After a timeout, the thread takes no other.
        ///
        /// - Parameter late: Gets an output that came too late, to release it.
        /// - Throws: `timedOut`.
        func run<Result: Sendable>(
            within limit: Duration, _ body: @escaping @Sendable () -> Result,
            late: @escaping @Sendable (Result) -> Void
        ) throws(KeychainError) -> Result {
            let (outcome, ended) = (Guarded(Outcome<Result>.waiting), DispatchSemaphore(value: 0))
            work.withLock { work in
                work.next = {
                    let output = body()
                    let isAbandoned = outcome.withLock { outcome in
                        if case .abandoned = outcome { return true }
                        outcome = .ended(output)
                        return false
                    }
                    ended.signal()
                    guard isAbandoned else { return }
                    late(output)
                    Self.abandoned.withLock { $0 -= 1 }
                }
            }
            wake.signal()
            return try Self.wait(outcome, ended, limit)
        }

        private static func wait<Result>(
            _ outcome: Guarded<Outcome<Result>>, _ ended: DispatchSemaphore, _ limit: Duration
        ) throws(KeychainError) -> Result {
            _ = ended.wait(timeout: .now() + .milliseconds(Int(limit.milliseconds)))
            let output: Result? = outcome.withLock { outcome in
                if case .ended(let output) = outcome { return output }
                outcome = .abandoned
                abandoned.withLock { $0 += 1 }
                return nil
            }
            guard let output else { throw .silentTPM(.timedOut) }
            return output
        }
    }

    extension Duration {
        /// At most eleven days, which an `Int32` can hold.
        var milliseconds: Int32 {
            let (seconds, attoseconds) = components
            return Int32(min(max(seconds, 0), 1_000_000) * 1000 + max(attoseconds, 0) / 1_000_000_000_000_000)
        }
    }

    extension KeychainError {
        static func silentTPM(_ reason: Reason) -> KeychainError {
            KeychainError(reason, "The TPM does not answer. If this happens again, restart the machine.")
        }
    }
#endif
