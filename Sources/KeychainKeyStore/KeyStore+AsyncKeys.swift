// SPDX-License-Identifier: Apache-2.0
// Saving, reading, listing and removing keys, without blocking a thread.

public import KeychainKit

/// The asynchronous forms do the same as the synchronous forms of the same name. They throw `timedOut` after
/// ``KeyStore/timeout``, and `cancelled` when their task is cancelled. A change is then either complete before the error
/// is thrown, or it never happens.
extension KeyStore {
    /// Saves a key in one transaction: adds an item, or makes the existing key of the tag this key.
    public nonisolated(nonsending) func save<Key: StorableKey>(
        _ key: Key, tag: String, label: String? = nil
    ) async throws(KeychainError) {
        let form = try KeyForm(Key.keyType, key.storedBytes)
        try await call { (requests) throws(KeychainError) in try requests.save(form, tag, label) }
    }

    /// Saves a key only if there is no key of the tag.
    public nonisolated(nonsending) func create<Key: StorableKey>(
        _ key: Key, tag: String, label: String? = nil
    ) async throws(KeychainError) {
        let form = try KeyForm(Key.keyType, key.storedBytes)
        try await call { (requests) throws(KeychainError) in _ = try requests.create(form, tag, label) }
    }

    /// Reads the key of a tag. `nil` only if the keychain could be read and there is no key.
    public nonisolated(nonsending) func read<Key: StorableKey>(
        _ type: Key.Type = Key.self, tag: String
    ) async throws(KeychainError) -> Key? {
        let wanted = Key.keyType
        let bytes = try await call { (requests) throws(KeychainError) in try requests.read(wanted, tag) }
        return try bytes.map { (bytes) throws(KeychainError) in try .stored(bytes) }
    }

    /// Removes the key of a tag, even if it is locked. Returns whether there was one.
    @discardableResult
    public nonisolated(nonsending) func remove(tag: String) async throws(KeychainError) -> Bool {
        try await call { (requests) throws(KeychainError) in try requests.remove(tag) }
    }

    /// Whether there is a key of a tag. The user is not asked.
    public nonisolated(nonsending) func contains(tag: String) async throws(KeychainError) -> Bool {
        try await call { (requests) throws(KeychainError) in try requests.contains(tag) }
    }

    /// The key of a tag without its private bytes. The user is not asked.
    public nonisolated(nonsending) func key(tag: String) async throws(KeychainError) -> StoredKey? {
        try await call { (requests) throws(KeychainError) in try requests.key(tag) }
    }

    /// All private keys with their fingerprints. The user is not asked.
    public nonisolated(nonsending) func keys() async throws(KeychainError) -> [StoredKey] {
        try await call { (requests) throws(KeychainError) in try requests.keys() }
    }
}
