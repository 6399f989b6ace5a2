// SPDX-License-Identifier: Apache-2.0
// State shared by copies of a `SecretStore`: the engine and its worker threads.

import Foundation
package import KeychainEngine

#if os(Linux)
    import KeychainAuthenticators
    import KeychainVault
#else
    import KeychainSecItem
#endif

/// Shared by a store and all copies made from it, also by stores of other modules of this package.
package final class Backing: Sendable {
    package let engine: Engine
    package let accessGroups: AccessGroups
    let time: Timekeeper
    /// The date that new and changed items get.
    let now: @Sendable () -> Date
    let workerQueue: WorkerQueue
    /// The store, if it can repeat reads.
    let repeating: (any RepeatingStore)?

    /// - Parameter workerQueue: The worker queue of the store. `nil`: looked up by the store.
    init(
        _ store: any ItemStore, _ accessGroups: AccessGroups, time: Timekeeper = .system,
        now: @escaping @Sendable () -> Date = { Date() }, workerQueue: WorkerQueue? = nil
    ) {
        self.accessGroups = accessGroups
        self.time = time
        self.now = now
        self.workerQueue = workerQueue ?? WorkerQueue.of(store)
        repeating = Self.repeating(store)
        engine = Engine(store: store, authenticator: Self.authenticator, now: now)
    }

    private static func repeating(_ store: any ItemStore) -> (any RepeatingStore)? {
        #if os(Linux)
            // As in ``WorkerQueue/of(_:)``: a cast to a protocol takes long, once in a process.
            if let vault = store as? Vault { return vault }
        #endif
        return store as? any RepeatingStore
    }

    /// Keeps the worker queue. Two stores belong to one keychain if they have the same worker queue, also where the
    /// `ItemStore` is a value type.
    func with(_ clock: any Clock<Duration>) -> Backing {
        Backing(engine.store, accessGroups, time: Timekeeper(clock), now: now, workerQueue: workerQueue)
    }

    /// Keeps the worker queue as well.
    func with(now: @escaping @Sendable () -> Date) -> Backing {
        Backing(engine.store, accessGroups, time: time, now: now, workerQueue: workerQueue)
    }

    #if os(Linux)
        /// The user's keychain, for the running program. It is created on first use, so environment variables that the
        /// program sets before then have an effect.
        static let shared = {
            let keychain = DefaultKeychain.ofEnvironment()
            return Backing(keychain.store, keychain.accessGroups)
        }()

        static let authenticator: @Sendable () throws(KeychainError) -> (any Authenticator)? = {
            () throws(KeychainError) in try Authenticators.forItems()
        }
    #else
        static let shared = Backing(SecItemStore(), .unrestricted)

        /// The system asks the user itself.
        static let authenticator: @Sendable () throws(KeychainError) -> (any Authenticator)? = { nil }
    #endif
}
