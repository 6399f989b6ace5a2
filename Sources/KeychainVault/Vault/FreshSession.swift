// SPDX-License-Identifier: Apache-2.0
// The open session, for reads on many threads.

import Foundation
import SecretMemory
import Synchronization

/// The session of a vault, as long as no new check of its files is due. Readers get it without waiting for a call that
/// checks the files or opens the vault.
///
/// Every few threads have their own copy: a thread that is suspended while it holds a lock would stop all others.
final class FreshSession: Sendable {
    private struct Fresh {
        let session: Session
        let renewal: ContinuousClock.Instant
        let until: ContinuousClock.Instant
    }

    private final class Copy: Sendable {
        let content = Guarded<Fresh?>(nil)

        /// Also `nil` if another thread holds the lock; in the child of a fork, that thread may not exist.
        var fresh: Fresh? {
            for _ in 1...8 {
                if let fresh: Fresh? = content.withLockIfAvailable({ $0 }) { return fresh }
            }
            return nil
        }
    }

    private let copies = (0..<16).map { _ in Copy() }
    /// What was last copied to all.
    private let last = Guarded<Fresh?>(nil)
    private let isBeingRenewed = Atomic(false)
    private let process = getpid()

    /// `nil` if the files must be checked, and in the child of a fork.
    var session: Session? { find()?.session }

    /// The same. After half of the time, one reader gets `nil` and checks the files while the others continue. If all
    /// readers checked at once, they would wait for each other.
    var sessionOrTurn: Session? {
        guard let fresh = find() else { return nil }
        if ContinuousClock.now < fresh.renewal || isBeingRenewed.exchange(true, ordering: .relaxed) {
            return fresh.session
        }
        return nil
    }

    /// `nil` after half of the time.
    var sessionUnlessDue: Session? { find().flatMap { .now < $0.renewal ? $0.session : nil } }

    private func find() -> Fresh? {
        guard let fresh = copy.fresh, .now < fresh.until, fresh.session.isOfThisProcess else {
            return nil
        }
        return fresh
    }

    /// - Parameter look: The time of the check of the files.
    func set(_ session: Session, _ look: ContinuousClock.Instant) {
        defer { isBeingRenewed.store(false, ordering: .relaxed) }
        let fresh = Fresh(
            session: session, renewal: look + Vault.lookInterval / 2, until: look + Vault.lookInterval)
        // A write checks the files several times, and the copies would take a twelfth of its time.
        let isRecent = last.withLockIfAvailable { last in
            if let last, last.session === session, fresh.until < last.until + Vault.lookInterval / 8 { return true }
            last = fresh
            return false
        }
        if isRecent ?? false { return }
        for copy in copies { copy.content.withLockIfAvailable { $0 = fresh } }
    }

    func remove() {
        let isChild = process != getpid()
        if isChild { last.withLockIfAvailable { $0 = nil } } else { last.withLock { $0 = nil } }
        for copy in copies {
            if isChild { copy.content.withLockIfAvailable { $0 = nil } } else { copy.content.withLock { $0 = nil } }
        }
    }

    /// Thread descriptors are at the end of the stacks, which begin at multiples of a page.
    private var copy: Copy { copies[Int(truncatingIfNeeded: UInt(pthread_self()) >> 12) & (copies.count - 1)] }
}
