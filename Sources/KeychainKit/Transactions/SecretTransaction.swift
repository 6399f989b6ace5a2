// SPDX-License-Identifier: Apache-2.0
// Several reads and changes that happen at once or not at all.

public import KeychainEngine

/// Reads the keychain and collects changes in the body of a transaction.
///
/// ```swift
/// try store.transaction { transaction in
///     guard let secret = try transaction.read(SecretValue.self, for: "old name") else { return }
///     try transaction.save(secret, for: "new name")
///     transaction.remove(for: "old name")
/// }
/// ```
///
/// Nothing is locked while the body runs. When it returns, all changes are made in one step, provided that nothing it
/// has read was changed since. Otherwise the body runs again. Reads see the transaction's own changes. Use it only
/// within its body.
public struct SecretTransaction {
    let store: SecretStore
    let record: TransactionRecord

    /// The same transaction for another service or server of the same keychain. It uses the context, the prompt and the
    /// `allowsInteraction` of the store that began the transaction: all changes are one step with one authentication.
    ///
    /// ```swift
    /// try transaction.in(archive).save(token, for: "alice")
    /// ```
    ///
    /// - Throws: `invalidParameter` if the other store is in another keychain.
    public func `in`(_ other: SecretStore) throws(KeychainError) -> SecretTransaction {
        guard other.backing.workerQueue === store.backing.workerQueue else {
            throw KeychainError(
                .invalidParameter, "A transaction covers one keychain, but this store is in another one.")
        }
        var other = other
        (other.context, other.allowsInteraction, other.prompt) = (store.context, store.allowsInteraction, store.prompt)
        return SecretTransaction(store: other, record: record)
    }

    // MARK: - Reading

    /// The value of an account: the one that the transaction has saved, otherwise the one in the keychain, as `read` of
    /// ``SecretStore`` reads it.
    ///
    /// - Throws: `invalidParameter` if the transaction has changed the account through a store with an access group and
    ///   this one has none, or the reverse; and the errors of reading.
    public func read<Value: Decodable>(
        _ type: Value.Type = Value.self, for account: String
    ) throws(KeychainError) -> Value? {
        try value(type, try bytes(account))
    }

    /// The asynchronous form.
    public nonisolated(nonsending) func read<Value: Decodable>(
        _ type: Value.Type = Value.self, for account: String
    ) async throws(KeychainError) -> Value? {
        try value(type, try await bytes(account))
    }

    /// Whether there is an item for an account. Unlike `contains` of ``SecretStore``, it reads the item and may ask the
    /// user.
    ///
    /// - Throws: The errors of `read`.
    public func contains(for account: String) throws(KeychainError) -> Bool { try bytes(account) != nil }

    /// The asynchronous form.
    public nonisolated(nonsending) func contains(for account: String) async throws(KeychainError) -> Bool {
        try await bytes(account) != nil
    }

    // MARK: - Changing

    /// Adds an item, or changes the existing one, when the transaction is committed.
    ///
    /// - Throws: `invalidParameter` if the value cannot be encoded.
    public func save<Value: Encodable>(
        _ value: Value, for account: String, attributes: ItemAttributes = ItemAttributes()
    ) throws(KeychainError) {
        record.add(.save(store, account, try store.coder.bytes(of: value), attributes))
    }

    /// Adds an item when the transaction is committed. If there is an item by then, the whole transaction fails with
    /// `duplicateItem`.
    ///
    /// - Throws: `invalidParameter` if the value cannot be encoded.
    public func create<Value: Encodable>(
        _ value: Value, for account: String, attributes: ItemAttributes = ItemAttributes()
    ) throws(KeychainError) {
        record.add(.create(store, account, try store.coder.bytes(of: value), attributes))
    }

    /// Removes the item of an account, if there is one, when the transaction is committed.
    public func remove(for account: String) { record.add(.remove(store, account)) }

    /// Discards all changes that were collected so far.
    public func discardChanges() { record.discardChanges() }

    // MARK: - What was read

    private func bytes(_ account: String) throws(KeychainError) -> TransactionRecord.Content? {
        if let known = try record.known(store, account) { return known.content }
        let found = try store.call { (requests) throws(KeychainError) in
            try requests.find(account, includingValue: true)
        }
        return record.remember(store, account, found)
    }

    private nonisolated(nonsending) func bytes(
        _ account: String
    ) async throws(KeychainError) -> TransactionRecord.Content? {
        if let known = try record.known(store, account) { return known.content }
        let found = try await store.call { (requests) throws(KeychainError) in
            try requests.find(account, includingValue: true)
        }
        return record.remember(store, account, found)
    }

    private func value<Value: Decodable>(
        _ type: Value.Type, _ content: TransactionRecord.Content?
    ) throws(KeychainError) -> Value? {
        guard let content else { return nil }
        guard let bytes = content.bytes else { throw .noValue }
        return try store.coder.value(type, from: bytes)
    }
}
