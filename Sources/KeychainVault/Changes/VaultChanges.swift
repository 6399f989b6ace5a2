// SPDX-License-Identifier: Apache-2.0
// The observers of a vault.

import Foundation
import KeychainEngine
import SecretMemory

/// The observers of one vault object. They share one watch, which exists while there are observers.
final class VaultChanges: Sendable {
    /// What is observed.
    struct Subject: Sendable {
        let location: VaultLocation
        /// How long the vault stays unlocked without use; `nil` if it is not unlocked, or has no timeout.
        let idleTimeout: UnlockingWatch.IdleTimeout
        /// Called at every change, before the observers are notified.
        let lookAgain: @Sendable () -> Void
    }

    fileprivate struct Current {
        #if os(Linux)
            var watch: VaultWatch?
        #endif
        var count = 0
    }

    private let observers = StoreObservers()
    private let current = Guarded(Current())

    func observe(
        _ subject: Subject, _ body: @escaping @Sendable () -> Void
    ) throws(KeychainError) -> StoreObservation {
        let observer = observers.add(body)
        try enter(subject)
        return StoreObservation { [self] in
            withExtendedLifetime(observer) { leave() }
        }
    }

    /// Notifies only the observers of this object.
    func announce() {
        guard current.withLock({ $0.isOfThisProcess }) else { return }
        observers.announce()
    }

    private func enter(_ subject: Subject) throws(KeychainError) {
        #if os(Linux)
            try current.withLock { (current) throws(KeychainError) in
                guard current.isOfThisProcess else { throw .forkedWhileObserving }
                if current.watch == nil { current.watch = try watch(subject) }
                current.count += 1
            }
        #else
            throw KeychainError(.unsupported, "Changes of a vault can be observed on Linux only.")
        #endif
    }

    #if os(Linux)
        private func watch(_ subject: Subject) throws(KeychainError) -> VaultWatch {
            try VaultWatch(subject.location, idleTimeout: subject.idleTimeout) { [observers] in
                subject.lookAgain()
                observers.announce()
            }
        }
    #endif

    private func leave() {
        #if os(Linux)
            current.withLock { current in
                guard current.isOfThisProcess else { return }
                current.count -= 1
                guard current.count == 0 else { return }
                current.watch?.end()
                current.watch = nil
            }
        #endif
    }
}

extension VaultChanges.Current {
    /// `false` in the child of a fork whose parent observed.
    fileprivate var isOfThisProcess: Bool {
        #if os(Linux)
            watch?.isOfThisProcess ?? true
        #else
            true
        #endif
    }
}

extension KeychainError {
    fileprivate static let forkedWhileObserving = KeychainError(
        .unavailable,
        "This process was forked from one that observed the vault, and does not have its threads. Call exec after the "
            + "fork, or fork before observing.")
}
