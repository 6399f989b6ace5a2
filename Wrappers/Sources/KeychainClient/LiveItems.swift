// SPDX-License-Identifier: Apache-2.0
// A client's values as items of a valet.

import Foundation
@_spi(Wrappers) import KeychainKit
import Valet

/// Each value is one item, so it is never stored in part.
struct LiveItems: Sendable {
    let valet: Valet

    // MARK: - Text

    /// - Returns: `nil` only if there is none.
    nonisolated(nonsending) func text(_ key: String) async throws -> String? {
        try await calling(key) { secrets in try await secrets.read(Data.self, for: key).map { try text($0, key) } }
    }

    nonisolated(nonsending) func set(_ text: String, _ key: String) async throws {
        let bytes = Data(text.utf8)
        try valet.checkIsStorable(bytes)
        try await calling(key) { try await $0.save(bytes, for: key) }
    }

    nonisolated(nonsending) func remove(_ key: String) async throws {
        _ = try await calling(key) { try await $0.remove(for: key) }
    }

    private func text(_ bytes: Data, _ key: String) throws -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw KeychainClient.Failure.unreadable(key: key)
        }
        return text
    }

    // MARK: - The user

    /// - Throws: `itemNotFound` if there is none at all.
    nonisolated(nonsending) func userData() async throws -> UserData {
        guard let user = try await reading({ try await self.user($0) }) else { throw valet.absence() }
        return user
    }

    nonisolated(nonsending) func userIdentifier() async throws -> String? {
        try await reading { transaction in
            if let user = try await record(transaction) { return user.identifier }
            return try await part(KeychainKeys.identifier, transaction)
        }
    }

    nonisolated(nonsending) func set(_ user: UserData) async throws {
        let bytes = try JSONEncoder().encode(user)
        // The record is stored first: from then on the parts are not read.
        try await changing { transaction in
            try transaction.save(bytes, for: KeychainKeys.userData)
            for key in KeychainKeys.partsOfUser { transaction.remove(for: key) }
        }
    }

    nonisolated(nonsending) func removeUserData() async throws {
        try await changing { transaction in
            for key in KeychainKeys.partsOfUser + [KeychainKeys.userData] { transaction.remove(for: key) }
        }
    }

    /// The record, or the parts that older versions stored.
    private nonisolated(nonsending) func user(_ transaction: SecretTransaction) async throws -> UserData? {
        if let user = try await record(transaction) { return user }
        var parts: [String: String] = [:]
        for key in KeychainKeys.partsOfUser { parts[key] = try await part(key, transaction) }
        return try UserData(parts: parts)
    }

    private nonisolated(nonsending) func record(_ transaction: SecretTransaction) async throws -> UserData? {
        guard let bytes = try await transaction.read(Data.self, for: KeychainKeys.userData) else { return nil }
        do {
            return try JSONDecoder().decode(UserData.self, fromStored: bytes)
        } catch {
            // The decoder's own error would reveal the bytes.
            throw KeychainClient.Failure.unreadable(key: KeychainKeys.userData)
        }
    }

    private nonisolated(nonsending) func part(_ key: String, _ transaction: SecretTransaction) async throws -> String? {
        try await transaction.read(Data.self, for: key).map { try text($0, key) }
    }

    // MARK: - Calls

    /// All reads see the same state.
    private nonisolated(nonsending) func reading<Result>(
        _ body: nonisolated(nonsending) (SecretTransaction) async throws -> Result
    ) async throws -> Result {
        try await calling(KeychainKeys.userData) { try await $0.transaction(body) }
    }

    /// In a keychain without transactions, such as Apple's, the changes are made one after another.
    private nonisolated(nonsending) func changing(
        _ body: nonisolated(nonsending) (SecretTransaction) async throws -> Void
    ) async throws {
        try await calling(KeychainKeys.userData) { try await $0.transactionOrSteps(body) }
    }

    /// - Parameter key: The key that is named in the error if an item has no value.
    private nonisolated(nonsending) func calling<Result>(
        _ key: String, _ body: nonisolated(nonsending) (SecretStore) async throws -> Result
    ) async throws -> Result {
        try await valet.calling { secrets in
            do {
                return try await body(secrets)
            } catch let failure as KeychainKit.KeychainError {
                if failure.reason == .cancelled && Task.isCancelled { throw CancellationError() }
                guard failure.reason == .typeMismatch else { throw failure }
                throw KeychainClient.Failure.unreadable(key: key)
            }
        }
    }
}

extension UserData {
    /// - Returns: `nil` if there are no parts at all.
    /// - Throws: `incompleteUserData` if some parts are missing. Parts of two users must not be combined.
    fileprivate init?(parts: [String: String]) throws(KeychainClient.Failure) {
        guard !parts.isEmpty else { return nil }
        guard let email = parts[KeychainKeys.email], let firstName = parts[KeychainKeys.firstName],
            let lastName = parts[KeychainKeys.lastName], let identifier = parts[KeychainKeys.identifier]
        else { throw .incompleteUserData(missing: KeychainKeys.partsOfUser.filter { parts[$0] == nil }) }
        self.init(email: email, firstName: firstName, lastName: lastName, identifier: identifier)
    }
}
