// SPDX-License-Identifier: Apache-2.0
// A property wrapper for a value in the keychain.

/// A property whose value is stored in the keychain.
///
/// ```swift
/// struct Session {
///     @Secret var token: String?
///
///     init(_ store: SecretStore) { _token = Secret(for: "token", in: store) }
/// }
///
/// let session = Session(SecretStore(service: "com.example.app"))
/// try session.$token.save("s3cret")
/// if let token = session.token { connect(with: token) }
/// ```
///
/// If no test needs another store, use `@Secret(service: "com.example.app", account: "token")`.
///
/// The property is `nil` if there is no item, and also if the item cannot be read; `try $token.read()` throws in the
/// second case. Each access reads the keychain on the caller's thread. Saving may fail, so the property cannot be set:
/// use `$token` to save and remove.
@propertyWrapper
public struct Secret<Value: Codable & Sendable>: Sendable {
    public let store: SecretStore
    public let account: String

    /// The generic password of a service and an account, in the user's keychain.
    public init(service: String, account: String) {
        self.init(for: account, in: SecretStore(service: service))
    }

    /// The item of an account in a store.
    public init(for account: String, in store: SecretStore) {
        (self.store, self.account) = (store, account)
    }

    public var wrappedValue: Value? {
        do throws(KeychainError) {
            return try read()
        } catch {
            return nil  // A property cannot throw; `read()` does.
        }
    }

    public var projectedValue: Secret<Value> { self }

    /// See `read` of ``SecretStore``.
    public func read() throws(KeychainError) -> Value? { try store.read(Value.self, for: account) }

    public nonisolated(nonsending) func read() async throws(KeychainError) -> Value? {
        try await store.read(Value.self, for: account)
    }

    /// See `save` of ``SecretStore``.
    public func save(_ value: Value) throws(KeychainError) { try store.save(value, for: account) }

    public nonisolated(nonsending) func save(_ value: Value) async throws(KeychainError) {
        try await store.save(value, for: account)
    }

    /// Removes the item. Returns whether it existed.
    @discardableResult
    public func remove() throws(KeychainError) -> Bool { try store.remove(for: account) }

    @discardableResult
    public nonisolated(nonsending) func remove() async throws(KeychainError) -> Bool {
        try await store.remove(for: account)
    }

    /// See `SecretStore.values(_:for:)`.
    public func values() throws(KeychainError) -> ValueUpdates<Value> { try store.values(Value.self, for: account) }

    public nonisolated(nonsending) func values() async throws(KeychainError) -> ValueUpdates<Value> {
        try await store.values(Value.self, for: account)
    }
}

extension Secret: CustomStringConvertible, CustomReflectable {
    /// Contains neither the value nor a name.
    public var description: String { "Secret<\(Value.self)>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
