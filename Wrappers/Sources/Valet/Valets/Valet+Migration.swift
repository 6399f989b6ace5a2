// SPDX-License-Identifier: Apache-2.0
// Values of other services, of older valets, and of those with another accessibility.

import Foundation
@_spi(Wrappers) import KeychainKit
@_spi(Wrappers) import KeychainServices

/// Each migration is one step: all values that are found arrive, or nothing changes and an error is thrown. What is removed
/// where it came from is removed in the same step. In a keychain without transactions (Apple's), and between two, it is
/// several steps, after each of which every value is in one of the two places.
///
/// Migrations throw errors of two types, and so are not typed.
extension Valet {
    /// Migrates what a dictionary finds, as `SecItemCopyMatching` finds it.
    ///
    /// ```swift
    /// let query: [String: AnyHashable] = [
    ///     kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "com.example.old",
    /// ]
    /// try valet.migrateObjects(matching: query, removeOnCompletion: true)
    /// ```
    ///
    /// - Parameters:
    ///   - query: The class of generic passwords, and conditions; no limit, and nothing about what to return.
    ///   - removeOnCompletion: Whether the items that were copied are removed.
    /// - Throws: A ``MigrationError``, or a ``KeychainError``: `itemNotFound` if nothing matches.
    public func migrateObjects(matching query: [String: AnyHashable], removeOnCompletion: Bool) throws {
        try compartment.migrate(query, removes: removeOnCompletion)
    }

    /// Copies what a dictionary finds, and lets the program change or leave out each of it.
    ///
    /// ```swift
    /// try valet.migrateObjects(matching: query) { pair in
    ///     guard let key = pair.key as? String else { return nil }
    ///     return MigratableKeyValuePair(key: "old " + key, value: pair.value)
    /// }
    /// ```
    ///
    /// - Parameter compactMap: What to store for an item, whose key is text or bytes; `nil` leaves it out. It may run more
    ///   than once.
    /// - Throws: What `compactMap` throws, unchanged, and then nothing has changed.
    public func migrateObjects(
        matching query: [String: AnyHashable],
        compactMap: (MigratableKeyValuePair<AnyHashable>) throws -> MigratableKeyValuePair<String>?
    ) throws {
        let source = try compartment.source(matching: query)
        _ = try Migration(sources: [source], destination: compartment).run(compactMap)
    }

    /// Migrates all values of another valet, also of one over another store.
    ///
    /// ```swift
    /// try valet.migrateObjects(from: old, removeOnCompletion: true)
    /// ```
    ///
    /// - Throws: A ``MigrationError``, or a ``KeychainError``: `itemNotFound` if the other has none.
    public func migrateObjects(from valet: Valet, removeOnCompletion: Bool) throws {
        try compartment.migrate(from: valet, removes: removeOnCompletion)
    }

    /// Copies the values of another valet, and lets the program change or leave out each of it.
    ///
    /// ```swift
    /// try valet.migrateObjects(from: old) { pair in
    ///     pair.key as? String == "token" ? MigratableKeyValuePair(key: "token", value: pair.value) : nil
    /// }
    /// ```
    ///
    /// - Throws: What `compactMap` throws, unchanged, and then nothing has changed.
    public func migrateObjects(
        from valet: Valet,
        compactMap: (MigratableKeyValuePair<AnyHashable>) throws -> MigratableKeyValuePair<String>?
    ) throws {
        _ = try Migration(sources: [valet.compartment.source()], destination: compartment).run(compactMap)
    }

    // MARK: - Another accessibility

    /// Migrates all values of the valets that have this one's name and kind, and another accessibility. To be called once a
    /// program has changed the accessibility, and at each start from then on: when nothing is left to migrate, it does nothing.
    ///
    /// ```swift
    /// let valet = Valet.valet(with: identifier, accessibility: .afterFirstUnlock)  // was: .whenUnlocked
    /// try valet.migrateObjectsFromOtherAccessibilities(removeOnCompletion: true)
    /// ```
    ///
    /// - Returns: How many values there were.
    /// - Throws: A ``MigrationError``: `keyToMigrateAlreadyExistsInValet`, `duplicateKeyToMigrate` if two of the others have a
    ///   value for one key; or a ``KeychainError``. Nothing has changed then.
    @discardableResult
    public func migrateObjectsFromOtherAccessibilities(removeOnCompletion: Bool) throws -> Int {
        var migration = Migration(
            sources: try otherAccessibilities.map { try compartment.source($0) }, destination: compartment)
        (migration.removes, migration.needsItems) = (removeOnCompletion, false)
        return try migration.run(Migration.keepingKeys)
    }

    /// The services of the same name with another accessibility; none where the service does not tell it.
    private var otherAccessibilities: [String] {
        let names: [String] =
            configuration.isSynchronizable
            ? CloudAccessibility.allCases.map(\.description) + [Self.always]
            : Accessibility.allCases.map(\.description) + [Self.always, Self.alwaysThisDeviceOnly]
        return names.map { service.description($0) }.filter { $0 != service.description }
    }

    /// Migrates the values of a valet of this name whose accessibility was `always`, which can be asked for no more.
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

    /// What a program's dictionary finds.
    func source(matching query: [String: AnyHashable]) throws -> MigrationSource {
        try recordingAny { try MigrationSource(keychain, query) }
    }

    /// All items of a service of this one's kind.
    ///
    /// - Parameter name: `nil`: of its own.
    func source(_ name: String? = nil) throws(MigrationError) -> MigrationSource {
        try MigrationSource(keychain, service.query(name ?? service.description))
    }
}
