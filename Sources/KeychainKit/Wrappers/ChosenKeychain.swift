// SPDX-License-Identifier: Apache-2.0
// The keychain that a wrapper uses.

public import KeychainEngine

/// The keychain that a wrapper uses: the user's own, unless a program or a test has chosen another.
@_spi(Wrappers) public struct ChosenKeychain: Sendable {
    /// `nil`: the user's keychain.
    @_spi(Wrappers) public let store: (any ItemStore)?
    /// `nil`: the program's access groups for the user's keychain, otherwise all access groups.
    @_spi(Wrappers) public let accessGroups: AccessGroups?
    /// Proofs of the user, and the authenticator that asks for more. `nil`: the authenticator that is configured in the
    /// environment.
    @_spi(Wrappers) public var context: AuthenticationContext?
    /// Created once, so that all calls on a store share its threads. `nil`: the user's keychain, created on first use.
    private let chosen: Backing?

    @_spi(Wrappers) public init(
        _ store: (any ItemStore)? = nil, accessGroups: AccessGroups? = nil, context: AuthenticationContext? = nil
    ) {
        (self.store, self.accessGroups, self.context) = (store, accessGroups, context)
        chosen = store.map { Backing($0, accessGroups ?? .unrestricted) }
    }

    private var backing: Backing { chosen ?? Backing.of(store, accessGroups) }

    /// The generic passwords of a service.
    @_spi(Wrappers) public func secrets(service: String, accessGroup: String? = nil) -> SecretStore {
        var secrets = SecretStore(.service(service), backing)
        (secrets.accessGroup, secrets.context) = (accessGroup, context)
        return secrets
    }

    /// Every item that the program may access.
    @_spi(Wrappers) public var catalog: KeychainCatalog {
        var catalog = KeychainCatalog(backing)
        catalog.context = context
        return catalog
    }
}
