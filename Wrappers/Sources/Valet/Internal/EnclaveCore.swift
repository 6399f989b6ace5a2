// SPDX-License-Identifier: Apache-2.0
// What the two valets that ask the user share. They differ in how long an answer is valid.

import Foundation
@_spi(Wrappers) import KeychainKit
import Synchronization

/// The items of a valet that asks the user before it reads, and what the user has proven so far.
final class EnclaveCore: Sendable {
    /// How long an answer of the user is valid.
    enum Prompting {
        /// For one read.
        case eachTime
        /// Until ``EnclaveCore/requirePromptOnNextAccess()``.
        case once
    }

    let compartment: Compartment
    let accessControl: SecureEnclaveAccessControl
    private let prompting: Prompting
    /// What the user has proven since they were asked. Only ``Prompting/once`` uses it.
    private let proven: Mutex<AuthenticationContext>
    /// Held while a value is read: a thread that waits for another thread's prompt then uses its answer. It is
    /// recursive, because the authenticator may also read a value.
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

    // MARK: - Without asking the user

    /// An existing item is replaced, not changed, because a change would ask the user.
    func setObject(_ object: Data, forKey key: String) throws(KeychainError) {
        try compartment.replaceObject(object, forKey: key)
    }

    // MARK: - Asking the user

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
