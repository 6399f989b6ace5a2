// SPDX-License-Identifier: Apache-2.0
// Moving secrets from plain text into the keychain.

import Foundation
import KeychainEngine
public import KeychainKit

extension SecretStore {
    /// Moves values from plain text into the keychain. The originals are removed after the values have been read back
    /// from the keychain.
    ///
    /// ```swift
    /// try store.adopt(["apiToken": "alice"], from: UserDefaults.standard)
    /// ```
    ///
    /// All values are saved in one transaction. If the process is interrupted, each value is in at least one of the two
    /// places, and calling this again continues.
    ///
    /// - Parameters:
    ///   - accounts: The account for each key. Keys that the source does not have are ignored.
    ///   - removing: Whether the originals are removed at the end.
    /// - Returns: The keys that were found, in alphabetical order.
    /// - Throws: `duplicateItem` if an account already has another value, and the error of the source if it cannot be
    ///   read at the start; then nothing has changed. `busy` if another program changes the source meanwhile, and the
    ///   error of the source if it cannot be changed; then the values are in both places. The errors of reading and
    ///   saving.
    @discardableResult
    public func adopt(
        _ accounts: [String: String], from source: some PlaintextSource, removing: Bool = true
    ) throws -> [String] {
        let found = try Self.found(accounts, source)
        let (store, values) = (sharingContext, try plaintext(accounts, found))
        try store.transaction { transaction in
            for (_, account, bytes) in values {
                let current = try transaction.read(Data.self, for: account)
                if try Self.isNew(bytes, beside: current) { try transaction.save(bytes, for: account) }
            }
        }
        for (_, account, bytes) in values where try store.read(Data.self, for: account) != bytes {
            throw KeychainError.notKept
        }
        if removing { try Self.remove(found, accounts, source) }
        return values.map(\.key)
    }

    /// The asynchronous form. The source is read and written on the caller's executor.
    @discardableResult
    public nonisolated(nonsending) func adopt(
        _ accounts: [String: String], from source: some PlaintextSource, removing: Bool = true
    ) async throws -> [String] {
        let found = try Self.found(accounts, source)
        let (store, values) = (sharingContext, try plaintext(accounts, found))
        try await store.transaction { transaction in
            for (_, account, bytes) in values {
                let current = try await transaction.read(Data.self, for: account)
                if try Self.isNew(bytes, beside: current) { try transaction.save(bytes, for: account) }
            }
        }
        for (_, account, bytes) in values {
            guard try await store.read(Data.self, for: account) == bytes else { throw KeychainError.notKept }
        }
        if removing { try Self.remove(found, accounts, source) }
        return values.map(\.key)
    }

    /// The values in the source, by key.
    private static func found(
        _ accounts: [String: String], _ source: some PlaintextSource
    ) throws(KeychainError) -> [String: Any] {
        var found: [String: Any] = [:]
        for key in accounts.keys { found[key] = try source.propertyListValue(forKey: key) }
        return found
    }

    private func plaintext(
        _ accounts: [String: String], _ found: [String: Any]
    ) throws(KeychainError) -> [(key: String, account: String, bytes: Data)] {
        var values: [(key: String, account: String, bytes: Data)] = []
        for (key, account) in accounts.sorted(by: { $0.key < $1.key }) {
            guard let value = found[key] else { continue }
            values.append((key, account, try PropertyListValue(value).bytes(coder)))
        }
        return values
    }

    /// XML is the format whose writer sorts keys.
    private static func serialized(_ values: [String: Any]) throws(KeychainError) -> Data {
        do {
            return try PropertyListSerialization.data(fromPropertyList: values, format: .xml, options: 0)
        } catch {
            throw KeychainError(.invalidParameter, "The source has values that a property list cannot contain.")
        }
    }

    /// - Throws: `busy` if the source now holds other values, which are nowhere else.
    private static func remove(
        _ found: [String: Any], _ accounts: [String: String], _ source: some PlaintextSource
    ) throws(KeychainError) {
        guard !found.isEmpty else { return }
        guard try serialized(Self.found(accounts, source)) == serialized(found) else { throw .changedMeanwhile }
        try source.removeValues(forKeys: found.keys.sorted())
    }

    /// - Throws: `duplicateItem` if the account has another value.
    fileprivate static func isNew(_ bytes: Data, beside current: Data?) throws(KeychainError) -> Bool {
        guard let current else { return true }
        guard current == bytes else {
            throw KeychainError(
                .duplicateItem,
                "An account has different values in the keychain and in the source. Nothing was changed. Remove one of them."
            )
        }
        return false
    }
}

extension KeychainError {
    fileprivate static let changedMeanwhile = KeychainError(
        .busy,
        "Another process changed the source at the same time. Its previous values are in the keychain, and nothing was "
            + "removed from it."
    )
    fileprivate static let notKept = KeychainError(
        .inputOutput,
        "A value read back from the keychain is not the one that was saved. The original was kept.")
}
