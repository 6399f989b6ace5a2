// SPDX-License-Identifier: Apache-2.0
// Values by key, as programs for Apple's platforms keep them.

// Folders, from top to bottom:
//
// - .: what tells the names apart of this module and another
// - Valets: valets of one accessibility or access control each
// - Internal: the items of a valet, and moving others there
// - Errors: what its functions throw
// - Names: what a valet is known by

public import Foundation
@_spi(Wrappers) public import KeychainKit

/// Keeps values by key. What is stored under one identifier and accessibility is for the valets of these alone.
///
/// ```swift
/// guard let identifier = Identifier(nonEmpty: "com.example.app") else { return }
/// let valet = Valet.valet(with: identifier, accessibility: .whenUnlocked)
/// try valet.setString("s3cret", forKey: "token")
/// let token = try valet.string(forKey: "token")
/// ```
///
/// There is one object for each configuration, for as long as somebody holds it. It can be used from all threads at once.
/// Valets with the same items are equal, also as `NSObject`.
///
/// The accessibility is part of the service under which items lie, so a valet with another one has other items: after
/// changing it call ``migrateObjectsFromOtherAccessibilities(removeOnCompletion:)`` once.
///
/// Does not protect against other programs of the same user, which can open the same keychain.
public final class Valet: NSObject, Sendable {
    public var identifier: Identifier { service.identifier }
    /// When the items can be opened. Setting a value applies it to an item that exists.
    public var accessibility: Accessibility { configuration.accessibility }

    let compartment: Compartment

    init(_ service: Service, _ keychain: ChosenKeychain = ChosenKeychain()) {
        compartment = Compartment(service: service, keychain: keychain)
        super.init()
    }

    var service: Service { compartment.service }
    var configuration: Configuration { service.configuration }
    var baseKeychainQuery: [String: AnyHashable] { service.generateBaseQuery() }

    /// Why the last call failed, as KeychainKit says it: locked, damaged, disk full …; `nil` if it did not fail, or for a reason
    /// that KeychainKit has no part in.
    ///
    /// ```swift
    /// let isLocked = valet.lastFailure?.reason == .locked
    /// ```
    public var lastFailure: KeychainKit.KeychainError? { compartment.failures.last }

    /// The same valet over another store: for tests without a keychain.
    ///
    /// ```swift
    /// let tested = valet.using(MemoryStore())
    /// ```
    ///
    /// - Parameters:
    ///   - store: Where the items are kept.
    ///   - accessGroups: The access groups that may be used; `nil`: all.
    ///   - context: What the user has proven already, and who asks; `nil`: whatever the environment is configured for.
    public func using(
        _ store: any ItemStore, accessGroups: AccessGroups? = nil, context: AuthenticationContext? = nil
    ) -> Valet {
        Valet(service, ChosenKeychain(store, accessGroups: accessGroups, context: context))
    }

    // MARK: - Values

    /// Whether values can be read now, and could be written when it was asked first; else ``lastFailure`` says why not.
    ///
    /// ```swift
    /// guard valet.canAccessKeychain() else { return askToUnlock() }
    /// ```
    ///
    /// The first time it writes a value of its own, which ``allKeys()`` leaves out; later it reads that. So a disk that has
    /// become full or read-only since then shows when a value is set.
    public func canAccessKeychain() -> Bool { compartment.canAccess() }

    /// Stores bytes under a key, in place of what is there.
    ///
    /// ```swift
    /// try valet.setObject(Data([1, 2, 3]), forKey: "key")
    /// ```
    ///
    /// At every moment, also after a crash, the old value is there or the new one.
    ///
    /// - Throws: A ``KeychainError``; `emptyKey` and `emptyValue` for what is empty.
    public func setObject(_ object: Data, forKey key: String) throws(KeychainError) {
        try compartment.setObject(object, forKey: key)
    }

    /// The bytes under a key.
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
    /// - Throws: A ``KeychainError``; `couldNotAccessKeychain` if that cannot be told while the keychain is locked.
    public func containsObject(forKey key: String) throws(KeychainError) -> Bool {
        try compartment.containsObject(forKey: key)
    }

    /// Stores text under a key, in place of what is there, as ``setObject(_:forKey:)`` stores its bytes in UTF-8.
    ///
    /// ```swift
    /// try valet.setString("s3cret", forKey: "token")
    /// ```
    ///
    /// - Throws: A ``KeychainError``; `emptyKey` and `emptyValue` for what is empty.
    public func setString(_ string: String, forKey key: String) throws(KeychainError) {
        try compartment.setObject(Data(string.utf8), forKey: key)
    }

    /// The text under a key.
    ///
    /// ```swift
    /// let token = try valet.string(forKey: "token")
    /// ```
    ///
    /// - Throws: A ``KeychainError``; `itemNotFound` if the keychain could be read and there is none, and for bytes that are
    ///   no text, which ``lastFailure`` tells apart.
    public func string(forKey key: String) throws(KeychainError) -> String { try compartment.string(forKey: key) }

    /// The keys of all values, none if there are none.
    ///
    /// ```swift
    /// let keys = try valet.allKeys()
    /// ```
    ///
    /// - Throws: A ``KeychainError``.
    public func allKeys() throws(KeychainError) -> Set<String> { try compartment.allKeys() }

    /// Removes the value of a key, also while it is locked. That there is none is no error.
    ///
    /// ```swift
    /// try valet.removeObject(forKey: "token")
    /// ```
    ///
    /// - Throws: A ``KeychainError``.
    public func removeObject(forKey key: String) throws(KeychainError) { try compartment.removeObject(forKey: key) }

    /// Removes all values, also while they are locked.
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

// MARK: - For modules above

extension Valet {
    /// The items as KeychainKit knows them.
    package var secrets: SecretStore { compartment.secrets }

    /// Makes calls of KeychainKit; their failures are recorded, and thrown as this module's.
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

    /// What is thrown when there is no value.
    package func absence() -> KeychainError { compartment.recorded(.absent) }
}
