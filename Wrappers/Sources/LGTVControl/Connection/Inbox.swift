// SPDX-License-Identifier: Apache-2.0
// A queue of incoming elements for one task, with a deadline and cancellation.

#if LGTVControl
    import NIOCore
    import NIOPosix
    import Synchronization

    /// A short queue with one reader. Every wait ends: with an element, at the end of the queue, at its deadline, or
    /// when the task is cancelled.
    final class Inbox<Element: Sendable>: Sendable {
        private struct Waiter {
            let ticket: Int
            let continuation: CheckedContinuation<Element, any Error>
        }

        private struct State {
            var elements: [Element] = []
            var end: (any Error)?
            var waiter: Waiter?
            var tickets = 0
        }

        private let state = Mutex(State())
        /// A well-behaved sender never sends as many.
        private let limit = 64

        /// - Returns: `false` if the queue is full.
        @discardableResult
        func put(_ element: Element) -> Bool {
            let (waiter, isTaken): (Waiter?, Bool) = state.withLock { state in
                if let waiter = state.waiter {
                    state.waiter = nil
                    return (waiter, true)
                }
                guard state.elements.count < limit else { return (nil, false) }
                state.elements.append(element)
                return (nil, true)
            }
            waiter?.continuation.resume(returning: element)
            return isTaken
        }

        /// Ends the queue. Its elements can still be read; after them, reading throws this error.
        func end(_ error: any Error) {
            let waiter = state.withLock { state in
                state.end = state.end ?? error
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.continuation.resume(throwing: error)
        }

        /// Waits for the next element.
        ///
        /// - Parameters:
        ///   - late: The error that is thrown if no element arrives before the deadline.
        ///   - loop: The event loop of the timer.
        nonisolated(nonsending) func next(
            by deadline: ContinuousClock.Instant, late: any Error,
            on loop: any EventLoop = MultiThreadedEventLoopGroup.singleton.any()
        ) async throws -> Element {
            let ticket = state.withLock { state in
                state.tickets += 1
                return state.tickets
            }
            let left = max(Duration.zero, ContinuousClock.now.duration(to: deadline))
            return try await withTaskCancellationHandler {
                // The waiter is stored before the timer is set: a timer that fires without a waiter would not fire again.
                try await withCheckedThrowingContinuation { continuation in
                    guard wait(Waiter(ticket: ticket, continuation: continuation)) else { return }
                    loop.scheduleTask(in: TimeAmount(left)) { [weak self] in
                        self?.giveUp(ticket, late)
                    }
                }
            } onCancel: {
                giveUp(ticket, CancellationError())
            }
        }

        /// - Returns: Whether the waiter has to wait; otherwise it has been answered.
        private func wait(_ waiter: Waiter) -> Bool {
            let answer: Result<Element, any Error>? = state.withLock { state in
                if Task.isCancelled { return .failure(CancellationError()) }
                if !state.elements.isEmpty { return .success(state.elements.removeFirst()) }
                if let end = state.end { return .failure(end) }
                state.waiter = waiter
                return nil
            }
            if let answer { waiter.continuation.resume(with: answer) }
            return answer == nil
        }

        private func giveUp(_ ticket: Int, _ error: any Error) {
            let waiter: Waiter? = state.withLock { state in
                guard state.waiter?.ticket == ticket else { return nil }
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.continuation.resume(throwing: error)
        }
    }

    extension EventLoopFuture where Value: Sendable {
        /// Returns the result, if it arrives in time and the task is not cancelled. The work itself continues.
        nonisolated(nonsending) func value(by deadline: ContinuousClock.Instant, late: any Error) async throws -> Value
        {
            let inbox = Inbox<Value>()
            whenComplete { result in
                switch result {
                case .success(let value): inbox.put(value)
                case .failure(let error): inbox.end(error)
                }
            }
            // On the event loop of the result: after a delay of the whole program, a result that came in time is seen
            // before the timer.
            return try await inbox.next(by: deadline, late: late, on: eventLoop)
        }
    }
#endif
