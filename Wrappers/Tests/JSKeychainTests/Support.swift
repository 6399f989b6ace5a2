// SPDX-License-Identifier: Apache-2.0
// Keychains for tests, and what is said and asked in them.

import JSKeychain
import KeychainEngine
@_spi(Wrappers) import KeychainKit
import WrapperStores

extension StoreKind {
    /// A keychain over a fresh store of this kind, without prompts.
    func keychain(
        _ configuration: JSKeychainConfiguration = JSKeychainConfiguration(), passphrase: String? = nil
    ) throws -> JSKeychain {
        JSKeychain(configuration: configuration).using(try empty(passphrase: passphrase))
    }
}

extension JSKeychain {
    /// The value of the one item that these tests are about.
    func value() throws -> String { try read(service: "app", account: "alice") }

    func save(
        _ value: String, _ accessibility: JSKeychainAccessibility = .whenUnlocked, _ options: JSBiometricOptions? = nil
    ) throws {
        try save(value, service: "app", account: "alice", accessibility: accessibility, biometricOptions: options)
    }
}

func keychainError(_ body: () throws -> Any?) -> JSKeychainError? { failure(body) as? JSKeychainError }

extension ItemStore {
    /// What KeychainKit sees of the items named `alice`: those that synchronize, or those that do not.
    func secrets(synchronizable: Bool = false, accessGroup: String? = nil, service: String = "app") -> SecretStore {
        SecretStore(service: service, accessGroup: accessGroup, synchronizable: synchronizable, store: self)
    }
}
