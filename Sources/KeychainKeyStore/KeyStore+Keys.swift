// SPDX-License-Identifier: Apache-2.0
// Saving, reading, listing and removing keys, on the caller's thread.

public import KeychainKit
import SecretMemory

extension KeyStore {
    /// Saves a key in one transaction: adds an item, or makes the existing key of the tag this key.
    ///
    /// ```swift
    /// try keys.save(key, tag: "com.example.signing", label: "Signs releases")
    /// ```
    ///
    /// The label, and the store's accessibility and access control, also apply to an existing key. What is not given
    /// stays as it is. At every moment, even after a crash, the keychain holds the old key or the new one. A public half
    /// of the old key that is stored with the tag is removed with it.
    ///
    /// - Parameters:
    ///   - tag: The name of the key. Tags are compared byte by byte.
    ///   - label: A name for people; `nil`: an existing key keeps its own.
    /// - Throws: `invalidParameter` for an empty tag, and for a key that is not valid or of a size that is not supported;
    ///   `duplicateItem` if other programs have stored several keys with the tag; `locked`; `unavailable` if the platform
    ///   cannot ask for what the access control requires; `missingEntitlement`; and errors of the store.
    public func save<Key: StorableKey>(_ key: Key, tag: String, label: String? = nil) throws(KeychainError) {
        let form = try KeyForm(Key.keyType, key.storedBytes)
        try call { (requests) throws(KeychainError) in try requests.save(form, tag, label) }
    }

    /// Saves a key only if there is no key of the tag.
    ///
    /// ```swift
    /// try keys.create(Curve25519.Signing.PrivateKey(), tag: "com.example.device")
    /// ```
    ///
    /// - Throws: `duplicateItem` if there is a key of the tag, which stays as it is; otherwise the errors of `save`.
    public func create<Key: StorableKey>(_ key: Key, tag: String, label: String? = nil) throws(KeychainError) {
        let form = try KeyForm(Key.keyType, key.storedBytes)
        try call { (requests) throws(KeychainError) in _ = try requests.create(form, tag, label) }
    }

    /// Reads the key of a tag. `nil` only if the keychain could be read and there is no key.
    ///
    /// ```swift
    /// let device = try keys.read(Curve25519.Signing.PrivateKey.self, tag: "com.example.device")
    /// ```
    ///
    /// If other programs have stored several keys with the tag, the one of the type is read.
    ///
    /// - Throws: `typeMismatch` if the key is of another type, which the message names; `duplicateItem` if several keys
    ///   of the type have the tag; `locked`; `corrupt`; `cancelled`, `authenticationFailed` or `interactionNotAllowed`
    ///   for a key that requires authentication; and errors of the store.
    public func read<Key: StorableKey>(_ type: Key.Type = Key.self, tag: String) throws(KeychainError) -> Key? {
        let wanted = Key.keyType
        let bytes = try call { (requests) throws(KeychainError) in try requests.read(wanted, tag) }
        return try bytes.map { (bytes) throws(KeychainError) in try .stored(bytes) }
    }

    /// Removes the key of a tag, even if it is locked. A store without an ``accessGroup`` removes it from all groups that
    /// the program may use. Public halves with the tag are removed too, and all keys if there are several.
    ///
    /// ```swift
    /// try keys.remove(tag: "com.example.device")
    /// ```
    ///
    /// - Returns: Whether there was a key.
    @discardableResult
    public func remove(tag: String) throws(KeychainError) -> Bool {
        try call { (requests) throws(KeychainError) in try requests.remove(tag) }
    }

    /// Whether there is a key of a tag. The user is not asked.
    ///
    /// - Throws: `locked` if this cannot be known while the keychain is locked.
    public func contains(tag: String) throws(KeychainError) -> Bool {
        try call { (requests) throws(KeychainError) in try requests.contains(tag) }
    }

    /// The key of a tag without its private bytes. The user is not asked.
    ///
    /// ```swift
    /// let line = try keys.key(tag: "com.example.device")?.openSSHPublicKey
    /// ```
    ///
    /// - Throws: `duplicateItem` if several keys have the tag; otherwise the errors of `keys`.
    public func key(tag: String) throws(KeychainError) -> StoredKey? {
        try call { (requests) throws(KeychainError) in try requests.key(tag) }
    }

    /// All private keys of the store's access group, or of all groups that the program may use, with their fingerprints.
    /// The user is not asked: of a key that requires authentication, the list has only the name and the type. The order
    /// is the same in every keychain.
    ///
    /// - Throws: `locked` if a key is locked; `corrupt` if there are only damaged keys; and errors of the store.
    public func keys() throws(KeychainError) -> [StoredKey] {
        try call { (requests) throws(KeychainError) in try requests.keys() }
    }
}

extension StorableKey {
    static func stored(_ bytes: SecretBytes) throws(KeychainError) -> Self {
        defer { scrubResidue() }
        do {
            // Checks sizes before the library, which ends the program on some.
            return try Self(storedBytes: KeyForm(keyType, bytes).bytes)
        } catch {
            throw .notAKey
        }
    }
}
