// SPDX-License-Identifier: Apache-2.0
// The two ways to make a call: on the caller's own thread, or on one of the lane's while the caller waits.

import Dispatch
import KeychainEngine
import Synchronization

extension Backing {
    /// On this thread; with a deadline on one of the lane's, which can be left behind.
    func call<Output: Sendable>(
        _ deadline: Deadline?, _ body: @escaping Call<Output>.Body
    ) throws(KeychainError) -> Output {
        guard let deadline else { return try body(nil) }
        let call = Call(lane, clock, deadline, body)
        let (ended, ending) = (DispatchSemaphore(value: 0), Box<Call<Output>.Ending>())
        call.start {
            ending.put($0)
            ended.signal()
        }
        while ended.wait(timeout: .now() + (call.deadline - clock.elapsed()).dispatchInterval) == .timedOut {
            call.expireIfDue()
        }
        guard let ending = ending.content else { throw .unended }
        return try ending.get()
    }

    /// The caller's task waits, and no thread with it.
    nonisolated(nonsending) func call<Output: Sendable>(
        _ deadline: Deadline?, _ body: @escaping Call<Output>.Body
    ) async throws(KeychainError) -> Output {
        let call = Call(lane, clock, deadline ?? .standard, body)
        let ending = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                call.start { continuation.resume(returning: $0) }
            }
        } onCancel: {
            call.cancel()
        }
        return try ending.get()
    }
}

/// Hands something from one thread to another.
private final class Box<Content: Sendable>: Sendable {
    private let state = Mutex<Content?>(nil)

    var content: Content? { state.withLock { $0 } }

    func put(_ content: Content) { state.withLock { $0 = content } }
}

extension KeychainError {
    fileprivate static let unended = KeychainError(.unavailable, "A call ended without a result. Please report this.")
}

extension Duration {
    /// At least a millisecond, so that a clock that stands still makes nobody spin; at most what its parts can count.
    fileprivate var dispatchInterval: DispatchTimeInterval {
        let (seconds, attoseconds) = min(max(self, .milliseconds(1)), .seconds(1_000_000)).components
        let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        return .nanoseconds(Int(nanoseconds))
    }
}
