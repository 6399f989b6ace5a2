// SPDX-License-Identifier: Apache-2.0
// The services that the public functions use: the vault that the environment names, for the program that runs.

import KeychainAuthenticators
import KeychainEngine
import KeychainVault

extension Services {
    /// Made at the first call: what a program sets in its environment before counts.
    static let shared = {
        let keychain = DefaultKeychain.ofEnvironment()
        let engine = Engine(store: keychain.store, authenticator: Authenticators.forItems)
        return Services(engine: engine, caller: keychain.caller)
    }()
}
