// SPDX-License-Identifier: Apache-2.0
// Noticing that an unlock has expired.

import Foundation
import SecretMemory

/// Waits for the end of an idle timeout, for which there is no event.
///
/// Use by any process extends the timeout without an event. So the watch checks at the expected end; if the timeout was
/// extended, it checks again after an eighth of the timeout. The end is noticed at most that late, and an unused vault
/// costs one check.
final class UnlockingWatch: Sendable {
    private let timer: Guarded<any DispatchSourceTimer>
    private let idleTimeout: @Sendable () -> Duration?

    /// - Parameter idleTimeout: `nil` if nothing is unlocked with a timeout. The call must not count as use.
    init(
        _ queue: DispatchQueue, idleTimeout: @escaping @Sendable () -> Duration?, tell: @escaping @Sendable () -> Void
    ) {
        self.idleTimeout = idleTimeout
        timer = Guarded(DispatchSource.makeTimerSource(queue: queue))
        timer.withLock { timer in
            timer.setEventHandler { [weak self] in
                guard let self else { return }
                if let timeout = idleTimeout() { return wait(timeout / 8) }
                tell()
            }
            timer.activate()
        }
    }

    /// Call it on the queue when the lock state may have changed.
    func look() {
        if let timeout = idleTimeout() {
            wait(timeout)
        } else {
            timer.withLock { $0.schedule(wallDeadline: .distantFuture) }
        }
    }

    func end() { timer.withLock { $0.cancel() } }

    /// Uses the wall clock: the kernel's keys also expire while the system sleeps.
    private func wait(_ duration: Duration) {
        // The kernel counts whole seconds.
        let seconds = Int(clamping: max(1, duration.components.seconds))
        timer.withLock { $0.schedule(wallDeadline: .now() + .seconds(seconds), leeway: .milliseconds(100)) }
    }
}
