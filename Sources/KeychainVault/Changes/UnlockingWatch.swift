// SPDX-License-Identifier: Apache-2.0
// Noticing that an unlock has expired.

import Foundation
import KeychainEngine
import SecretMemory

/// Waits for the end of an idle timeout, for which there is no event.
///
/// Use by any process extends the timeout without an event. So the watch checks at the expected end; if the timeout was
/// extended, it checks again after an eighth of the timeout. The end is noticed at most that late, and an unused vault
/// costs one check.
final class UnlockingWatch: Sendable {
    private let timer: Guarded<any DispatchSourceTimer>
    typealias IdleTimeout = @Sendable () throws(KeychainError) -> Duration?

    private let idleTimeout: IdleTimeout
    private let retryPause: Duration

    /// - Parameters:
    ///   - idleTimeout: `nil` if nothing is unlocked with a timeout. The call must not count as use.
    ///   - retryPause: After a failure of that call.
    init(
        _ queue: DispatchQueue, retryPause: Duration = .seconds(10), idleTimeout: @escaping IdleTimeout,
        tell: @escaping @Sendable () -> Void
    ) {
        (self.idleTimeout, self.retryPause) = (idleTimeout, retryPause)
        timer = Guarded(DispatchSource.makeTimerSource(queue: queue))
        timer.withLock { timer in
            timer.setEventHandler { [weak self] in
                guard let self else { return }
                if !waits({ $0 / 8 }) { tell() }
            }
            timer.activate()
        }
    }

    /// Call it on the queue when the lock state may have changed.
    func look() {
        if !waits({ $0 }) { timer.withLock { $0.schedule(wallDeadline: .distantFuture) } }
    }

    /// Whether something is unlocked with a timeout. If that is not known now, it is asked again later: nobody tells when it is.
    private func waits(_ part: (Duration) -> Duration) -> Bool {
        do throws(KeychainError) {
            guard let timeout = try idleTimeout() else { return false }
            wait(part(timeout))
        } catch {
            wait(retryPause)
        }
        return true
    }

    func end() { timer.withLock { $0.cancel() } }

    /// Uses the wall clock: the kernel's keys also expire while the system sleeps.
    private func wait(_ duration: Duration) {
        // The kernel counts whole seconds.
        let seconds = Int(clamping: max(1, duration.components.seconds))
        timer.withLock { $0.schedule(wallDeadline: .now() + .seconds(seconds), leeway: .milliseconds(100)) }
    }
}
