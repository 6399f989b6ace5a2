// SPDX-License-Identifier: Apache-2.0
// Waiting for another thread, with a timeout.

import Foundation

/// A mutex and a condition of the C library. Unlike Foundation's, it has a try operation. Unlike Swift's, a running
/// thread takes it before waiting ones, so that a thread that the system suspends does not delay all others.
final class Turn: Sendable {
    private nonisolated(unsafe) let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private nonisolated(unsafe) let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        // With a clock that can be set back, a wait could take longer.
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func lock() { pthread_mutex_lock(mutex) }

    func tryLock() -> Bool { pthread_mutex_trylock(mutex) == 0 }

    func unlock() { pthread_mutex_unlock(mutex) }

    func withLock<Result>(_ body: () -> Result) -> Result {
        lock()
        defer { unlock() }
        return body()
    }

    /// Returns at the signal, at the timeout, or earlier.
    func wait(_ time: Duration) {
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        let nanoseconds = end.tv_nsec + Int(time / .nanoseconds(1))
        (end.tv_sec, end.tv_nsec) = (end.tv_sec + nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000)
        pthread_cond_timedwait(condition, mutex, &end)
    }

    func signal() { pthread_cond_signal(condition) }
}
