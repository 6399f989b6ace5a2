// SPDX-License-Identifier: Apache-2.0
// How long SQLite waits for other connections: never longer than the vault's settings allow.

import Foundation
import SecretMemory

/// SQLite calls this each time a connection finds a lock of another one.
final class BusyWait: Sendable {
    /// Set around work that must not wait for a lock.
    @TaskLocal static var isOff = false

    private let timeout: Duration
    private let start = Guarded(ContinuousClock.now)

    init(_ timeout: Duration) { self.timeout = timeout }

    /// Sleeps a little.
    ///
    /// - Parameter tries: How often the same lock was found before.
    /// - Returns: `false` at the timeout.
    func goesOn(_ tries: Int) -> Bool {
        guard !Self.isOff else { return false }
        let now = ContinuousClock.now
        let begin = start.withLock { start in
            if tries == 0 { start = now }
            return start
        }
        let left = timeout - (now - begin)
        guard left > .zero else { return false }
        let pause = min(left, .milliseconds(1 << min(tries, 6)))
        usleep(UInt32(pause / .microseconds(1)))
        return true
    }
}
