// SPDX-License-Identifier: Apache-2.0
// Keychains for tests, and what is said and asked in them.

import JSKeychain
import KeychainEngine
import KeychainKit
import SecretMemory
import Synchronization
import VaultUnderTest

extension StoreKind {
    /// A keychain over a fresh store of this kind, which asks nobody.
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

/// The error that something ends with; `nil` if it succeeds.
func failure(_ body: () throws -> Any?) -> JSKeychainError? {
    do {
        _ = try body()
        return nil
    } catch {
        return error as? JSKeychainError
    }
}

/// A person who knows the passphrase, and notes what they are asked for.
final class Person: Authenticator {
    let methods: Set<AuthenticationMethod> = [.passphrase]
    private let passphrase: String
    private let heard = Mutex<[String]>([])

    var reasons: [String] { heard.withLock { $0 } }

    init(_ passphrase: String) { self.passphrase = passphrase }

    func ask(_ question: AuthenticationQuestion) throws(KeychainError) -> AuthenticationAnswer {
        heard.withLock { $0.append(question.reason) }
        return .secret(SecretBytes(text: passphrase))
    }
}

extension ItemStore {
    /// What KeychainKit sees of the items named `alice`: those that synchronize, or those that do not.
    func secrets(synchronizable: Bool = false, accessGroup: String? = nil, service: String = "app") -> SecretStore {
        SecretStore(service: service, accessGroup: accessGroup, synchronizable: synchronizable, store: self)
    }
}

/// A store with one item, which does not open.
struct DamagedStore: ItemStore {
    func select(_: Selection, limit _: Int?, includingValues _: Bool, _: Authorization) -> SelectedItems {
        SelectedItems(items: [], damaged: 1)
    }

    func insert(_: Item, _: Authorization) throws(KeychainError) -> StoredItem { throw .damagedItem }

    func update(
        _: Selection, _: Authorization, _: (StoredItem) throws(KeychainError) -> Item
    ) -> SelectedItems { SelectedItems(items: [], damaged: 1) }

    func delete(_: Selection, _: Authorization) throws(KeychainError) -> Int { throw .damagedItem }
}
