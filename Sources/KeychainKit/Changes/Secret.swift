// SPDX-License-Identifier: Apache-2.0
// A property that is kept in the keychain.

/// A property whose value is kept in the keychain.
///
/// ```swift
/// struct Session {
///     @Secret var token: String?
///
///     init(_ store: SecretStore) { _token = Secret("token", in: store) }
/// }
///
/// let session = Session(SecretStore(service: "com.example.app"))
/// try session.$token.save("s3cret")
/// if let token = session.token { connect(with: token) }
/// ```
///
/// Where no test needs another store, `@Secret(service: "com.example.app", account: "token")` does.
///
/// The property itself is `nil` if there is no item, and also if it cannot be read: where the difference counts,
/// `try $token.read()` makes it. It is read anew each time, on the caller's thread. Saving may fail, so the property cannot be
/// set: `$token` saves and removes.
@propertyWrapper
public struct Secret<Value: Codable & Sendable>: Sendable {
    public let store: SecretStore
    public let account: String

    /// The generic password of an account of a service, in the keychain of the user.
    public init(service: String, account: String) {
        self.init(account, in: SecretStore(service: service))
    }

    /// The item of an account in a store.
    public init(_ account: String, in store: SecretStore) {
        (self.store, self.account) = (store, account)
    }

    public var wrappedValue: Value? {
        do throws(KeychainError) {
            return try read()
        } catch {
            return nil  // A property cannot fail; `read()` tells.
        }
    }

    public var projectedValue: Secret<Value> { self }

    /// As the `read` of ``SecretStore``.
    public func read() throws(KeychainError) -> Value? { try store.read(Value.self, for: account) }

    public nonisolated(nonsending) func read() async throws(KeychainError) -> Value? {
        try await store.read(Value.self, for: account)
    }

    /// As the `save` of ``SecretStore``.
    public func save(_ value: Value) throws(KeychainError) { try store.save(value, for: account) }

    public nonisolated(nonsending) func save(_ value: Value) async throws(KeychainError) {
        try await store.save(value, for: account)
    }

    /// Removes the item, and tells whether it was there.
    @discardableResult
    public func remove() throws(KeychainError) -> Bool { try store.remove(account) }

    @discardableResult
    public nonisolated(nonsending) func remove() async throws(KeychainError) -> Bool {
        try await store.remove(account)
    }

    /// As `SecretStore.values(_:for:)`.
    public func values() throws(KeychainError) -> SecretValues<Value> { try store.values(Value.self, for: account) }

    public nonisolated(nonsending) func values() async throws(KeychainError) -> SecretValues<Value> {
        try await store.values(Value.self, for: account)
    }
}

extension Secret: CustomStringConvertible, CustomReflectable {
    /// Neither the value nor a name.
    public var description: String { "Secret<\(Value.self)>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
