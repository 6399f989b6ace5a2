// SPDX-License-Identifier: Apache-2.0
// Shared parts of the wrappers over this module: the keychain they use, and why their last call failed.

public import KeychainEngine
import SecretMemory

/// Options that only wrappers need.
@_spi(Wrappers) public struct WrapperOptions: Sendable {
    /// Whether searches find items of both kinds, synchronizable or not, and saving leaves one item of a name in its
    /// access group. It is for wrappers that know only one item of a name, of any kind. New items are of the store's
    /// own kind.
    @_spi(Wrappers) public var synchronizableAny = false
    /// Whether a keychain without transactions, such as Apple's, makes the changes of a transaction one by one, in
    /// order. Otherwise it refuses them. It is for wrappers whose changes are consistent after each step.
    @_spi(Wrappers) public var changesInSteps = false
}

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

    /// The generic passwords of a service. If the keychain has no transactions, the changes of a transaction are made
    /// one by one, in order.
    @_spi(Wrappers) public func secrets(service: String, accessGroup: String? = nil) -> SecretStore {
        var secrets = SecretStore(.service(service), backing)
        (secrets.accessGroup, secrets.context, secrets.options.changesInSteps) = (accessGroup, context, true)
        return secrets
    }

    /// Every item that the program may access.
    @_spi(Wrappers) public var catalog: KeychainCatalog {
        var catalog = KeychainCatalog(backing)
        catalog.context = context
        return catalog
    }
}

/// The error of the last call; `nil` if it succeeded. It is for wrappers whose calls cannot throw and return `nil` or
/// `false`. A successful call clears an older error, which would be misleading.
@_spi(Wrappers) public final class FailureRecord: Sendable {
    private let failure = Guarded<KeychainError?>(nil)

    @_spi(Wrappers) public init() {}

    @_spi(Wrappers) public var last: KeychainError? { failure.withLock { $0 } }

    /// - Parameter error: `nil` if the call succeeded.
    @_spi(Wrappers) public func record(_ error: KeychainError?) { failure.withLock { $0 = error } }

    @_spi(Wrappers) public func recording<Result>(
        _ body: () throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        do throws(KeychainError) {
            let result = try body()
            record(nil)
            return result
        } catch {
            record(error)
            throw error
        }
    }

    @_spi(Wrappers) public nonisolated(nonsending) func recording<Result>(
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
    /// A context that asks the user in the same way as requests without a context. All requests that use it share its
    /// proofs.
    ///
    /// ```swift
    /// store.context = AuthenticationContext()
    /// ```
    public convenience init() { self.init(Backing.authenticator) }
}
