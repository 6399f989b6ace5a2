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
    ///   throw; and what the source reports, when the values are in both places.
    @discardableResult
    public func adopt(
        _ accounts: [String: String], from source: some PlaintextSource, removing: Bool = true
    ) throws -> [String] {
        let values = try plaintext(accounts, source)
        try transaction { transaction in
            for (_, account, bytes) in values where try transaction.isNew(bytes, for: account) {
                try transaction.save(bytes, for: account)
            }
        }
        for (_, account, bytes) in values where try read(Data.self, for: account) != bytes {
            throw KeychainError.notKept
        }
        let keys = values.map(\.key)
        if removing, !keys.isEmpty { try source.removeValues(forKeys: keys) }
        return keys
    }

    /// The same without blocking a thread for the keychain; the source is read and written where the caller runs.
    @discardableResult
    public nonisolated(nonsending) func adopt(
        _ accounts: [String: String], from source: some PlaintextSource, removing: Bool = true
    ) async throws -> [String] {
        let values = try plaintext(accounts, source)
        try await transaction { transaction in
            for (_, account, bytes) in values {
                let current = try await transaction.read(Data.self, for: account)
                if try Self.isNew(bytes, beside: current) { try transaction.save(bytes, for: account) }
            }
        }
        for (_, account, bytes) in values {
            guard try await read(Data.self, for: account) == bytes else { throw KeychainError.notKept }
        }
        let keys = values.map(\.key)
        if removing, !keys.isEmpty { try source.removeValues(forKeys: keys) }
        return keys
    }

    private func plaintext(
        _ accounts: [String: String], _ source: some PlaintextSource
    ) throws(KeychainError) -> [(key: String, account: String, bytes: Data)] {
        var values: [(key: String, account: String, bytes: Data)] = []
        for (key, account) in accounts.sorted(by: { $0.key < $1.key }) {
            guard let value = try source.propertyListValue(forKey: key) else { continue }
            values.append((key, account, try PropertyListValue(value).bytes(coder)))
        }
        return values
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
    fileprivate static let notKept = KeychainError(
        .inputOutput,
        "A value read back from the keychain is not the one that was saved. The original was left where it is.")
}
