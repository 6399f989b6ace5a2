// SPDX-License-Identifier: Apache-2.0
// Saving, reading and removing items without blocking a thread.

import Foundation
@_spi(Wrappers) import KeychainKit

/// The asynchronous forms of the calls. They time out after ten seconds, plus five minutes if the user has to be asked,
/// and end when their task is cancelled. When a change throws, it has either happened already or will never happen.
extension JSKeychain {
    /// Saves a value in one transaction: creates an item, or changes the existing one.
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

    /// Removes an item, even while it is locked. It is not an error if there is none.
    public nonisolated(nonsending) func delete(service: String, account: String) async throws {
        try await reporting { () async throws(KeychainError) in _ = try await secrets(service).remove(for: account) }
    }

    /// Whether an item exists. Also `false` if the keychain cannot be read.
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

    /// Removes all items of a service, as ``deleteAll(service:)`` does, without blocking the thread. Without a service
    /// it removes all generic passwords, including those of other programs.
    ///
    /// ```swift
    /// try await keychain.deleteAllWithoutBlocking(service: "com.example.app")
    /// ```
    ///
    /// It has its own name because the original has no asynchronous `deleteAll`. With an asynchronous overload, Swift
    /// would reject the calls without `await` that programs make in asynchronous functions.
    ///
    /// - Throws: ``JSKeychainError``.
    public nonisolated(nonsending) func deleteAllWithoutBlocking(service: String? = nil) async throws {
        try await reporting { () async throws(KeychainError) in
            _ = try await keychain.catalog.removeAll([.genericPassword], matching: filter(service))
        }
    }
}
