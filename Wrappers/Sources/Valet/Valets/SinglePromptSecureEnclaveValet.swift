// SPDX-License-Identifier: Apache-2.0
// Values that a person is asked for once.

public import Foundation
@_spi(Wrappers) public import KeychainKit

/// Keeps values that a person is asked for once, when the first is read, until ``requirePromptOnNextAccess()``.
///
/// ```swift
/// singlePromptValet.requirePromptOnNextAccess()
/// let token = try singlePromptValet.string(forKey: "token", withPrompt: "sign in")
/// ```
///
/// There is one object for each configuration, for as long as somebody holds it. It can be used from all threads at once.
///
/// On Linux a person proves presence with the passphrase of the keychain. Without a passphrase nothing can be stored, and
/// removing it removes the values.
///
/// Does not protect against a program of the same user that waits until the passphrase is given.
public final class SinglePromptSecureEnclaveValet: NSObject, Sendable {
    public var identifier: Identifier { service.identifier }
    /// What a person has to prove.
    public var accessControl: SecureEnclaveAccessControl { core.accessControl }

    private let core: EnclaveCore

    private init(_ core: EnclaveCore) {
        self.core = core
        super.init()
    }

    private var compartment: Compartment { core.compartment }
    var service: Service { core.service }

    // MARK: - The valets that there are

    private static let valets = WeakStorage<SinglePromptSecureEnclaveValet>()

    private static func findOrCreate(
        _ service: Service, _ accessControl: SecureEnclaveAccessControl
    ) -> SinglePromptSecureEnclaveValet {
        valets.object(service.uniqueName) {
            SinglePromptSecureEnclaveValet(EnclaveCore(service, accessControl, .once))
        }
    }

    /// The valet of that name. Another access control is another valet, with other values.
    ///
    /// ```swift
    /// let valet = SinglePromptSecureEnclaveValet.valet(with: identifier, accessControl: .userPresence)
    /// ```
    public static func valet(
        with identifier: Identifier, accessControl: SecureEnclaveAccessControl
    ) -> SinglePromptSecureEnclaveValet {
        findOrCreate(.standard(identifier, .singlePromptSecureEnclave(accessControl)), accessControl)
    }

    /// The valet of an access group, whose items all programs have that may use the group.
    ///
    /// ```swift
    /// let valet = SinglePromptSecureEnclaveValet.sharedGroupValet(with: group, accessControl: .userPresence)
    /// ```
    ///
    /// - Parameter identifier: Tells apart several valets of one group.
    public static func sharedGroupValet(
        with groupIdentifier: SharedGroupIdentifier, identifier: Identifier? = nil,
        accessControl: SecureEnclaveAccessControl
    ) -> SinglePromptSecureEnclaveValet {
        findOrCreate(
            .sharedGroup(groupIdentifier, identifier, .singlePromptSecureEnclave(accessControl)), accessControl)
    }

    /// The same valet over another store: for tests without a keychain.
    ///
    /// ```swift
    /// let tested = singlePromptValet.using(MemoryStore(passphrase: "open sesame"))
    /// ```
    ///
    /// - Parameters:
    ///   - store: Where the items are kept.
    ///   - accessGroups: The access groups that may be used; `nil`: all.
    ///   - context: Who asks; what it has proven already counts for nothing here. `nil`: whatever the environment is
    ///     configured for.
    public func using(
        _ store: any ItemStore, accessGroups: AccessGroups? = nil, context: AuthenticationContext? = nil
    ) -> SinglePromptSecureEnclaveValet {
        SinglePromptSecureEnclaveValet(core.using(store, accessGroups, context))
    }

    /// Why the last call failed, as KeychainKit says it; `nil` if it did not fail, or for a reason that KeychainKit has no part
    /// in.
    ///
    /// ```swift
    /// let reason = singlePromptValet.lastFailure?.message
    /// ```
    public var lastFailure: KeychainKit.KeychainError? { compartment.failures.last }

    // MARK: - Without asking anybody

    /// Whether values can be read now, and could be written when it was asked first; else ``lastFailure`` says why not. Nobody
    /// is asked for anything.
    ///
    /// ```swift
    /// guard singlePromptValet.canAccessKeychain() else { return askForPassphrase() }
    /// ```
    public func canAccessKeychain() -> Bool { compartment.canAccessWithoutPrompt() }

    /// Stores bytes under a key, in place of what is there. Nobody is asked for anything.
    ///
    /// ```swift
    /// try singlePromptValet.setObject(Data([1, 2, 3]), forKey: "key")
    /// ```
    ///
    /// At every moment, also after a crash, the old value is there or the new one.
    ///
    /// - Throws: A ``KeychainError``; `emptyKey` and `emptyValue` for what is empty.
    public func setObject(_ object: Data, forKey key: String) throws(KeychainError) {
        try core.setObject(object, forKey: key)
    }

    /// Stores text under a key, as ``setObject(_:forKey:)`` stores its bytes in UTF-8.
    ///
    /// ```swift
    /// try singlePromptValet.setString("s3cret", forKey: "token")
    /// ```
    ///
    /// - Throws: A ``KeychainError``; `emptyKey` and `emptyValue` for what is empty.
    public func setString(_ string: String, forKey key: String) throws(KeychainError) {
        try core.setObject(Data(string.utf8), forKey: key)
    }

    /// Whether there is a value for a key. Nobody is asked for anything.
    ///
    /// ```swift
    /// if try !singlePromptValet.containsObject(forKey: "token") { signIn() }
    /// ```
    ///
    /// - Throws: A ``KeychainError``.
    public func containsObject(forKey key: String) throws(KeychainError) -> Bool {
        try compartment.containsObject(forKey: key)
    }

    /// Removes the value of a key. That there is none is no error.
    ///
    /// ```swift
    /// try singlePromptValet.removeObject(forKey: "token")
    /// ```
    ///
    /// - Throws: A ``KeychainError``.
    public func removeObject(forKey key: String) throws(KeychainError) { try compartment.removeObject(forKey: key) }

    /// Removes all values.
    ///
    /// ```swift
    /// try singlePromptValet.removeAllObjects()
    /// ```
    ///
    /// - Throws: A ``KeychainError``.
    public func removeAllObjects() throws(KeychainError) { try compartment.removeAllObjects() }

    /// Migrates what a dictionary finds, all of it at once or nothing, as ``Valet/Valet/migrateObjects(matching:removeOnCompletion:)``.
    ///
    /// ```swift
    /// try singlePromptValet.migrateObjects(matching: query, removeOnCompletion: true)
    /// ```
    ///
    /// - Throws: A ``MigrationError``, or a ``KeychainError``: `itemNotFound` if nothing matches.
    public func migrateObjects(matching query: [String: AnyHashable], removeOnCompletion: Bool) throws {
        try compartment.migrate(query, removes: removeOnCompletion)
    }

    /// Migrates all values of a valet that asks for nobody.
    ///
    /// ```swift
    /// try singlePromptValet.migrateObjects(from: valet, removeOnCompletion: true)
    /// ```
    ///
    /// - Throws: A ``MigrationError``, or a ``KeychainError``: `itemNotFound` if the other has none.
    public func migrateObjects(from valet: Valet, removeOnCompletion: Bool) throws {
        try compartment.migrate(from: valet, removes: removeOnCompletion)
    }

    // MARK: - Asking

    /// The bytes under a key. A person is asked unless they were before.
    ///
    /// ```swift
    /// let key = try singlePromptValet.object(forKey: "key", withPrompt: "open the diary")
    /// ```
    ///
    /// - Parameter userPrompt: What the person is told that it is for; empty leaves it to the authenticator.
    /// - Throws: A ``KeychainError``; `itemNotFound` if there are none, `userCancelled`.
    public func object(forKey key: String, withPrompt userPrompt: String) throws(KeychainError) -> Data {
        try core.object(forKey: key, withPrompt: userPrompt)
    }

    /// The text under a key. A person is asked unless they were before.
    ///
    /// ```swift
    /// let token = try singlePromptValet.string(forKey: "token", withPrompt: "sign in")
    /// ```
    ///
    /// - Parameter userPrompt: What the person is told that it is for; empty leaves it to the authenticator.
    /// - Throws: A ``KeychainError``; `itemNotFound` if there is none, and for bytes that are no text; `userCancelled`.
    public func string(forKey key: String, withPrompt userPrompt: String) throws(KeychainError) -> String {
        try core.string(forKey: key, withPrompt: userPrompt)
    }

    /// The keys of all values. A person is asked unless they were before.
    ///
    /// ```swift
    /// let keys = try singlePromptValet.allKeys(userPrompt: "show the list")
    /// ```
    ///
    /// - Parameter userPrompt: What the person is told that it is for; empty leaves it to the authenticator.
    /// - Throws: A ``KeychainError``.
    public func allKeys(userPrompt: String) throws(KeychainError) -> Set<String> {
        try core.allKeys(userPrompt: userPrompt)
    }

    /// Forgets that the person was asked. What is being read at the moment is read to its end.
    ///
    /// ```swift
    /// singlePromptValet.requirePromptOnNextAccess()
    /// ```
    public func requirePromptOnNextAccess() { core.requirePromptOnNextAccess() }

    // MARK: - As an object

    /// Whether both have the same items: the same service in the same keychain.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? SinglePromptSecureEnclaveValet else { return false }
        return self === other || compartment.isSame(as: other.compartment)
    }

    public override var hash: Int { compartment.hash }

    public override var description: String { "\(super.description) \(service.summary)" }
}
