// SPDX-License-Identifier: Apache-2.0
// Saving, reading and removing items, without blocking a thread.

import Foundation
@_spi(Wrappers) import KeychainKit

/// The forms to `await` do what the others do. They end after ten seconds, and five minutes more for a person who
/// has to be asked; and when their task is cancelled. A change has then happened by the time of the error, or never happens.
extension JSKeychain {
    /// Saves a value: makes an item, or changes the one that is there, in one transaction.
    public nonisolated(nonsending) func save<T: Codable>(
        _ item: T, service: String, account: String, accessibility: JSKeychainAccessibility = .whenUnlocked,
        biometricOptions: JSBiometricOptions? = nil
    ) async throws {
        try await reporting { () async throws(KeychainError) in
            let bytes = try bytes(of: item)
            try await secrets(service, accessibility, biometricOptions).save(bytes, for: account)
        }
    }

    /// Reads a value.
    public nonisolated(nonsending) func read<T: Codable>(
        service: String, account: String, biometricReason: String? = nil
    ) async throws -> T {
        try await reporting { () async throws(KeychainError) in
            try value(of: try await secrets(service, prompt: biometricReason).read(Data.self, for: account))
        }
    }

    /// Removes an item, also while it is locked. That there is none is no error.
    public nonisolated(nonsending) func delete(service: String, account: String) async throws {
        try await reporting { () async throws(KeychainError) in _ = try await secrets(service).remove(for: account) }
    }

    /// Whether there is an item; `false` also if that cannot be told.
    public nonisolated(nonsending) func exists(service: String, account: String) async -> Bool {
        await telling { () async throws(KeychainError) in try await secrets(service).contains(for: account) }
    }

    /// The items of a service, or of all services, by access group, account and service.
    public nonisolated(nonsending) func listAll(service: String? = nil) async throws -> [JSKeychainItem] {
        try await reporting { () async throws(KeychainError) in
            try await keychain.catalog.listingEntries(.genericPassword, matching: filter(service))
                .compactMap(JSKeychainItem.init)
        }
    }

    /// Removes all items of a service, as ``deleteAll(service:)`` does, which blocks its thread in a task too; of all services,
    /// whatever program has made them, if none is named.
    ///
    /// ```swift
    /// try await keychain.deleteAllWithoutBlocking(service: "com.example.app")
    /// ```
    ///
    /// It has a name of its own: the original has no `deleteAll` to `await`, and with one Swift would refuse the calls without
    /// `await` that programs make in asynchronous functions.
    ///
    /// - Throws: ``JSKeychainError``.
    public nonisolated(nonsending) func deleteAllWithoutBlocking(service: String? = nil) async throws {
        try await reporting { () async throws(KeychainError) in
            _ = try await keychain.catalog.removeAll([.genericPassword], matching: filter(service))
        }
    }
}
