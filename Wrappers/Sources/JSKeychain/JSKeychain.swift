// SPDX-License-Identifier: Apache-2.0
// The keychain: its initializers and its settings.

public import Foundation
@_spi(Wrappers) public import KeychainKit

/// Keeps values of any `Codable` type in the keychain, by service and account.
///
/// ```swift
/// let keychain = JSKeychain()
/// try keychain.save("s3cret", service: "com.example.app", account: "alice")
/// let token: String = try keychain.read(service: "com.example.app", account: "alice")
/// ```
///
/// Each call has a form that blocks the thread, and an asynchronous form that does not and that ends when its task is
/// cancelled. Both have the same name, except ``deleteAll(service:)`` and ``deleteAllWithoutBlocking(service:)``.
///
/// Does not protect against other programs of the same user, which can open the same keychain.
public final class JSKeychain: Sendable {
    let configuration: JSKeychainConfiguration
    let keychain: ChosenKeychain
    let failures = FailureRecord()

    /// A keychain whose items stay on this device, in all access groups of the program.
    public convenience init() { self.init(configuration: JSKeychainConfiguration()) }

    /// A keychain with the given settings.
    ///
    /// ```swift
    /// let keychain = JSKeychain(configuration: JSKeychainConfiguration(syncToICloud: true))
    /// ```
    public convenience init(configuration: JSKeychainConfiguration = JSKeychainConfiguration()) {
        self.init(configuration, ChosenKeychain())
    }

    /// A keychain whose items stay on this device.
    ///
    /// ```swift
    /// let keychain = JSKeychain(accessGroup: "group.com.example.apps")
    /// ```
    ///
    /// - Parameters: As in ``JSKeychainConfiguration``.
    public convenience init(
        accessGroup: String? = nil, encoder: JSONEncoder = JSONEncoder(), decoder: JSONDecoder = JSONDecoder()
    ) {
        self.init(
            configuration: JSKeychainConfiguration(accessGroup: accessGroup, encoder: encoder, decoder: decoder))
    }

    private init(_ configuration: JSKeychainConfiguration, _ keychain: ChosenKeychain) {
        (self.configuration, self.keychain) = (configuration, keychain)
    }

    /// The same keychain over another store, for tests and for programs with a vault of their own.
    ///
    /// ```swift
    /// let keychain = JSKeychain().using(MemoryStore())
    /// ```
    ///
    /// - Parameters:
    ///   - accessGroups: The access groups that may be used; `nil`: all.
    ///   - context: What the user has proven already, and how to ask them; `nil`: as the environment is configured.
    public func using(
        _ store: any ItemStore, accessGroups: AccessGroups? = nil, context: AuthenticationContext? = nil
    ) -> JSKeychain {
        JSKeychain(configuration, ChosenKeychain(store, accessGroups: accessGroups, context: context))
    }

    /// Why the last call failed, and what to do about it, which ``JSKeychainError`` cannot carry; `nil` if the call
    /// succeeded. It never contains the content of an item. Calls on other threads count too.
    ///
    /// ```swift
    /// if !keychain.exists(service: "com.example.app", account: "alice"), let failure = keychain.lastFailure {
    ///     show(failure.message)
    /// }
    /// ```
    public var lastFailure: KeychainError? { failures.last }

    /// The items of a service, whether they are synchronized or not.
    func secrets(_ service: String, prompt: String? = nil) -> EitherKindStore {
        EitherKindStore(ownKind(service, prompt: prompt))
    }

    /// The items that are synchronized if this keychain synchronizes, and otherwise those that are not.
    func ownKind(_ service: String, prompt: String?) -> SecretStore {
        var secrets = keychain.secrets(service: service, accessGroup: configuration.accessGroup)
        secrets.synchronizable = configuration.syncToICloud
        // An empty reason would be shown in place of the default.
        secrets.prompt = prompt.flatMap { $0.isEmpty ? nil : $0 }
        return secrets
    }

    /// The items of a service, or of all, in the access groups of this keychain.
    func filter(_ service: String?) -> ItemFilter {
        ItemFilter(accessGroup: configuration.accessGroup, service: service)
    }
}
