// SPDX-License-Identifier: Apache-2.0
// Several reads and changes that happen at once or not at all.

public import KeychainEngine

/// What the body of a transaction works with: it reads the keychain as it is, and notes down what is to be changed.
///
/// ```swift
/// try store.transaction { transaction in
///     guard let secret = try transaction.read(SecretValue.self, for: "old name") else { return }
///     try transaction.save(secret, for: "new name")
///     transaction.remove("old name")
/// }
/// ```
///
/// Nothing is locked while the body runs. When it returns, all changes are made in one step, provided that what it has read
/// is still so; otherwise the body runs again. It sees its own changes. To be used only within its body.
public struct SecretTransaction {
    let store: SecretStore
    let record: TransactionRecord

    /// The same transaction for another service or server of the same keychain. Who is asked, and whether, is for the store
    /// to say whose transaction it is: its changes are one step, for which there is one leave.
    ///
    /// ```swift
    /// try transaction.in(archive).save(token, for: "alice")
    /// ```
    ///
    /// - Throws: `invalidParameter` if the other store is in another keychain.
    public func `in`(_ other: SecretStore) throws(KeychainError) -> SecretTransaction {
        guard other.backing.lane === store.backing.lane else {
            throw KeychainError(.invalidParameter, "A transaction is about one keychain; this store is in another.")
        }
        var other = other
        (other.context, other.mayAsk, other.prompt) = (store.context, store.mayAsk, store.prompt)
        return SecretTransaction(store: other, record: record)
    }

    // MARK: - Reading

    /// The value of an account, as the `read` of ``SecretStore`` reads it, or as this transaction has changed it.
    public func read<Value: Decodable>(
        _ type: Value.Type = Value.self, for account: String
    ) throws(KeychainError) -> Value? {
        try value(type, try bytes(account))
    }

    /// The same without blocking a thread.
    public nonisolated(nonsending) func read<Value: Decodable>(
        _ type: Value.Type = Value.self, for account: String
    ) async throws(KeychainError) -> Value? {
        try value(type, try await bytes(account))
    }

    /// Whether there is an item for an account. Unlike `contains` of ``SecretStore`` it reads the item, and so may ask for the
    /// user.
    public func contains(_ account: String) throws(KeychainError) -> Bool { try bytes(account) != nil }

    /// The same without blocking a thread.
    public nonisolated(nonsending) func contains(_ account: String) async throws(KeychainError) -> Bool {
        try await bytes(account) != nil
    }

    // MARK: - Changing

    /// Adds an item, or changes the one that is there, when the transaction is done.
    ///
    /// - Throws: `invalidParameter` if the value cannot be encoded.
    public func save<Value: Encodable>(
        _ value: Value, for account: String, _ attributes: ItemAttributes = ItemAttributes()
    ) throws(KeychainError) {
        record.add(.save(store, account, try store.coder.bytes(of: value), attributes))
    }

    /// Adds an item when the transaction is done, which fails as a whole, with `duplicateItem`, if there is one by then.
    ///
    /// - Throws: `invalidParameter` if the value cannot be encoded.
    public func create<Value: Encodable>(
        _ value: Value, for account: String, _ attributes: ItemAttributes = ItemAttributes()
    ) throws(KeychainError) {
        record.add(.create(store, account, try store.coder.bytes(of: value), attributes))
    }

    /// Removes the item of an account, if there is one, when the transaction is done.
    public func remove(_ account: String) { record.add(.remove(store, account)) }

    /// Forgets all changes that were noted down so far.
    public func discardChanges() { record.discardChanges() }

    // MARK: - What was read

    private func bytes(_ account: String) throws(KeychainError) -> TransactionRecord.Content? {
        if let known = record.known(store, account) { return known.content }
        let found = try store.call { (requests) throws(KeychainError) in
            try requests.find(account, includingValue: true)
        }
        return record.remember(store, account, found)
    }

    private nonisolated(nonsending) func bytes(
        _ account: String
    ) async throws(KeychainError) -> TransactionRecord.Content? {
        if let known = record.known(store, account) { return known.content }
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
