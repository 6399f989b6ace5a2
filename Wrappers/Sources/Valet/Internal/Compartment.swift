// SPDX-License-Identifier: Apache-2.0
// The calls on the items of one service, for all kinds of valets.

import Foundation
@_spi(Wrappers) import KeychainEngine
@_spi(Wrappers) import KeychainKit

/// The items of one service in one keychain, and the failure of the last call on them.
struct Compartment: Sendable {
    let service: Service
    let keychain: ChosenKeychain
    let failures = FailureRecord()

    /// The key that ``canAccess()`` writes. It is the same as in the original, so that there is only one such item.
    static let canaryKey = "VAL_KeychainCanaryUsername"
    private static let canaryValue = "VAL_KeychainCanaryPassword"

    /// The items as a store of KeychainKit.
    var secrets: SecretStore {
        let configuration = service.configuration
        var secrets = keychain.secrets(service: service.description, accessGroup: service.accessGroup)
        secrets.accessibility = configuration.accessibility.ofKeychainKit
        secrets.accessControl = configuration.accessControl?.flags
        secrets.synchronizable = configuration.isSynchronizable
        return secrets
    }

    // MARK: - Values

    func setObject(_ object: Data, forKey key: String) throws(KeychainError) {
        try check(key)
        try check(object)
        try recording { () throws(KeychainKit.KeychainError) in try secrets.save(object, for: key) }
    }

    /// A new item replaces the old one in one transaction, so that the user is not asked for permission to change it.
    func replaceObject(_ object: Data, forKey key: String) throws(KeychainError) {
        try check(key)
        try check(object)
        try recording { () throws(KeychainKit.KeychainError) in try replace(object, key) }
    }

    private func replace(_ object: Data, _ key: String) throws(KeychainKit.KeychainError) {
        do {
            try secrets.transaction { transaction in
                transaction.remove(for: key)
                try transaction.save(object, for: key)
            }
        } catch {
            // A transaction rethrows the error of its body, and this body throws only KeychainKit errors.
            if let failure = error as? KeychainKit.KeychainError, failure.reason != .unsupported { throw failure }
            // A keychain without transactions changes the item in place, and may ask the user.
            try secrets.save(object, for: key)
        }
    }

    func object(forKey key: String, _ asking: SecretStore? = nil) throws(KeychainError) -> Data {
        try value(Data.self, key, asking ?? secrets)
    }

    func string(forKey key: String, _ asking: SecretStore? = nil) throws(KeychainError) -> String {
        try value(String.self, key, asking ?? secrets)
    }

    private func value<Value: Decodable>(
        _ type: Value.Type, _ key: String, _ secrets: SecretStore
    ) throws(KeychainError) -> Value {
        try check(key)
        return try recording { () throws(KeychainKit.KeychainError) in
            guard let value = try secrets.read(type, for: key) else { throw .absent }
            return value
        }
    }

    func containsObject(forKey key: String) throws(KeychainError) -> Bool {
        try check(key)
        return try recording { () throws(KeychainKit.KeychainError) in try secrets.contains(for: key) }
    }

    func allKeys(_ asking: SecretStore? = nil) throws(KeychainError) -> Set<String> {
        let items = try recording { () throws(KeychainKit.KeychainError) in
            if let asking { try asking.itemsByAsking() } else { try secrets.items() }
        }
        return Set(items.compactMap(\.account)).subtracting([Self.canaryKey])
    }

    func removeObject(forKey key: String) throws(KeychainError) {
        try check(key)
        _ = try recording { () throws(KeychainKit.KeychainError) in try secrets.remove(for: key) }
    }

    func removeAllObjects() throws(KeychainError) {
        _ = try recording { () throws(KeychainKit.KeychainError) in try secrets.removeAll() }
    }

    // MARK: - Access check

    /// Writes a value and reads it.
    func canAccess() -> Bool {
        attempt { () throws(KeychainKit.KeychainError) in
            if try canReadCanary() { return true }
            try secrets.save(Self.canaryValue, for: Self.canaryKey)
            return try secrets.read(String.self, for: Self.canaryKey) == Self.canaryValue
        }
    }

    /// One that is damaged says nothing of other values, and is written again.
    private func canReadCanary() throws(KeychainKit.KeychainError) -> Bool {
        do throws(KeychainKit.KeychainError) {
            return try secrets.read(String.self, for: Self.canaryKey) == Self.canaryValue
        } catch {
            guard [.typeMismatch, .corrupt, .ofAnotherDevice].contains(error.reason) else { throw error }
            return false
        }
    }

    /// Writes and reads a value that does not require the user, and writes one that does.
    func canAccessWithoutPrompt() -> Bool {
        let plain = Compartment(
            service: service.with(.valet(service.configuration.accessibility)), keychain: keychain)
        guard plain.canAccess() else {
            if let failure = plain.failures.last { failures.record(failure) }
            return false
        }
        return attempt { () throws(KeychainKit.KeychainError) in
            if try !secrets.contains(for: Self.canaryKey) { try secrets.save(Self.canaryValue, for: Self.canaryKey) }
            return true
        }
    }

    private func attempt(_ body: () throws(KeychainKit.KeychainError) -> Bool) -> Bool {
        do throws(KeychainKit.KeychainError) { return try failures.recording(body) } catch { return false }
    }

    // MARK: - Failures

    func recording<Result>(
        _ body: () throws(KeychainKit.KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        do throws(KeychainKit.KeychainError) {
            return try failures.recording(body)
        } catch {
            throw KeychainError(error)
        }
    }

    /// Converts failures of KeychainKit to this module's; other errors are unchanged. For migrations, which throw two
    /// kinds of errors.
    func recordingAny<Result>(_ body: () throws -> Result) throws -> Result {
        // A failure outside KeychainKit has no record there; the record of an earlier call must not be taken for it.
        failures.record(nil)
        do {
            return try body()
        } catch let failure as KeychainKit.KeychainError {
            throw recorded(failure)
        }
    }

    /// The error to throw for a failure.
    func recorded(_ failure: KeychainKit.KeychainError) -> KeychainError {
        failures.record(failure)
        return KeychainError(failure)
    }

    func check(_ key: String) throws(KeychainError) {
        guard key.isEmpty else { return }
        failures.record(.emptyKey)
        throw .emptyKey
    }

    func check(_ object: Data) throws(KeychainError) {
        guard object.isEmpty else { return }
        failures.record(.emptyValue)
        throw .emptyValue
    }
}

extension KeychainKit.KeychainError {
    static let absent = KeychainKit.KeychainError(.itemNotFound, "There is no item for this key.")
    fileprivate static let emptyKey = KeychainKit.KeychainError(.invalidParameter, "Keys have at least one character.")
    fileprivate static let emptyValue = KeychainKit.KeychainError(.invalidParameter, "Values have at least one byte.")
}

// MARK: - Equality

extension Compartment {
    /// Whether both stand for the same items of the same keychain.
    func isSame(as other: Compartment) -> Bool { service == other.service && keychain.isSame(as: other.keychain) }

    /// Equal for compartments that ``isSame(as:)`` considers the same.
    var hash: Int { service.name.hashValue }
}

extension ChosenKeychain {
    /// A context that asks as the chosen one does, without proofs.
    var freshContext: AuthenticationContext { context?.withoutProofs() ?? AuthenticationContext() }

    func isSame(as other: ChosenKeychain) -> Bool {
        guard let store, let otherStore = other.store else { return store == nil && other.store == nil }
        return store as AnyObject === otherStore as AnyObject
    }
}
