// SPDX-License-Identifier: Apache-2.0
// What store values are values of: an engine, whose requests it answers, and the threads that wait for it.

import KeychainEngine

#if canImport(KeychainVault)
    import KeychainAuthenticators
    import KeychainVault
#else
    import KeychainSecItem
#endif

/// Shared by all store values that were made from one another.
final class Backing: Sendable {
    let engine: Engine
    let caller: Caller
    let clock: KeychainClock
    let lane: Lane

    /// - Parameter lane: That of the store; `nil`: to be looked up.
    init(_ store: any ItemStore, _ caller: Caller, _ clock: KeychainClock, _ lane: Lane? = nil) {
        self.caller = caller
        self.clock = clock
        self.lane = lane ?? Lane.of(store)
        engine = Engine(store: store, authenticator: Self.authenticator, now: clock.now)
    }

    /// On the same lane: by it stores are known to be of one keychain, also where the keychain is a value.
    func with(_ clock: KeychainClock) -> Backing { Backing(engine.store, caller, clock, lane) }

    #if canImport(KeychainVault)
        /// The keychain of the user, for the program that runs. Made at the first use: what a program sets in its
        /// environment before counts.
        static let shared = {
            let keychain = DefaultKeychain.ofEnvironment()
            return Backing(keychain.store, keychain.caller, .system)
        }()

        static let authenticator: @Sendable () throws(KeychainError) -> (any Authenticator)? = {
            () throws(KeychainError) in try Authenticators.forItems()
        }
    #else
        static let shared = Backing(SecItemStore(), .unrestricted, .system)

        /// The system asks by itself.
        static let authenticator: @Sendable () throws(KeychainError) -> (any Authenticator)? = { nil }
    #endif
}
