// SPDX-License-Identifier: Apache-2.0
// What the two valets that ask a person share. They differ in how long the answer counts.

import Foundation
@_spi(Wrappers) import KeychainKit
import Synchronization

/// The items of a valet that asks a person before it reads, and what the person has proven so far.
final class EnclaveCore: Sendable {
    /// How long the answer of a person counts.
    enum Prompting {
        /// For one reading.
        case eachTime
        /// Until ``EnclaveCore/requirePromptOnNextAccess()``.
        case once
    }

    let compartment: Compartment
    let accessControl: SecureEnclaveAccessControl
    private let prompting: Prompting
    /// What the person has proven since they were asked. Only ``Prompting/once`` uses it.
    private let proven: Mutex<AuthenticationContext>
    /// Held while a value is read: a thread that waits for another's prompt finds it answered. It is recursive, because the
    /// authenticator may read a value as well.
    private let reading = NSRecursiveLock()

    init(
        _ service: Service, _ accessControl: SecureEnclaveAccessControl, _ prompting: Prompting,
        _ keychain: ChosenKeychain = ChosenKeychain()
    ) {
        (self.accessControl, self.prompting) = (accessControl, prompting)
        compartment = Compartment(service: service, keychain: keychain)
        proven = Mutex(keychain.freshContext)
    }

    var service: Service { compartment.service }

    /// The same items in another store.
    func using(
        _ store: any ItemStore, _ accessGroups: AccessGroups?, _ context: AuthenticationContext?
    ) -> EnclaveCore {
        EnclaveCore(
            service, accessControl, prompting, ChosenKeychain(store, accessGroups: accessGroups, context: context))
    }

    // MARK: - Without asking anybody

    /// An item that exists is replaced and not changed: changing it would ask.
    func setObject(_ object: Data, forKey key: String) throws(KeychainError) {
        try compartment.replaceObject(object, forKey: key)
    }

    // MARK: - Asking

    func object(forKey key: String, withPrompt prompt: String) throws(KeychainError) -> Data {
        try asking(prompt) { (secrets) throws(KeychainError) in try compartment.object(forKey: key, secrets) }
    }

    func string(forKey key: String, withPrompt prompt: String) throws(KeychainError) -> String {
        try asking(prompt) { (secrets) throws(KeychainError) in try compartment.string(forKey: key, secrets) }
    }

    func allKeys(userPrompt prompt: String) throws(KeychainError) -> Set<String> {
        try asking(prompt) { (secrets) throws(KeychainError) in try compartment.allKeys(secrets) }
    }

    func requirePromptOnNextAccess() { proven.withLock { $0 = compartment.keychain.freshContext } }

    private func asking<Result>(
        _ prompt: String, _ read: (SecretStore) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        var secrets = compartment.secrets
        secrets.prompt = prompt.isEmpty ? nil : prompt
        switch prompting {
        case .eachTime:
            secrets.context = compartment.keychain.context?.withoutProofs()
            return try read(secrets)
        case .once:
            reading.lock()
            defer { reading.unlock() }
            secrets.context = proven.withLock { $0 }
            return try read(secrets)
        }
    }
}
