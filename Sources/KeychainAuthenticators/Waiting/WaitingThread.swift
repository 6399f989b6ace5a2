// SPDX-License-Identifier: Apache-2.0
// A thread that may wait for the user. Swift's own threads must not.

import CKeychainShims
import Foundation
package import KeychainEngine

package enum WaitingThread {
    private final class Task {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a thread of its own. Foundation's `Thread` reports no error if no thread can be created, and then
    /// never runs it: a caller that waits for the outcome would wait for ever.
    ///
    /// - Throws: `unavailable`; `body` is not run then.
    package static func start(_ body: @escaping @Sendable () -> Void) throws(KeychainError) {
        let task = Unmanaged.passRetained(Task(body))
        let code = keychain_thread_start(
            { argument in
                argument.map { Unmanaged<Task>.fromOpaque($0).takeRetainedValue().body() }
                return nil
            }, task.toOpaque())
        guard code != 0 else { return }
        task.release()
        throw KeychainError(
            .unavailable,
            "The user cannot be asked: no thread could be created (\(String(cString: strerror(code)))). Try again later."
        )
    }
}
