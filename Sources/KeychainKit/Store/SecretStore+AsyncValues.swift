// SPDX-License-Identifier: Apache-2.0
// Saving, reading and removing values, without blocking a thread.

/// The asynchronous forms do the same as the synchronous forms of the same name. They throw `timedOut` after
/// ``SecretStore/timeout``, and `cancelled` when their task is cancelled. A change is then either complete before the
/// error is thrown, or it never happens.
extension SecretStore {
    /// Saves a value in one transaction: adds an item, or changes the existing one in place.
    public nonisolated(nonsending) func save<Value: Encodable>(
        _ value: Value, for account: String, attributes: ItemAttributes = ItemAttributes()
    ) async throws(KeychainError) {
        let bytes = try coder.bytes(of: value)
        try await call { (requests) throws(KeychainError) in try requests.save(account, bytes, attributes) }
    }

    /// Saves a value only if there is no item for the account.
    public nonisolated(nonsending) func create<Value: Encodable>(
        _ value: Value, for account: String, attributes: ItemAttributes = ItemAttributes()
    ) async throws(KeychainError) {
        let bytes = try coder.bytes(of: value)
        try await call { (requests) throws(KeychainError) in try requests.create(account, bytes, attributes) }
    }

    /// Reads the value of an account. `nil` only if the keychain could be read and there is no item.
    public nonisolated(nonsending) func read<Value: Decodable>(
        _ type: Value.Type = Value.self, for account: String
    ) async throws(KeychainError) -> Value? {
        if let again = readAgain(account, waits: false) {
            return try again.value(type, coder)
        }
        let found = try await call { (requests) throws(KeychainError) in
            try findForReading(account) { () throws(KeychainError) in
                try requests.findOnce(account, includingValue: true)
            }
        }
        return try found?.value(type, coder)
    }

    /// Removes the item of an account, even if it is locked.
    @discardableResult
    public nonisolated(nonsending) func remove(for account: String) async throws(KeychainError) -> Bool {
        try await call { (requests) throws(KeychainError) in try requests.remove(account) }
    }

    /// Whether there is an item for an account. The user is not asked.
    public nonisolated(nonsending) func contains(for account: String) async throws(KeychainError) -> Bool {
        try await call { (requests) throws(KeychainError) in try requests.contains(account) }
    }

    /// The item of an account, without its value.
    public nonisolated(nonsending) func item(for account: String) async throws(KeychainError) -> KeychainItem? {
        let found = try await call { (requests) throws(KeychainError) in
            try requests.find(account, includingValue: false)
        }
        return found.map { KeychainItem($0) }
    }

    /// The items of this service or server, by access group, then by account. The order is the same in every keychain.
    public nonisolated(nonsending) func items(matching filter: ItemFilter = .all) async throws(KeychainError)
        -> [KeychainItem]
    {
        try await call { (requests) throws(KeychainError) in try requests.items(filter) }
    }

    /// Removes every item of this service or server, including locked items. Returns the number of removed items.
    @discardableResult
    public nonisolated(nonsending) func removeAll() async throws(KeychainError) -> Int {
        try await call { (requests) throws(KeychainError) in try requests.removeAll() }
    }
}
