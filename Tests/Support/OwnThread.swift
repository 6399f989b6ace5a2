// SPDX-License-Identifier: Apache-2.0
// Waiting that keeps no thread of Swift's pool.

import Foundation

/// Runs what waits for other programs for long on a thread of its own. There are as few threads for tests as processors, and a test
/// that keeps one keeps others from going on.
package func onOwnThread<Output: Sendable>(_ work: @escaping @Sendable () throws -> Output) async throws -> Output {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
    }
}
