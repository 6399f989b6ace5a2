// SPDX-License-Identifier: Apache-2.0
// Three ways to make a call: on the caller's thread, on a worker thread while the caller waits, or on one while it goes on.

import Dispatch
package import KeychainEngine
import SecretMemory

extension Backing {
    /// Runs on this thread. With a timeout it runs on a worker thread, so that this thread can stop waiting for it.
    package func call<Output: Sendable>(
        _ timeout: Timeout?, _ body: @escaping @Sendable (Query.Questions?) throws(KeychainError) -> Output
    ) throws(KeychainError) -> Output {
        guard let timeout else { return try body(nil) }
        let call = Call(workerQueue, time, timeout, body)
        let (ended, ending) = (DispatchSemaphore(value: 0), Box<Call<Output>.Ending>())
        call.start {
            ending.put($0)
            ended.signal()
        }
        while ended.wait(timeout: .now() + (call.deadline - time.elapsed()).dispatchInterval) == .timedOut {
            // The timer's task may be waiting for this thread.
            if call.deadline <= time.elapsed() { call.expire() }
        }
        guard let ending = ending.content else { throw .unended }
        return try ending.get()
    }

    /// Suspends the caller's task and blocks no thread.
    package nonisolated(nonsending) func call<Output: Sendable>(
        _ timeout: Timeout?, _ body: @escaping @Sendable (Query.Questions?) throws(KeychainError) -> Output
    ) async throws(KeychainError) -> Output {
        try await Call(workerQueue, time, timeout ?? .standard, body).ending(isolation: #isolation).get()
    }

    /// Starts it on a worker thread, and returns at once. It needs no thread of Swift's pool, which may all be busy.
    ///
    /// - Parameter deliver: Receives the result once, on any thread.
    /// - Returns: Cancels the call.
    package func start<Output: Sendable>(
        _ timeout: Timeout?, _ body: @escaping @Sendable (Query.Questions?) throws(KeychainError) -> Output,
        deliver: @escaping @Sendable (Result<Output, KeychainError>) -> Void
    ) -> @Sendable () -> Void {
        let call = Call(workerQueue, time, timeout ?? .standard, body)
        call.start(deliver)
        return { call.cancel() }
    }
}

/// Passes a value from one thread to another.
private final class Box<Content: Sendable>: Sendable {
    private let state = Guarded<Content?>(nil)

    var content: Content? { state.withLock { $0 } }

    func put(_ content: Content) { state.withLock { $0 = content } }
}

extension KeychainError {
    fileprivate static let unended = KeychainError(.unavailable, "A call ended without a result. Please report this.")
}

extension Duration {
    /// At least a millisecond, so that a clock that stands still does not cause a busy loop. At most what
    /// `DispatchTimeInterval` can represent.
    fileprivate var dispatchInterval: DispatchTimeInterval {
        let (seconds, attoseconds) = min(max(self, .milliseconds(1)), .seconds(1_000_000)).components
        let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        return .nanoseconds(Int(nanoseconds))
    }
}
