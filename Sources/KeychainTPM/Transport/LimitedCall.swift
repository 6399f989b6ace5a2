// SPDX-License-Identifier: Apache-2.0
// Calls of a library that may never return.

#if TPM
    import Dispatch
    import Foundation
    import KeychainEngine
    import SecretMemory

    /// Runs calls on threads of their own, because the libraries of TPMs ignore timeouts: a caller stops waiting when its time is
    /// over, and the thread remains until its call returns.
    enum LimitedCall {
        private enum State<Result> {
            case waiting
            case ended(Result)
            case abandoned
        }

        /// The calls that nobody waits for any more.
        private static let abandoned = Guarded(0)
        private static let abandonedLimit = 8

        /// - Parameter late: Gets an output that came too late, to release it.
        /// - Throws: `timedOut`; `unavailable` if too many earlier calls have not returned yet, or there is no thread.
        static func run<Result: Sendable>(
            within limit: Duration, _ body: @escaping @Sendable () -> Result,
            late: @escaping @Sendable (Result) -> Void
        ) throws(KeychainError) -> Result {
            guard abandoned.withLock({ $0 < abandonedLimit }) else { throw .silentTPM(.unavailable) }
            let (state, ended) = (Guarded(State<Result>.waiting), DispatchSemaphore(value: 0))
            let code = BlockingThread.start {
                // The library writes into sockets, and SIGPIPE would end the process. The signal ends with the thread instead.
                BlockingThread.blockSignals()
                let output = body()
                let isAbandoned = state.withLock { state in
                    if case .abandoned = state { return true }
                    state = .ended(output)
                    return false
                }
                ended.signal()
                guard isAbandoned else { return }
                late(output)
                abandoned.withLock { $0 -= 1 }
            }
            guard code == 0 else {
                throw KeychainError(.unavailable, "The system has no thread for the TPM. Try again.")
            }
            return try wait(state, ended, limit)
        }

        private static func wait<Result>(
            _ state: Guarded<State<Result>>, _ ended: DispatchSemaphore, _ limit: Duration
        ) throws(KeychainError) -> Result {
            _ = ended.wait(timeout: .now() + .milliseconds(Int(limit.milliseconds)))
            let output: Result? = state.withLock { state in
                if case .ended(let output) = state { return output }
                state = .abandoned
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
