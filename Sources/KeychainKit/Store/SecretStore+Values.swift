// SPDX-License-Identifier: Apache-2.0
// Saving, reading and removing values, on the caller's thread.

extension SecretStore {
    /// Saves a value: adds an item, or changes the one that is there in place, in one transaction.
    ///
    /// ```swift
    /// try store.save("s3cret", for: "alice", ItemAttributes(label: "Example account"))
    /// ```
    ///
    /// The attributes given here, and the store's accessibility and access control, are applied to an item that exists;
    /// what is not given stays as it is. At every moment, also after a crash, the old value is there or the new one.
    ///
    /// - Parameters:
    ///   - value: Text and bytes (`String`, `Data`, `[UInt8]`, ``SecretValue``) are stored as they are, anything else as the
    ///     ``coder`` encodes it.
    ///   - account: Compared byte by byte.
    /// - Throws: `locked`, `invalidParameter` for what cannot be encoded, `unavailable` for access control that nothing here
    ///   can ask for, `missingEntitlement`, and what the store reports: `diskFull`, `readOnly`, `busy` …
    public func save<Value: Encodable>(
        _ value: Value, for account: String, _ attributes: ItemAttributes = ItemAttributes()
    ) throws(KeychainError) {
        let bytes = try coder.bytes(of: value)
        try call { (requests) throws(KeychainError) in try requests.save(account, bytes, attributes) }
    }

    /// Saves a value that must be new.
    ///
    /// ```swift
    /// try store.create("s3cret", for: "alice")
    /// ```
    ///
    /// - Throws: `duplicateItem` if there is an item for the account, which stays as it is; else as
    ///   `save`.
    public func create<Value: Encodable>(
        _ value: Value, for account: String, _ attributes: ItemAttributes = ItemAttributes()
    ) throws(KeychainError) {
        let bytes = try coder.bytes(of: value)
        try call { (requests) throws(KeychainError) in try requests.create(account, bytes, attributes) }
    }

    /// Reads the value of an account; `nil` only if the keychain could be read and there is none.
    ///
    /// ```swift
    /// let token = try store.read(String.self, for: "alice")
    /// ```
    ///
    /// - Throws: `typeMismatch` if the value is not one of this type, `locked`, `corrupt`; for an item that asks for the user
    ///   `cancelled`, `authenticationFailed` or `interactionNotAllowed`; `duplicateItem` if several access groups have an item
    ///   for the account and the default one does not; and what the store reports.
    public func read<Value: Decodable>(
        _ type: Value.Type = Value.self, for account: String
    ) throws(KeychainError) -> Value? {
        let found = try call { (requests) throws(KeychainError) in
            try requests.find(account, includingValue: true)
        }
        return try found?.value(type, coder)
    }

    /// Removes the item of an account, also while it is locked. A store without an ``accessGroup`` removes it from all groups
    /// that the program may use, so that there is none of that name afterwards.
    ///
    /// ```swift
    /// try store.remove("alice")
    /// ```
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    public func remove(_ account: String) throws(KeychainError) -> Bool {
        try call { (requests) throws(KeychainError) in try requests.remove(account) }
    }

    /// Whether there is an item for an account. Nobody is asked for anything.
    ///
    /// ```swift
    /// if try !store.contains("alice") { signIn() }
    /// ```
    ///
    /// - Throws: `locked` if that cannot be told while the keychain is locked.
    public func contains(_ account: String) throws(KeychainError) -> Bool {
        try call { (requests) throws(KeychainError) in try requests.contains(account) }
    }

    /// What is known of the item of an account, but for its value.
    ///
    /// ```swift
    /// let changed = try store.item("alice")?.modified
    /// ```
    public func item(_ account: String) throws(KeychainError) -> KeychainItem? {
        let found = try call { (requests) throws(KeychainError) in
            try requests.find(account, includingValue: false)
        }
        return found.map { KeychainItem($0) }
    }

    /// The items of this service or server, in no particular order. Nobody is asked: of an item that asks for the user or a password,
    /// and for which the context has proven neither, nothing but the name is there. Apple's keychain cannot do that: it asks, or leaves such items out
    /// if ``mayAsk`` is false.
    ///
    /// ```swift
    /// let accounts = try store.items().compactMap(\.account)
    /// ```
    ///
    /// - Parameter filter: Narrows the list; what it says of the place has no effect.
    public func items(matching filter: ItemFilter = .all) throws(KeychainError) -> [KeychainItem] {
        try call { (requests) throws(KeychainError) in try requests.items(filter) }
    }

    /// The same with all attributes of items that ask for the user or a password, for which it asks.
    package func itemsByAsking() throws(KeychainError) -> [KeychainItem] {
        try call { (requests) throws(KeychainError) in try requests.items(.all, isAsking: true) }
    }

    /// Removes every item of this service or server, also while they are locked, and tells how many there were.
    ///
    /// ```swift
    /// try store.removeAll()
    /// ```
    @discardableResult
    public func removeAll() throws(KeychainError) -> Int {
        try call { (requests) throws(KeychainError) in try requests.removeAll() }
    }
}
