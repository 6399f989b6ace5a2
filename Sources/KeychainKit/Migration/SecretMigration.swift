// SPDX-License-Identifier: Apache-2.0
// Values that were saved as an earlier version of their type.

import Foundation

/// How a value is read that may have been saved as an earlier type.
///
/// ```swift
/// let migration = SecretMigration(to: Login.self)
///     .from(OldLogin.self) { Login(user: $0.user, password: $0.password) }
///     .from(String.self) { Login(user: "alice", password: $0) }
/// let login = try store.read(migration, for: "alice")
/// ```
///
/// Types are tried in the order given, the newest first, and the first counts that the value is one of. So a newer type must
/// not be one that an older value passes for: give it a field that older values lack.
public struct SecretMigration<Value: Codable> {
    /// - Returns: `nil` if the bytes are not of the older type.
    private typealias Step = (Data, any SecretCoder) throws -> Value?

    private var steps: [Step] = []

    public init(to type: Value.Type = Value.self) {}

    /// The next older type, and what becomes of its values.
    ///
    /// - Parameter convert: What it throws comes out of the reading, and nothing is changed.
    public func from<Old: Decodable>(
        _ type: Old.Type, _ convert: @escaping (Old) throws -> Value
    ) -> SecretMigration {
        var copy = self
        copy.steps.append { bytes, coder in try Self.decode(type, bytes, coder).map(convert) }
        return copy
    }

    /// The value, and whether it was one of an older type.
    ///
    /// - Throws: `typeMismatch` if it is of none of the types; what a conversion throws.
    func value(from bytes: Data, _ coder: any SecretCoder) throws -> (value: Value, isMigrated: Bool) {
        if let current = try Self.decode(Value.self, bytes, coder) { return (current, false) }
        for step in steps {
            if let migrated = try step(bytes, coder) { return (migrated, true) }
        }
        throw KeychainError(
            .typeMismatch,
            "The item is there, and its value is neither one of type \(Value.self) nor one of \(steps.count) older types. "
                + "It was left as it is.")
    }

    /// - Returns: `nil` if the bytes are not of this type; every other failure is one.
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
    /// Reads a value that may have been saved as an earlier type, and if so saves it as the new one, safe against other
    /// programs that do the same.
    ///
    /// ```swift
    /// let login = try store.read(migration, for: "alice")
    /// ```
    ///
    /// - Returns: `nil` only if the keychain could be read and there is no item.
    /// - Throws: `typeMismatch` if the value is of none of the types, and what `update` throws. In all cases the
    ///   old value is still there.
    public func read<Value: Codable>(_ migration: SecretMigration<Value>, for account: String) throws -> Value? {
        let coder = coder
        return try update(Data.self, for: account) { try migration.migrate(&$0, coder) }
    }

    /// The same without blocking a thread.
    public nonisolated(nonsending) func read<Value: Codable>(
        _ migration: SecretMigration<Value>, for account: String
    ) async throws -> Value? {
        let coder = coder
        return try await update(Data.self, for: account) { try migration.migrate(&$0, coder) }
    }
}

extension SecretMigration {
    /// Replaces bytes of an older type; bytes of the newest stay byte for byte what they are.
    fileprivate func migrate(_ bytes: inout Data?, _ coder: any SecretCoder) throws -> Value? {
        guard let old = bytes else { return nil }
        let (value, isMigrated) = try value(from: old, coder)
        if isMigrated { bytes = try coder.bytes(of: value) }
        return value
    }
}
