// SPDX-License-Identifier: Apache-2.0
// A lock for tasks, in the order in which they ask.

#if LGTVControl
    import Synchronization

    /// A lock that tasks take, pass on, and wait for without blocking a thread.
    final class Turns: Sendable {
        private struct State {
            var isTaken = false
            var tickets = 0
            var waiting: [(ticket: Int, continuation: CheckedContinuation<Void, any Error>)] = []
        }

        private let state = Mutex(State())

        /// - Throws: `CancellationError` if the task is cancelled meanwhile.
        nonisolated(nonsending) func take() async throws {
            let ticket = state.withLock { state in
                state.tickets += 1
                return state.tickets
            }
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    let answer: Result<Void, any Error>? = state.withLock { state in
                        if Task.isCancelled { return .failure(CancellationError()) }
                        if state.isTaken {
                            state.waiting.append((ticket, continuation))
                            return nil
                        }
                        state.isTaken = true
                        return .success(())
                    }
                    if let answer { continuation.resume(with: answer) }
                }
            } onCancel: {
                leave(ticket)
            }
        }

        func give() {
            let next = state.withLock { state in
                state.isTaken = !state.waiting.isEmpty
                return state.waiting.isEmpty ? nil : state.waiting.removeFirst().continuation
            }
            next?.resume()
        }

        private func leave(_ ticket: Int) {
            let waiter: CheckedContinuation<Void, any Error>? = state.withLock { state in
                guard let index = state.waiting.firstIndex(where: { $0.ticket == ticket }) else { return nil }
                return state.waiting.remove(at: index).continuation
            }
            waiter?.resume(throwing: CancellationError())
        }
    }
#endif
