// SPDX-License-Identifier: Apache-2.0
// A thread that may wait for a person, which none of Swift's own may.

import CKeychainShims
import Foundation
package import KeychainEngine

package enum WaitingThread {
    private final class Task {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a thread of its own. Foundation's `Thread` says nothing if there can be no more threads, and then
    /// never runs it: whoever waits for the outcome would wait for ever.
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
            "Nobody can be asked: no thread can be made (\(String(cString: strerror(code)))). End some that wait.")
    }
}
