// SPDX-License-Identifier: Apache-2.0
// The services that the public functions use: the vault that the environment names, for the program that runs.

import KeychainAuthenticators
package import KeychainEngine
import KeychainVault

extension Services {
    /// Made at the first call: what a program sets in its environment before counts.
    static let shared = {
        let keychain = DefaultKeychain.ofEnvironment()
        return Services(over: keychain.store, caller: keychain.caller)
    }()
}

extension Services {
    /// The calls over another store, which ask the user as those over the user's own vault do.
    package init(over store: any ItemStore, caller: Caller) {
        self.init(engine: Engine(store: store, authenticator: Authenticators.forItems), caller: caller)
    }
}
