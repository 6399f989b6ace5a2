// SPDX-License-Identifier: Apache-2.0
// Noticing that an unlocking has run out.

import Foundation
import Synchronization

/// Waits for the end of an idle timeout, of which nothing tells.
///
/// Use by any process puts the end off and tells nobody. So at the time when it would come one looks, and if it was put off
/// looks again after an eighth of the timeout: that late at most the end is noticed, and a vault that nobody uses costs
/// one look.
final class UnlockingWatch: Sendable {
    private let timer: Mutex<any DispatchSourceTimer>
    private let idleTimeout: @Sendable () -> Duration?

    /// - Parameter idleTimeout: `nil` if nothing is unlocked that will end. Asking it must not count as use.
    init(
        _ queue: DispatchQueue, idleTimeout: @escaping @Sendable () -> Duration?, tell: @escaping @Sendable () -> Void
    ) {
        self.idleTimeout = idleTimeout
        timer = Mutex(DispatchSource.makeTimerSource(queue: queue))
        timer.withLock { timer in
            timer.setEventHandler { [weak self] in
                guard let self else { return }
                if let timeout = idleTimeout() { return wait(timeout / 8) }
                tell()
            }
            timer.activate()
        }
    }

    /// To be called, on the queue, when the lock state may have changed.
    func look() {
        if let timeout = idleTimeout() {
            wait(timeout)
        } else {
            timer.withLock { $0.schedule(wallDeadline: .distantFuture) }
        }
    }

    func end() { timer.withLock { $0.cancel() } }

    /// By the wall's clock: time goes on for the kernel's keys while the system sleeps.
    private func wait(_ duration: Duration) {
        // The kernel counts whole seconds.
        let seconds = Int(clamping: max(1, duration.components.seconds))
        timer.withLock { $0.schedule(wallDeadline: .now() + .seconds(seconds), leeway: .milliseconds(100)) }
    }
}
