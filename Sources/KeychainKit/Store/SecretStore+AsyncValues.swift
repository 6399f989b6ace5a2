// SPDX-License-Identifier: Apache-2.0
// Saving, reading and removing values, without blocking a thread.

/// The asynchronous forms do what the synchronous ones of the same name do. They end after ``SecretStore/deadline`` with
/// `timedOut`, and when their task is cancelled with `cancelled`; a change has then happened by the time of the error, or
/// never happens.
extension SecretStore {
    /// Saves a value: adds an item, or changes the one that is there in place, in one transaction.
    public nonisolated(nonsending) func save<Value: Encodable>(
        _ value: Value, for account: String, _ attributes: ItemAttributes = ItemAttributes()
    ) async throws(KeychainError) {
        let bytes = try coder.bytes(of: value)
        try await call { (requests) throws(KeychainError) in try requests.save(account, bytes, attributes) }
    }

    /// Saves a value that must be new.
    public nonisolated(nonsending) func create<Value: Encodable>(
        _ value: Value, for account: String, _ attributes: ItemAttributes = ItemAttributes()
    ) async throws(KeychainError) {
        let bytes = try coder.bytes(of: value)
        try await call { (requests) throws(KeychainError) in try requests.create(account, bytes, attributes) }
    }

    /// Reads the value of an account; `nil` only if the keychain could be read and there is none.
    public nonisolated(nonsending) func read<Value: Decodable>(
        _ type: Value.Type = Value.self, for account: String
    ) async throws(KeychainError) -> Value? {
        let found = try await call { (requests) throws(KeychainError) in
            try requests.find(account, includingValue: true)
        }
        return try found?.value(type, coder)
    }

    /// Removes the item of an account, also while it is locked.
    @discardableResult
    public nonisolated(nonsending) func remove(_ account: String) async throws(KeychainError) -> Bool {
        try await call { (requests) throws(KeychainError) in try requests.remove(account) }
    }

    /// Whether there is an item for an account. Nobody is asked for anything.
    public nonisolated(nonsending) func contains(_ account: String) async throws(KeychainError) -> Bool {
        try await call { (requests) throws(KeychainError) in try requests.contains(account) }
    }

    /// What is known of the item of an account, but for its value.
    public nonisolated(nonsending) func item(_ account: String) async throws(KeychainError) -> KeychainItem? {
        let found = try await call { (requests) throws(KeychainError) in
            try requests.find(account, includingValue: false)
        }
        return found.map { KeychainItem($0) }
    }

    /// The items of this service or server, in no particular order.
    public nonisolated(nonsending) func items(matching filter: ItemFilter = .all) async throws(KeychainError)
        -> [KeychainItem]
    {
        try await call { (requests) throws(KeychainError) in try requests.items(filter) }
    }

    /// Removes every item of this service or server, also while they are locked, and tells how many there were.
    @discardableResult
    public nonisolated(nonsending) func removeAll() async throws(KeychainError) -> Int {
        try await call { (requests) throws(KeychainError) in try requests.removeAll() }
    }
}
