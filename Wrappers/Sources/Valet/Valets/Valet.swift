// SPDX-License-Identifier: Apache-2.0
// Values by key, as programs for Apple platforms keep them.

// Folders, from top to bottom:
//
// - .: names for programs that import other keychain modules
// - Valets: valets, each with one accessibility or access control
// - Internal: the items of a valet, and migrations
// - Errors: the errors that valets throw
// - Names: the names of valets

public import Foundation
@_spi(Wrappers) public import KeychainKit

/// Keeps values by key. Valets with the same identifier and accessibility share their values; other valets do not see
/// them.
///
/// ```swift
/// guard let identifier = Identifier(nonEmpty: "com.example.app") else { return }
/// let valet = Valet.valet(with: identifier, accessibility: .whenUnlocked)
/// try valet.setString("s3cret", forKey: "token")
/// let token = try valet.string(forKey: "token")
/// ```
///
/// There is one object for each configuration, as long as the program refers to it. It can be used from all threads at
/// once. Valets with the same items are equal, also as `NSObject`.
///
/// The accessibility is part of the items' service, so a valet with another accessibility has other items. After
/// changing it, call ``migrateObjectsFromOtherAccessibilities(removeOnCompletion:)`` once.
///
/// Does not protect against other programs of the same user, which can open the same keychain.
public final class Valet: NSObject, Sendable {
    public var identifier: Identifier { service.identifier }
    /// When the items can be opened. Setting a value also applies it to an existing item.
    public var accessibility: Accessibility { configuration.accessibility }

    let compartment: Compartment

    init(_ service: Service, _ keychain: ChosenKeychain = ChosenKeychain()) {
        compartment = Compartment(service: service, keychain: keychain)
        super.init()
    }

    var service: Service { compartment.service }
    var configuration: Configuration { service.configuration }
    var baseKeychainQuery: [String: AnyHashable] { service.generateBaseQuery() }

    /// The KeychainKit error of the last call, such as locked, damaged or disk full; `nil` if the call succeeded, or if
    /// its failure did not come from KeychainKit.
    ///
    /// ```swift
    /// let isLocked = valet.lastFailure?.reason == .locked
    /// ```
    public var lastFailure: KeychainKit.KeychainError? { compartment.failures.last }

    /// The same valet over another store, for tests without a keychain.
    ///
    /// ```swift
    /// let tested = valet.using(MemoryStore())
    /// ```
    ///
    /// - Parameters:
    ///   - store: Where the items are kept.
    ///   - accessGroups: The access groups that may be used; `nil`: all.
    ///   - context: What the user has proven already, and how to ask them; `nil`: as the environment is configured.
    public func using(
        _ store: any ItemStore, accessGroups: AccessGroups? = nil, context: AuthenticationContext? = nil
    ) -> Valet {
        Valet(service, ChosenKeychain(store, accessGroups: accessGroups, context: context))
    }

    // MARK: - Values

    /// Whether values can be read now, and could be written when this was first called. If not, ``lastFailure`` says
    /// why.
    ///
    /// ```swift
    /// guard valet.canAccessKeychain() else { return askToUnlock() }
    /// ```
    ///
    /// The first call writes a value of its own, which ``allKeys()`` omits; later calls read it. So a disk that has
    /// since become full or read-only is only detected when a value is set.
    public func canAccessKeychain() -> Bool { compartment.canAccess() }

    /// Stores bytes under a key, in place of an existing value.
    ///
    /// ```swift
    /// try valet.setObject(Data([1, 2, 3]), forKey: "key")
    /// ```
    ///
    /// At every moment, also after a crash, either the old or the new value is stored.
    ///
    /// - Throws: A ``KeychainError``; `emptyKey` or `emptyValue` if the key or the value is empty.
    public func setObject(_ object: Data, forKey key: String) throws(KeychainError) {
        try compartment.setObject(object, forKey: key)
    }

    /// The bytes of a key.
    ///
    /// ```swift
    /// let key = try valet.object(forKey: "key")
    /// ```
    ///
    /// - Throws: A ``KeychainError``; `itemNotFound` if the keychain could be read and there are none.
    public func object(forKey key: String) throws(KeychainError) -> Data { try compartment.object(forKey: key) }

    /// Whether there is a value for a key.
    ///
    /// ```swift
    /// if try !valet.containsObject(forKey: "token") { signIn() }
    /// ```
    ///
    /// - Throws: A ``KeychainError``; `couldNotAccessKeychain` if the keychain is locked and the answer is unknown.
    public func containsObject(forKey key: String) throws(KeychainError) -> Bool {
        try compartment.containsObject(forKey: key)
    }

    /// Stores text under a key, in place of an existing value, as ``setObject(_:forKey:)`` stores its bytes in UTF-8.
    ///
    /// ```swift
    /// try valet.setString("s3cret", forKey: "token")
    /// ```
    ///
    /// - Throws: A ``KeychainError``; `emptyKey` or `emptyValue` if the key or the value is empty.
    public func setString(_ string: String, forKey key: String) throws(KeychainError) {
        try compartment.setObject(Data(string.utf8), forKey: key)
    }

    /// The text of a key.
    ///
    /// ```swift
    /// let token = try valet.string(forKey: "token")
    /// ```
    ///
    /// - Throws: A ``KeychainError``; `itemNotFound` if the keychain could be read and there is none, or if the bytes
    ///   are not text; ``lastFailure`` distinguishes these.
    public func string(forKey key: String) throws(KeychainError) -> String { try compartment.string(forKey: key) }

    /// The keys of all values; empty if there are none.
    ///
    /// ```swift
    /// let keys = try valet.allKeys()
    /// ```
    ///
    /// - Throws: A ``KeychainError``.
    public func allKeys() throws(KeychainError) -> Set<String> { try compartment.allKeys() }

    /// Removes the value of a key, even while the keychain is locked. It is not an error if there is none.
    ///
    /// ```swift
    /// try valet.removeObject(forKey: "token")
    /// ```
    ///
    /// - Throws: A ``KeychainError``.
    public func removeObject(forKey key: String) throws(KeychainError) { try compartment.removeObject(forKey: key) }

    /// Removes all values, even while the keychain is locked.
    ///
    /// ```swift
    /// try valet.removeAllObjects()
    /// ```
    ///
    /// - Throws: A ``KeychainError``.
    public func removeAllObjects() throws(KeychainError) { try compartment.removeAllObjects() }

    // MARK: - As an object

    /// Whether both have the same items: the same service in the same keychain.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? Valet else { return false }
        return self === other || compartment.isSame(as: other.compartment)
    }

    public override var hash: Int { compartment.hash }

    public override var description: String { "\(super.description) \(service.summary)" }
}

// MARK: - For modules above this one

extension Valet {
    /// The items as a store of KeychainKit.
    package var secrets: SecretStore { compartment.secrets }

    /// Runs KeychainKit calls. Their failures are recorded, and thrown as this module's errors.
    package nonisolated(nonsending) func calling<Result>(
        _ body: nonisolated(nonsending) (SecretStore) async throws -> Result
    ) async throws -> Result {
        do {
            let result = try await body(secrets)
            compartment.failures.record(nil)
            return result
        } catch let failure as KeychainKit.KeychainError {
            throw compartment.recorded(failure)
        } catch {
            compartment.failures.record(nil)
            throw error
        }
    }
}

extension Valet {
    /// - Throws: `emptyValue`.
    package func checkIsStorable(_ object: Data) throws(KeychainError) { try compartment.check(object) }

    /// The error to throw when there is no value.
    package func absence() -> KeychainError { compartment.recorded(.absent) }
}
