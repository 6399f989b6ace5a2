// SPDX-License-Identifier: Apache-2.0
// Migration of values that were saved as an earlier type.

import Foundation

/// Reads a value that may have been saved as an earlier type.
///
/// ```swift
/// let migration = SecretMigration(to: Login.self)
///     .from(OldLogin.self) { Login(user: $0.user, password: $0.password) }
///     .from(String.self) { Login(user: "alice", password: $0) }
/// let login = try store.read(migration, for: "alice")
/// ```
///
/// Types are tried in the given order, the newest first. The first type that the value decodes as is used. So an old
/// value must not decode as a newer type: give the newer type a field that older values lack.
public struct SecretMigration<Value: Codable> {
    /// - Returns: `nil` if the bytes are not of the older type.
    private typealias Step = (Data, any SecretCoder) throws -> Value?

    private var steps: [Step] = []

    public init(to type: Value.Type = Value.self) {}

    /// Adds the next older type and the conversion of its values.
    ///
    /// - Parameter convert: If it throws, reading throws the same error and changes nothing.
    public func from<Old: Decodable>(
        _ type: Old.Type, _ convert: @escaping (Old) throws -> Value
    ) -> SecretMigration {
        var copy = self
        copy.steps.append { bytes, coder in try Self.decode(type, bytes, coder).map(convert) }
        return copy
    }

    /// Decodes the value. Also returns whether it was of an older type.
    ///
    /// - Throws: `typeMismatch` if it is of none of the types; the error of a conversion.
    func value(from bytes: Data, _ coder: any SecretCoder) throws -> (value: Value, isMigrated: Bool) {
        if let current = try Self.decode(Value.self, bytes, coder) { return (current, false) }
        for step in steps {
            if let migrated = try step(bytes, coder) { return (migrated, true) }
        }
        throw KeychainError(
            .typeMismatch,
            "The item's value is neither of type \(Value.self) nor of one of \(steps.count) older types. "
                + "The item was not changed.")
    }

    /// - Returns: `nil` if the bytes are not of this type. Other failures are thrown.
    private static func decode<Kind: Decodable>(
        _ type: Kind.Type, _ bytes: Data, _ coder: any SecretCoder
    ) throws(KeychainError) -> Kind? {
        do throws(KeychainError) {
            return try coder.value(type, from: bytes)
        } catch {
            guard error.reason == .typeMismatch else { throw error }
            return nil
        }
    }
}

extension SecretStore {
    /// Reads a value that may have been saved as an earlier type. A value of an earlier type is saved as the new type.
    /// This is atomic across processes.
    ///
    /// ```swift
    /// let login = try store.read(migration, for: "alice")
    /// ```
    ///
    /// - Returns: `nil` only if the keychain could be read and there is no item.
    /// - Throws: `typeMismatch` if the value is of none of the types, and the errors of `update`. After an error the
    ///   item has the old value, or the converted one if the call ended during the commit.
    public func read<Value: Codable>(_ migration: SecretMigration<Value>, for account: String) throws -> Value? {
        let coder = coder
        return try update(Data.self, for: account) { try migration.migrate(&$0, coder) }
    }

    /// The asynchronous form.
    public nonisolated(nonsending) func read<Value: Codable>(
        _ migration: SecretMigration<Value>, for account: String
    ) async throws -> Value? {
        let coder = coder
        return try await update(Data.self, for: account) { try migration.migrate(&$0, coder) }
    }
}

extension SecretMigration {
    /// Replaces bytes of an older type. Bytes of the newest type are not changed.
    fileprivate func migrate(_ bytes: inout Data?, _ coder: any SecretCoder) throws -> Value? {
        guard let old = bytes else { return nil }
        let (value, isMigrated) = try value(from: old, coder)
        if isMigrated { bytes = try coder.bytes(of: value) }
        return value
    }
}
