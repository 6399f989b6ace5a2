// SPDX-License-Identifier: Apache-2.0
// Secrets of a keychain as configuration values.

#if Configuration
    public import Configuration
    import Foundation
    public import KeychainKit

    /// Gives the secrets of a ``SecretStore`` to programs that read their configuration with swift-configuration.
    ///
    /// ```swift
    /// let store = SecretStore(service: "com.example.app")
    /// let config = ConfigReader(providers: [KeychainConfigProvider(store), EnvironmentVariablesProvider()])
    /// let password = try await config.fetchRequiredString(forKey: "database.password")
    /// ```
    ///
    /// The key `database.password` is the account `database.password` of the store's service. Every value is marked as
    /// secret, so that access reporters leave it out. Nothing is kept: each call reads the keychain.
    ///
    /// | Type asked for | What the item holds |
    /// |---|---|
    /// | string, int, double, bool | text; `yes`, `no`, `1` and `0` are Booleans too |
    /// | bytes | any bytes |
    /// | arrays | JSON, as ``SecretStore`` saves an array, or texts with a separator between them |
    /// | array of byte chunks | the same, each text in base64 |
    ///
    /// A keychain that is locked, damaged or does not answer makes a lookup fail with a `KeychainError`; "no value" only means
    /// that the keychain could be read and has no such item. Readers pass that on from their `required…` and `fetch…`
    /// calls. The others cannot fail, and put their default or `nil` in the place of every error: do not ask for secrets by those.
    ///
    /// Does not protect values against what a program does with them once it has read them.
    public struct KeychainConfigProvider: Sendable {
        public let providerName: String
        let store: SecretStore
        let account: @Sendable (AbsoluteConfigKey) -> String
        private let conversion: SecretConversion

        /// - Parameters:
        ///   - store: Where the secrets are. Its deadline holds, and whether it may ask a person.
        ///   - name: What access reporters call the provider.
        ///   - arraySeparator: What stands between the texts of an array.
        ///   - account: The account that a key's value is kept under; keys for which it is the same have the same value.
        public init(
            _ store: SecretStore, name: String = "KeychainConfigProvider", arraySeparator: Character = ",",
            account: @escaping @Sendable (AbsoluteConfigKey) -> String = Self.account(of:)
        ) {
            (self.store, self.account, providerName) = (store, account, name)
            conversion = SecretConversion(separator: arraySeparator)
        }

        /// The components of a key with dots between them; its context does not matter.
        public static func account(of key: AbsoluteConfigKey) -> String { key.components.joined(separator: ".") }
    }

    extension KeychainConfigProvider: ConfigProvider {
        /// Reads on the caller's thread; with an item that asks for the user, for as long as that takes.
        public func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
            let account = account(key)
            return try conversion.result(account, try store.read(SecretValue.self, for: account), type)
        }

        /// Reads without blocking a thread.
        public nonisolated(nonsending) func fetchValue(
            forKey key: AbsoluteConfigKey, type: ConfigType
        ) async throws -> LookupResult {
            try await lookUp(key, type)
        }

        nonisolated(nonsending) func lookUp(
            _ key: AbsoluteConfigKey, _ type: ConfigType
        ) async throws(KeychainError) -> LookupResult {
            let account = account(key)
            return try conversion.result(account, try await store.read(SecretValue.self, for: account), type)
        }

        /// All values of the store as they are at one moment, in memory that is wiped when the snapshot goes.
        ///
        /// Nobody is asked for anything: a snapshot has no values of items that ask for the user, and where there are such
        /// items, a lookup that finds nothing fails with `interactionNotAllowed`. What kept the keychain from being read, every
        /// lookup fails with.
        public func snapshot() -> any ConfigSnapshot { snapshot(SnapshotContent(store)) }

        func snapshot(_ content: SnapshotContent) -> KeychainConfigSnapshot {
            KeychainConfigSnapshot(
                providerName: providerName, account: account, conversion: conversion, content: content)
        }
    }
#endif
