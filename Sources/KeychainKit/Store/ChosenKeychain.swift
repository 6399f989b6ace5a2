// SPDX-License-Identifier: Apache-2.0
// What the wrappers over this module have in common: which keychain they work on, and why their last call failed.

package import KeychainEngine
import Synchronization

/// The keychain that a wrapper works on: the user's own, unless a program or a test has chosen another.
package struct ChosenKeychain: Sendable {
    /// `nil`: the keychain of the user.
    package var store: (any ItemStore)?
    /// `nil`: the program's own for the keychain of the user, else all access groups.
    package var caller: Caller?
    /// What the user has proven already, and who asks; `nil`: whatever the environment is configured for.
    package var context: AuthenticationContext?

    package init(
        _ store: (any ItemStore)? = nil, caller: Caller? = nil, context: AuthenticationContext? = nil
    ) {
        (self.store, self.caller, self.context) = (store, caller, context)
    }

    /// The generic passwords of a service. Where the keychain knows no transactions, the changes of one are made in their order.
    package func secrets(service: String, accessGroup: String? = nil) -> SecretStore {
        var secrets = SecretStore(service: service, accessGroup: accessGroup, store: store, caller: caller)
        (secrets.context, secrets.changesInSteps) = (context, true)
        return secrets
    }

    /// Everything that the program may see.
    package var catalog: KeychainCatalog {
        var catalog = KeychainCatalog(store: store, caller: caller)
        catalog.context = context
        return catalog
    }
}

/// Why the last call that failed did, for wrappers whose errors have no room for it.
package final class FailureRecord: Sendable {
    private let failure = Mutex<KeychainError?>(nil)

    package init() {}

    package var last: KeychainError? { failure.withLock { $0 } }

    package func record(_ error: KeychainError) { failure.withLock { $0 = error } }
}

extension AuthenticationContext {
    /// A context that asks as requests without one do: what is proven for one request counts for all that share it.
    ///
    /// ```swift
    /// store.context = AuthenticationContext()
    /// ```
    public convenience init() { self.init(Backing.authenticator) }
}
