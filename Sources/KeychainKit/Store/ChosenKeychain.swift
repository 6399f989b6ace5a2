// SPDX-License-Identifier: Apache-2.0
// What the wrappers over this module have in common: which keychain they work on, and why their last call failed.

package import KeychainEngine
import Synchronization

/// The keychain that a wrapper works on: the user's own, unless a program or a test has chosen another.
package struct ChosenKeychain: Sendable {
    /// `nil`: the keychain of the user.
    package let store: (any ItemStore)?
    /// `nil`: the program's own for the keychain of the user, else all access groups.
    package let caller: Caller?
    /// What the user has proven already, and who asks; `nil`: whatever the environment is configured for.
    package var context: AuthenticationContext?
    /// Made once, so that all calls on one store wait on the same few threads. `nil`: that of the user, made when it is used.
    private let chosen: Backing?

    package init(
        _ store: (any ItemStore)? = nil, caller: Caller? = nil, context: AuthenticationContext? = nil
    ) {
        (self.store, self.caller, self.context) = (store, caller, context)
        chosen = store.map { Backing($0, caller ?? .unrestricted, .system) }
    }

    private var backing: Backing { chosen ?? Backing.of(store, caller) }

    /// The generic passwords of a service. Where the keychain knows no transactions, the changes of one are made in their order.
    package func secrets(service: String, accessGroup: String? = nil) -> SecretStore {
        var secrets = SecretStore(.service(service), backing)
        (secrets.accessGroup, secrets.context, secrets.changesInSteps) = (accessGroup, context, true)
        return secrets
    }

    /// Everything that the program may see.
    package var catalog: KeychainCatalog {
        var catalog = KeychainCatalog(backing)
        catalog.context = context
        return catalog
    }
}

/// Why the last call failed, for wrappers whose errors have no room for it; `nil` if it did not fail. An older failure would
/// explain nothing where a call that cannot throw says `nil` or `false`.
package final class FailureRecord: Sendable {
    private let failure = Mutex<KeychainError?>(nil)

    package init() {}

    package var last: KeychainError? { failure.withLock { $0 } }

    /// - Parameter error: `nil`: the call did not fail.
    package func record(_ error: KeychainError?) { failure.withLock { $0 = error } }

    package func recording<Result>(_ body: () throws(KeychainError) -> Result) throws(KeychainError) -> Result {
        do throws(KeychainError) {
            let result = try body()
            record(nil)
            return result
        } catch {
            record(error)
            throw error
        }
    }

    package nonisolated(nonsending) func recording<Result>(
        _ body: nonisolated(nonsending) () async throws(KeychainError) -> Result
    ) async throws(KeychainError) -> Result {
        do throws(KeychainError) {
            let result = try await body()
            record(nil)
            return result
        } catch {
            record(error)
            throw error
        }
    }
}

extension AuthenticationContext {
    /// A context that asks as requests without one do: what is proven for one request counts for all that share it.
    ///
    /// ```swift
    /// store.context = AuthenticationContext()
    /// ```
    public convenience init() { self.init(Backing.authenticator) }
}
