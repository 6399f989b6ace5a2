// SPDX-License-Identifier: Apache-2.0
// Async calls from code that is not async.

import Foundation
import SecretMemory

/// Waits for an async call. Swift's own threads do the work meanwhile.
func waiting(for body: @escaping @Sendable () async throws -> Void) throws {
    let (done, failure) = (DispatchSemaphore(value: 0), Guarded<(any Error)?>(nil))
    Task {
        do { try await body() } catch { failure.withLock { $0 = error } }
        done.signal()
    }
    done.wait()
    if let failure = failure.withLock({ $0 }) { throw failure }
}
