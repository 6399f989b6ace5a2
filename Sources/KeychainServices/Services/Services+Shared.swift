// SPDX-License-Identifier: Apache-2.0
// The services of the public functions: the vault that the environment configures, for the running program.

#if os(Linux)
    import KeychainAuthenticators
    package import KeychainEngine
    import KeychainVault

    extension Services {
        /// Created at the first call, so environment variables that the program sets before then have an effect.
        package static let shared = {
            let keychain = DefaultKeychain.ofEnvironment()
            return Services(over: keychain.store, accessGroups: keychain.accessGroups)
        }()
    }

    extension Services {
        /// The calls over another store. They ask the user in the same way as calls over the user's own vault.
        package init(over store: any ItemStore, accessGroups: AccessGroups) {
            self.init(engine: Engine(store: store, authenticator: Authenticators.forItems), accessGroups: accessGroups)
        }
    }
#endif
