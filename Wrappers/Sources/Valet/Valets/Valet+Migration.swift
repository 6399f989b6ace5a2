// SPDX-License-Identifier: Apache-2.0
// Migration from other services, older valets, and valets with another accessibility.

import Foundation
@_spi(Wrappers) import KeychainKit
@_spi(Wrappers) import KeychainServices

/// Each migration is one transaction: all found values are copied and, if requested, removed from their source, or
/// nothing changes and an error is thrown. Without transactions (Apple's keychain), and between two keychains, it takes
/// several steps. After each step every value is in one of the two places.
///
/// Migrations throw errors of two types, so their errors are not typed.
extension Valet {
    /// Migrates the items that a dictionary finds, as `SecItemCopyMatching` finds them.
    ///
    /// ```swift
    /// let query: [String: AnyHashable] = [
    ///     kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "com.example.old",
    /// ]
    /// try valet.migrateObjects(matching: query, removeOnCompletion: true)
    /// ```
    ///
    /// - Parameters:
    ///   - query: The class of generic passwords, and conditions; no limit, and no return keys.
    ///   - removeOnCompletion: Whether the copied items are removed.
    /// - Throws: A ``MigrationError``, or a ``KeychainError``: `itemNotFound` if nothing matches.
    public func migrateObjects(matching query: [String: AnyHashable], removeOnCompletion: Bool) throws {
        try compartment.migrate(query, removes: removeOnCompletion)
    }

    /// Copies the items that a dictionary finds. The program can change or omit each of them.
    ///
    /// ```swift
    /// try valet.migrateObjects(matching: query) { pair in
    ///     guard let key = pair.key as? String else { return nil }
    ///     return MigratableKeyValuePair(key: "old " + key, value: pair.value)
    /// }
    /// ```
    ///
    /// - Parameter compactMap: Returns what to store for an item, whose key is text or bytes; `nil` omits it. It may
    ///   run more than once.
    /// - Throws: Errors of `compactMap`, unchanged; nothing has changed then.
    public func migrateObjects(
        matching query: [String: AnyHashable],
        compactMap: (MigratableKeyValuePair<AnyHashable>) throws -> MigratableKeyValuePair<String>?
    ) throws {
        let source = try compartment.source(matching: query)
        _ = try Migration(sources: [source], destination: compartment).run(compactMap)
    }

    /// Migrates all values of another valet, which may use another store.
    ///
    /// ```swift
    /// try valet.migrateObjects(from: old, removeOnCompletion: true)
    /// ```
    ///
    /// - Throws: A ``MigrationError``, or a ``KeychainError``: `itemNotFound` if the other valet has none.
    public func migrateObjects(from valet: Valet, removeOnCompletion: Bool) throws {
        try compartment.migrate(from: valet, removes: removeOnCompletion)
    }

    /// Copies the values of another valet. The program can change or omit each of them.
    ///
    /// ```swift
    /// try valet.migrateObjects(from: old) { pair in
    ///     pair.key as? String == "token" ? MigratableKeyValuePair(key: "token", value: pair.value) : nil
    /// }
    /// ```
    ///
    /// - Throws: Errors of `compactMap`, unchanged; nothing has changed then.
    public func migrateObjects(
        from valet: Valet,
        compactMap: (MigratableKeyValuePair<AnyHashable>) throws -> MigratableKeyValuePair<String>?
    ) throws {
        _ = try Migration(sources: [valet.compartment.source()], destination: compartment).run(compactMap)
    }

    // MARK: - Another accessibility

    /// Migrates all values of the valets with the same name and kind and another accessibility. Call it at each start
    /// once the program has changed the accessibility. If there is nothing to migrate, it does nothing.
    ///
    /// ```swift
    /// let valet = Valet.valet(with: identifier, accessibility: .afterFirstUnlock)  // was: .whenUnlocked
    /// try valet.migrateObjectsFromOtherAccessibilities(removeOnCompletion: true)
    /// ```
    ///
    /// - Returns: How many values were migrated.
    /// - Throws: A ``MigrationError``: `keyToMigrateAlreadyExistsInValet`, or `duplicateKeyToMigrate` if two of the
    ///   other valets have a value for one key; or a ``KeychainError``. Nothing has changed then.
    @discardableResult
    public func migrateObjectsFromOtherAccessibilities(removeOnCompletion: Bool) throws -> Int {
        var migration = Migration(
            sources: try otherAccessibilities.map { try compartment.source($0) }, destination: compartment)
        (migration.removes, migration.needsItems) = (removeOnCompletion, false)
        return try migration.run(Migration.keepingKeys)
    }

    /// The services of the same name with another accessibility; none if the service does not contain it.
    private var otherAccessibilities: [String] {
        let names: [String] =
            configuration.isSynchronizable
            ? CloudAccessibility.allCases.map(\.description) + [Self.always]
            : Accessibility.allCases.map(\.description) + [Self.always, Self.alwaysThisDeviceOnly]
        return names.map { service.description($0) }.filter { $0 != service.description }
    }

    /// Migrates the values of a valet with this name and the accessibility `always`, which cannot be chosen any more.
    ///
    /// ```swift
    /// try valet.migrateObjectsFromAlwaysAccessibleValet(removeOnCompletion: true)
    /// ```
    ///
    /// - Throws: A ``MigrationError``, or a ``KeychainError``: `itemNotFound` if there are none.
    public func migrateObjectsFromAlwaysAccessibleValet(removeOnCompletion: Bool) throws {
        try migrate(Self.always, kSecAttrAccessibleAlwaysValue, removeOnCompletion)
    }

    /// The same for `alwaysThisDeviceOnly`.
    ///
    /// ```swift
    /// try valet.migrateObjectsFromAlwaysAccessibleThisDeviceOnlyValet(removeOnCompletion: true)
    /// ```
    public func migrateObjectsFromAlwaysAccessibleThisDeviceOnlyValet(removeOnCompletion: Bool) throws {
        try migrate(Self.alwaysThisDeviceOnly, kSecAttrAccessibleAlwaysThisDeviceOnlyValue, removeOnCompletion)
    }

    private func migrate(_ name: String, _ accessible: String, _ removes: Bool) throws {
        var query = service.query(service.description(name))
        query[kSecAttrAccessible as String] = accessible
        try compartment.migrate(query, removes: removes)
    }

    private static let always = "AccessibleAlways"
    private static let alwaysThisDeviceOnly = "AccessibleAlwaysThisDeviceOnly"

    #if os(macOS)
        /// Copies the values that the valet has in the keychain of macOS before 10.15.
        ///
        /// ```text
        /// try valet.migrateObjectsFromPreCatalina()
        /// ```
        public func migrateObjectsFromPreCatalina() throws {
            var query = baseKeychainQuery
            query[kSecUseDataProtectionKeychain as String] = false
            try compartment.migrate(query, removes: false)
        }
    #endif
}

/// Apple's compiler warns of the constants of these names.
private let kSecAttrAccessibleAlwaysValue = KeychainKit.Accessibility.always.rawValue
private let kSecAttrAccessibleAlwaysThisDeviceOnlyValue = KeychainKit.Accessibility.alwaysThisDeviceOnly.rawValue

// MARK: - For all kinds of valets

extension Compartment {
    func migrate(_ query: [String: AnyHashable], removes: Bool) throws {
        try migrate(source(matching: query), removes)
    }

    func migrate(from valet: Valet, removes: Bool) throws { try migrate(valet.compartment.source(), removes) }

    private func migrate(_ source: MigrationSource, _ removes: Bool) throws {
        _ = try Migration(sources: [source], destination: self, removes: removes).run(Migration.keepingKeys)
    }

    /// The items that a program's dictionary finds.
    func source(matching query: [String: AnyHashable]) throws -> MigrationSource {
        try recordingAny { try MigrationSource(keychain, query) }
    }

    /// All items of a service of this valet's kind.
    ///
    /// - Parameter name: `nil`: this valet's service.
    func source(_ name: String? = nil) throws(MigrationError) -> MigrationSource {
        try MigrationSource(keychain, service.query(name ?? service.description))
    }
}
