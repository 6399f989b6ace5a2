// SPDX-License-Identifier: Apache-2.0
// A dedicated thread for work that blocks.

import CKeychainShims

/// Threads of Swift's pool must not block. Foundation's `Thread` reports no error if no thread can be created, and then
/// never runs its body. It also links all of Foundation into static programs.
package enum BlockingThread {
    private final class Work {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a new thread.
    ///
    /// - Returns: 0, or the error number of the system; `body` does not run then.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Int32 {
        let work = Unmanaged.passRetained(Work(body))
        let code = keychain_thread_start(
            { argument in
                argument.map { Unmanaged<Work>.fromOpaque($0).takeRetainedValue().body() }
                return nil
            }, work.toOpaque())
        if code != 0 { work.release() }
        return code
    }

    /// Blocks all signals on the calling thread until it ends, so that handlers run on other threads and interrupt nothing here.
    ///
    /// Programs that the thread starts with `fork` get all signals: others may want to end them.
    package static func blockSignals() { keychain_block_signals() }
}
