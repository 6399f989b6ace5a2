// SPDX-License-Identifier: Apache-2.0
// A value that threads use in turn, also in the child of a fork.

internal import CKeychainShims
import Foundation
import Synchronization

/// A value that one thread at a time uses.
///
/// It has the mutex of the C library. Swift's own knows its holder by a number that the child of a fork inherits and that is
/// wrong there: it ends the program when two threads of the child meet. It also serves waiters in their order, so that one
/// thread that the system stops makes all others wait in a row.
///
/// It guards a value, not `()`: the sanitizer for threads takes an access to a value without bytes for one to the object itself.
package final class Guarded<Value>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    @usableFromInline
    var value: Value
    /// How many forks lay before the last use.
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

    /// Does not wait.
    ///
    /// - Returns: `nil` if another thread has it.
    @inlinable
    package func withLockIfAvailable<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard tryLock() else { return nil }
        defer { unlock() }
        return try body(&value)
    }

    /// Whether a thread of the parent had it when this process was forked: nobody gives it back here.
    package var isHeldByParent: Bool {
        let count = keychain_fork_count()
        guard forks.load(ordering: .acquiring) != count else { return false }
        if tryLock() {
            unlock()
            return false
        }
        // A holder in this process notes the fork at once.
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
