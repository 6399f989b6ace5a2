// SPDX-License-Identifier: Apache-2.0
// Values for which the user is asked once.

public import Foundation
@_spi(Wrappers) public import KeychainKit

/// Keeps values for which the user is asked once, at the first read, until ``requirePromptOnNextAccess()``.
///
/// ```swift
/// singlePromptValet.requirePromptOnNextAccess()
/// let token = try singlePromptValet.string(forKey: "token", withPrompt: "sign in")
/// ```
///
/// There is one object for each configuration, as long as the program refers to it. It can be used from all threads at
/// once.
///
/// On Linux the user proves presence with the passphrase of the keychain. Without a passphrase nothing can be stored,
/// and removing it removes the values.
///
/// Does not protect against a program of the same user that waits until the passphrase is given.
public final class SinglePromptSecureEnclaveValet: NSObject, Sendable {
    public var identifier: Identifier { service.identifier }
    /// What the user has to prove.
    public var accessControl: SecureEnclaveAccessControl { core.accessControl }

    private let core: EnclaveCore

    private init(_ core: EnclaveCore) {
        self.core = core
        super.init()
    }

    private var compartment: Compartment { core.compartment }
    var service: Service { core.service }

    // MARK: - Factories

    private static let valets = WeakStorage<SinglePromptSecureEnclaveValet>()

    private static func findOrCreate(
        _ service: Service, _ accessControl: SecureEnclaveAccessControl
    ) -> SinglePromptSecureEnclaveValet {
        valets.object(service.uniqueName) {
            SinglePromptSecureEnclaveValet(EnclaveCore(service, accessControl, .once))
        }
    }

    /// The valet with this name. A valet with another access control is another valet, with other values.
    ///
    /// ```swift
    /// let valet = SinglePromptSecureEnclaveValet.valet(with: identifier, accessControl: .userPresence)
    /// ```
    public static func valet(
        with identifier: Identifier, accessControl: SecureEnclaveAccessControl
    ) -> SinglePromptSecureEnclaveValet {
        findOrCreate(.standard(identifier, .singlePromptSecureEnclave(accessControl)), accessControl)
    }

    /// The valet of an access group. All programs that may use the group share its items.
    ///
    /// ```swift
    /// let valet = SinglePromptSecureEnclaveValet.sharedGroupValet(with: group, accessControl: .userPresence)
    /// ```
    ///
    /// - Parameter identifier: Distinguishes several valets of one group.
    public static func sharedGroupValet(
        with groupIdentifier: SharedGroupIdentifier, identifier: Identifier? = nil,
        accessControl: SecureEnclaveAccessControl
    ) -> SinglePromptSecureEnclaveValet {
        findOrCreate(
            .sharedGroup(groupIdentifier, identifier, .singlePromptSecureEnclave(accessControl)), accessControl)
    }

    /// The same valet over another store, for tests without a keychain.
    ///
    /// ```swift
    /// let tested = singlePromptValet.using(MemoryStore(passphrase: "open sesame"))
    /// ```
    ///
    /// - Parameters:
    ///   - store: Where the items are kept.
    ///   - accessGroups: The access groups that may be used; `nil`: all.
    ///   - context: How to ask the user; existing proofs are ignored. `nil`: as the environment is configured.
    public func using(
        _ store: any ItemStore, accessGroups: AccessGroups? = nil, context: AuthenticationContext? = nil
    ) -> SinglePromptSecureEnclaveValet {
        SinglePromptSecureEnclaveValet(core.using(store, accessGroups, context))
    }

    /// The KeychainKit error of the last call; `nil` if the call succeeded, or if its failure did not come from
    /// KeychainKit.
    ///
    /// ```swift
    /// let reason = singlePromptValet.lastFailure?.message
    /// ```
    public var lastFailure: KeychainKit.KeychainError? { compartment.failures.last }

    // MARK: - Without asking the user

    /// Whether values can be read now, and could be written when this was first called. If not, ``lastFailure`` says
    /// why. The user is not asked.
    ///
    /// ```swift
    /// guard singlePromptValet.canAccessKeychain() else { return askForPassphrase() }
    /// ```
    public func canAccessKeychain() -> Bool { compartment.canAccessWithoutPrompt() }

    /// Stores bytes under a key, in place of an existing value. The user is not asked.
    ///
    /// ```swift
    /// try singlePromptValet.setObject(Data([1, 2, 3]), forKey: "key")
    /// ```
    ///
    /// At every moment, also after a crash, either the old or the new value is stored.
    ///
    /// - Throws: A ``KeychainError``; `emptyKey` or `emptyValue` if the key or the value is empty.
    public func setObject(_ object: Data, forKey key: String) throws(KeychainError) {
        try core.setObject(object, forKey: key)
    }

    /// Stores text under a key, as ``setObject(_:forKey:)`` stores its bytes in UTF-8.
    ///
    /// ```swift
    /// try singlePromptValet.setString("s3cret", forKey: "token")
    /// ```
    ///
    /// - Throws: A ``KeychainError``; `emptyKey` or `emptyValue` if the key or the value is empty.
    public func setString(_ string: String, forKey key: String) throws(KeychainError) {
        try core.setObject(Data(string.utf8), forKey: key)
    }

    /// Whether there is a value for a key. The user is not asked.
    ///
    /// ```swift
    /// if try !singlePromptValet.containsObject(forKey: "token") { signIn() }
    /// ```
    ///
    /// - Throws: A ``KeychainError``.
    public func containsObject(forKey key: String) throws(KeychainError) -> Bool {
        try compartment.containsObject(forKey: key)
    }

    /// Removes the value of a key. It is not an error if there is none.
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

    /// Migrates the items that a dictionary finds, all or none, as
    /// ``Valet/Valet/migrateObjects(matching:removeOnCompletion:)``.
    ///
    /// ```swift
    /// try singlePromptValet.migrateObjects(matching: query, removeOnCompletion: true)
    /// ```
    ///
    /// - Throws: A ``MigrationError``, or a ``KeychainError``: `itemNotFound` if nothing matches.
    public func migrateObjects(matching query: [String: AnyHashable], removeOnCompletion: Bool) throws {
        try compartment.migrate(query, removes: removeOnCompletion)
    }

    /// Migrates all values of a valet that does not ask the user.
    ///
    /// ```swift
    /// try singlePromptValet.migrateObjects(from: valet, removeOnCompletion: true)
    /// ```
    ///
    /// - Throws: A ``MigrationError``, or a ``KeychainError``: `itemNotFound` if the other has none.
    public func migrateObjects(from valet: Valet, removeOnCompletion: Bool) throws {
        try compartment.migrate(from: valet, removes: removeOnCompletion)
    }

    // MARK: - Asking the user

    /// The bytes of a key. The user is asked unless they were before.
    ///
    /// ```swift
    /// let key = try singlePromptValet.object(forKey: "key", withPrompt: "open the diary")
    /// ```
    ///
    /// - Parameter userPrompt: The purpose, as shown to the user; if empty, the authenticator's default.
    /// - Throws: A ``KeychainError``; `itemNotFound` if there are none, `userCancelled`.
    public func object(forKey key: String, withPrompt userPrompt: String) throws(KeychainError) -> Data {
        try core.object(forKey: key, withPrompt: userPrompt)
    }

    /// The text of a key. The user is asked unless they were before.
    ///
    /// ```swift
    /// let token = try singlePromptValet.string(forKey: "token", withPrompt: "sign in")
    /// ```
    ///
    /// - Parameter userPrompt: The purpose, as shown to the user; if empty, the authenticator's default.
    /// - Throws: A ``KeychainError``; `itemNotFound` if there is none, and for bytes that are not text;
    ///   `userCancelled`.
    public func string(forKey key: String, withPrompt userPrompt: String) throws(KeychainError) -> String {
        try core.string(forKey: key, withPrompt: userPrompt)
    }

    /// The keys of all values. The user is asked unless they were before.
    ///
    /// ```swift
    /// let keys = try singlePromptValet.allKeys(userPrompt: "show the list")
    /// ```
    ///
    /// - Parameter userPrompt: The purpose, as shown to the user; if empty, the authenticator's default.
    /// - Throws: A ``KeychainError``.
    public func allKeys(userPrompt: String) throws(KeychainError) -> Set<String> {
        try core.allKeys(userPrompt: userPrompt)
    }

    /// Forgets that the user was asked. A read in progress is completed.
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
