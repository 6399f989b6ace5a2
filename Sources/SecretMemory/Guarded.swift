// SPDX-License-Identifier: Apache-2.0
// A mutex-protected value that also works in the child of a fork.

internal import CKeychainShims
import Foundation
import Synchronization

/// A value that one thread at a time can use.
///
/// It uses the mutex of the C library. Swift's `Mutex` stores its owner as a thread ID, which the child of a fork
/// inherits although it is wrong there: if two threads of the child contend, it ends the program. It also serves
/// waiters in order, so that one thread that the system suspends delays all others.
///
/// It guards a value, not `()`: the thread sanitizer takes an access to a value without bytes for an access to the
/// object itself.
package final class Guarded<Value>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    @usableFromInline
    var value: Value
    /// The number of forks at the last use.
    private let forks = Atomic(keychain_fork_count())

    package init(_ value: Value) {
        self.value = value
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    @inlinable
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock()
        defer { unlock() }
        return try body(&value)
    }

    /// Tries to lock without waiting.
    ///
    /// - Returns: `nil` if another thread holds the lock.
    @inlinable
    package func withLockIfAvailable<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard tryLock() else { return nil }
        defer { unlock() }
        return try body(&value)
    }

    /// Whether a thread of the parent held the lock at the fork. No thread in this process will release it.
    package var isHeldByParent: Bool {
        let count = keychain_fork_count()
        guard forks.load(ordering: .acquiring) != count else { return false }
        if tryLock() {
            unlock()
            return false
        }
        // A holder in this process would record the fork at once.
        usleep(10_000)
        return forks.load(ordering: .acquiring) != count
    }

    @usableFromInline
    func lock() {
        pthread_mutex_lock(mutex)
        noteForks()
    }

    @usableFromInline
    func tryLock() -> Bool {
        guard pthread_mutex_trylock(mutex) == 0 else { return false }
        noteForks()
        return true
    }

    @usableFromInline
    func unlock() { pthread_mutex_unlock(mutex) }

    private func noteForks() {
        let count = keychain_fork_count()
        if forks.load(ordering: .relaxed) != count { forks.store(count, ordering: .releasing) }
    }
}
