// SPDX-License-Identifier: Apache-2.0
// Saving, reading and removing values, on the caller's thread.

extension SecretStore {
    /// Saves a value in one transaction: adds an item, or changes the existing one in place.
    ///
    /// ```swift
    /// try store.save("s3cret", for: "alice", attributes: ItemAttributes(label: "Example account"))
    /// ```
    ///
    /// The given attributes, and the store's accessibility and access control, also apply to an existing item. What is
    /// not given stays as it is. At every moment, even after a crash, the keychain holds the old value or the new one.
    ///
    /// - Parameters:
    ///   - value: Text and bytes (`String`, `Data`, `[UInt8]`, ``SecretValue``) are stored as they are. The ``coder``
    ///     encodes all other values.
    ///   - account: The name of the item. Accounts are compared byte by byte.
    /// - Throws: `locked`; `invalidParameter` if the value cannot be encoded; `unavailable` if the platform cannot ask
    ///   for what the access control requires; `missingEntitlement`; and errors of the store: `diskFull`, `readOnly`,
    ///   `busy` …
    public func save<Value: Encodable>(
        _ value: Value, for account: String, attributes: ItemAttributes = ItemAttributes()
    ) throws(KeychainError) {
        let bytes = try coder.bytes(of: value)
        try call { (requests) throws(KeychainError) in try requests.save(account, bytes, attributes) }
    }

    /// Saves a value only if there is no item for the account.
    ///
    /// ```swift
    /// try store.create("s3cret", for: "alice")
    /// ```
    ///
    /// - Throws: `duplicateItem` if there is an item for the account, which stays as it is; otherwise the errors of
    ///   `save`.
    public func create<Value: Encodable>(
        _ value: Value, for account: String, attributes: ItemAttributes = ItemAttributes()
    ) throws(KeychainError) {
        let bytes = try coder.bytes(of: value)
        try call { (requests) throws(KeychainError) in try requests.create(account, bytes, attributes) }
    }

    /// Reads the value of an account. `nil` only if the keychain could be read and there is no item.
    ///
    /// ```swift
    /// let token = try store.read(String.self, for: "alice")
    /// ```
    ///
    /// - Throws: `typeMismatch` if the value is not of this type; `locked`; `corrupt`; `cancelled`,
    ///   `authenticationFailed` or `interactionNotAllowed` for an item that requires authentication; `duplicateItem` if
    ///   several access groups have an item for the account and the default group has none; and errors of the store.
    public func read<Value: Decodable>(
        _ type: Value.Type = Value.self, for account: String
    ) throws(KeychainError) -> Value? {
        if let again = readAgain(account, waits: timeout == nil) {
            return try again.value(type, coder)
        }
        let found = try call { (requests) throws(KeychainError) in
            try findForReading(account) { () throws(KeychainError) in
                try requests.findOnce(account, includingValue: true)
            }
        }
        return try found?.value(type, coder)
    }

    /// Removes the item of an account, even if it is locked. A store without an ``accessGroup`` removes it from all
    /// groups that the program may use.
    ///
    /// ```swift
    /// try store.remove(for: "alice")
    /// ```
    ///
    /// - Returns: Whether there was an item.
    @discardableResult
    public func remove(for account: String) throws(KeychainError) -> Bool {
        try call { (requests) throws(KeychainError) in try requests.remove(account) }
    }

    /// Whether there is an item for an account. The user is not asked.
    ///
    /// ```swift
    /// if try !store.contains(for: "alice") { signIn() }
    /// ```
    ///
    /// - Throws: `locked` if this cannot be known while the keychain is locked.
    public func contains(for account: String) throws(KeychainError) -> Bool {
        try call { (requests) throws(KeychainError) in try requests.contains(account) }
    }

    /// The item of an account, without its value.
    ///
    /// ```swift
    /// let changed = try store.item(for: "alice")?.modified
    /// ```
    public func item(for account: String) throws(KeychainError) -> KeychainItem? {
        let found = try call { (requests) throws(KeychainError) in
            try requests.find(account, includingValue: false)
        }
        return found.map { KeychainItem($0) }
    }

    /// The items of this service or server, by access group, then by account. The order is the same in every keychain.
    ///
    /// The user is not asked. For an item that requires authentication, only the name is included unless the context
    /// already has the proof. Apple's keychain cannot do that: it asks the user, or leaves such items out if
    /// ``allowsInteraction`` is `false`.
    ///
    /// ```swift
    /// let accounts = try store.items().compactMap(\.account)
    /// ```
    ///
    /// - Parameter filter: Limits the list. Its conditions on the service or server are ignored.
    public func items(matching filter: ItemFilter = .all) throws(KeychainError) -> [KeychainItem] {
        try call { (requests) throws(KeychainError) in try requests.items(filter) }
    }

    /// Removes every item of this service or server, including locked items. Returns the number of removed items.
    ///
    /// ```swift
    /// try store.removeAll()
    /// ```
    @discardableResult
    public func removeAll() throws(KeychainError) -> Int {
        try call { (requests) throws(KeychainError) in try requests.removeAll() }
    }
}
