// SPDX-License-Identifier: Apache-2.0
// A configuration provider that reads secrets from a keychain.

#if Configuration
    public import Configuration
    import Foundation
    public import KeychainKit

    /// Provides the secrets of a ``SecretStore`` to programs that read their configuration with swift-configuration.
    ///
    /// ```swift
    /// let store = SecretStore(service: "com.example.app")
    /// let config = ConfigReader(providers: [KeychainConfigProvider(store), EnvironmentVariablesProvider()])
    /// let password = try await config.fetchRequiredString(forKey: "database.password")
    /// ```
    ///
    /// The value of the key `database.password` is the item with the account `database.password` in the store's
    /// service. Every value is marked as secret, so that access reporters redact it. Nothing is cached: each call reads
    /// the keychain.
    ///
    /// | Type asked for | What the item holds |
    /// |---|---|
    /// | string, int, double, bool | text; `yes`, `no`, `1` and `0` are Booleans too |
    /// | bytes | any bytes |
    /// | arrays | JSON, as ``SecretStore`` saves an array, or texts with a separator between them |
    /// | array of byte chunks | the same, each text in base64 |
    ///
    /// If the keychain is locked, damaged or does not answer, a lookup fails with a `KeychainError`. "No value" means
    /// only that the keychain could be read and has no such item. The `required…` and `fetch…` calls of a reader pass
    /// the error on. The other calls cannot fail and replace every error by their default or `nil`: do not use them for
    /// secrets.
    ///
    /// Does not protect values after the program has read them.
    public struct KeychainConfigProvider: Sendable {
        public let providerName: String
        let store: SecretStore
        let account: @Sendable (AbsoluteConfigKey) -> String
        private let conversion: SecretConversion

        /// - Parameters:
        ///   - store: The store of the secrets. Its timeout applies, and its `allowsInteraction`.
        ///   - name: The name of the provider in access reports.
        ///   - arraySeparator: The separator between the texts of an array.
        ///   - account: Returns the account of a key. Keys with the same account have the same value.
        public init(
            _ store: SecretStore, name: String = "KeychainConfigProvider", arraySeparator: Character = ",",
            account: @escaping @Sendable (AbsoluteConfigKey) -> String = Self.account(of:)
        ) {
            (self.store, self.account, providerName) = (store, account, name)
            conversion = SecretConversion(separator: arraySeparator)
        }

        /// The components of a key, separated by dots. The context of the key is ignored.
        public static func account(of key: AbsoluteConfigKey) -> String { key.components.joined(separator: ".") }
    }

    extension KeychainConfigProvider: ConfigProvider {
        /// Reads on the caller's thread, which waits if an item requires authentication.
        public func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
            let account = account(key)
            return try conversion.result(account, try store.read(SecretValue.self, for: account), type)
        }

        /// Reads the value without blocking a thread.
        public nonisolated(nonsending) func fetchValue(
            forKey key: AbsoluteConfigKey, type: ConfigType
        ) async throws -> LookupResult {
            try await lookUp(key, type, in: store)
        }

        nonisolated(nonsending) func lookUp(
            _ key: AbsoluteConfigKey, _ type: ConfigType, in store: SecretStore
        ) async throws(KeychainError) -> LookupResult {
            let account = account(key)
            return try conversion.result(account, try await store.read(SecretValue.self, for: account), type)
        }

        /// All values of the store at one moment, in memory that is wiped when the snapshot is released.
        ///
        /// The user is not asked: a snapshot has no values of items that require authentication. If there are such
        /// items, a lookup that finds nothing fails with `interactionNotAllowed`. A lookup of an item that has no value,
        /// is damaged or is one of several with its name fails, as it does without a snapshot. If the keychain could not
        /// be read, every lookup fails with that error.
        public func snapshot() -> any ConfigSnapshot { snapshot(SnapshotContent(store)) }

        func snapshot(_ content: SnapshotContent) -> KeychainConfigSnapshot {
            KeychainConfigSnapshot(
                providerName: providerName, account: account, conversion: conversion, content: content)
        }
    }
#endif
