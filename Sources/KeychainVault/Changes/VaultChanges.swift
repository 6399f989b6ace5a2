// SPDX-License-Identifier: Apache-2.0
// Who wants to know of changes of a vault.

import Foundation
import KeychainEngine
import Synchronization

/// The observers of one vault object, which share one watch for as long as there are any.
final class VaultChanges: Sendable {
    fileprivate struct Current {
        #if os(Linux)
            var watch: VaultWatch?
        #endif
        var count = 0
    }

    private let observers = StoreObservers()
    private let current = Mutex(Current())

    func observe(
        _ vault: Vault, _ body: @escaping @Sendable () -> Void
    ) throws(KeychainError) -> StoreObservation {
        let observer = observers.add(body)
        try enter(vault)
        return StoreObservation { [self] in
            withExtendedLifetime(observer) { leave() }
        }
    }

    /// Tells the observers of this object alone.
    func announce() {
        guard current.withLock({ $0.isOfThisProcess }) else { return }
        observers.announce()
    }

    private func enter(_ vault: Vault) throws(KeychainError) {
        #if os(Linux)
            try current.withLock { (current) throws(KeychainError) in
                guard current.isOfThisProcess else { throw .forkedWhileObserving }
                if current.watch == nil { current.watch = try watch(vault) }
                current.count += 1
            }
        #else
            throw KeychainError(.unsupported, "Changes of a vault are noticed on Linux only.")
        #endif
    }

    #if os(Linux)
        private func watch(_ vault: Vault) throws(KeychainError) -> VaultWatch {
            try VaultWatch(vault.location, idleTimeout: { [weak vault] in vault?.idleTimeout }) {
                [weak vault, observers] in
                vault?.lookAgain()
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
        "This process is a fork of one that was observing the vault, and has none of its threads. Run a program in it "
            + "(exec), or fork before observing.")
}
