// SPDX-License-Identifier: Apache-2.0
// Secrets that leave a place where everybody could read them.

import Foundation

extension SecretStore {
    /// Takes values out of plain text into the keychain, and removes them there once they have been read back from here.
    ///
    /// ```swift
    /// try store.adopt(["apiToken": "alice"], from: UserDefaults.standard)
    /// ```
    ///
    /// All values are saved in one transaction. Broken off at any moment, each value is in at least one of the two places,
    /// and calling this again goes on.
    ///
    /// - Parameters:
    ///   - accounts: The account for each key; keys that the source does not have are passed over.
    ///   - removing: Whether the originals are removed in the end.
    /// - Returns: The keys that were found, in alphabetical order.
    /// - Throws: `duplicateItem`, and nothing has changed, if an account has another value already; what reading and saving
    ///   throw; `busy` if somebody else changes the source meanwhile, and what the source reports, when the values are in
    ///   both places.
    @discardableResult
    public func adopt(
        _ accounts: [String: String], from source: some PlaintextSource, removing: Bool = true
    ) throws -> [String] {
        let found = try Self.found(accounts, source)
        let (store, values) = (sharingContext, try plaintext(accounts, found))
        try store.transaction { transaction in
            for (_, account, bytes) in values where try transaction.isNew(bytes, for: account) {
                try transaction.save(bytes, for: account)
            }
        }
        for (_, account, bytes) in values where try store.read(Data.self, for: account) != bytes {
            throw KeychainError.notKept
        }
        if removing { try Self.remove(found, accounts, source) }
        return values.map(\.key)
    }

    /// The same without blocking a thread for the keychain; the source is read and written where the caller runs.
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

    /// In the one format whose writer sorts keys.
    private static func serialized(_ values: [String: Any]) throws(KeychainError) -> Data {
        do {
            return try PropertyListSerialization.data(fromPropertyList: values, format: .xml, options: 0)
        } catch {
            throw KeychainError(.invalidParameter, "The source holds values that are in no property list.")
        }
    }

    /// - Throws: `busy` if the source holds something else by now, which is nowhere else.
    private static func remove(
        _ found: [String: Any], _ accounts: [String: String], _ source: some PlaintextSource
    ) throws(KeychainError) {
        guard !found.isEmpty else { return }
        guard try serialized(Self.found(accounts, source)) == serialized(found) else { throw .changedMeanwhile }
        try source.removeValues(forKeys: found.keys.sorted())
    }

    /// - Throws: `duplicateItem` if there is another value.
    fileprivate static func isNew(_ bytes: Data, beside current: Data?) throws(KeychainError) -> Bool {
        guard let current else { return true }
        guard current == bytes else {
            throw KeychainError(
                .duplicateItem,
                "An account has another value in the keychain than in the source. Nothing was changed: decide which is right."
            )
        }
        return false
    }
}

extension SecretTransaction {
    fileprivate func isNew(_ bytes: Data, for account: String) throws(KeychainError) -> Bool {
        try SecretStore.isNew(bytes, beside: read(Data.self, for: account))
    }
}

extension KeychainError {
    fileprivate static let changedMeanwhile = KeychainError(
        .busy,
        "Somebody else has changed the source meanwhile. The values that it had are in the keychain, and it was left as it is."
    )
    fileprivate static let notKept = KeychainError(
        .inputOutput,
        "A value read back from the keychain is not the one that was saved. The original was left where it is.")
}
