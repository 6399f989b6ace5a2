// SPDX-License-Identifier: Apache-2.0
// The migration of values into a valet: all of them or none.

import Foundation
@_spi(Wrappers) import KeychainKit

/// A migration: it reads and checks everything, and then makes one change.
struct Migration {
    typealias Transform = (MigratableKeyValuePair<AnyHashable>) throws -> MigratableKeyValuePair<String>?

    let sources: [MigrationSource]
    let destination: Compartment
    /// Whether the copied items are removed from their source.
    var removes = false
    /// Whether it is an error if there is nothing to migrate.
    var needsItems = true

    /// - Returns: How many values were migrated.
    /// - Throws: Errors of `transform`, unchanged.
    func run(_ transform: Transform) throws -> Int {
        var attempts = 3
        while true {
            do {
                return try runOnce(transform)
            } catch is SourceHasChanged {
                attempts -= 1
                guard attempts > 0 else { throw destination.recorded(.keepsChanging) }
            }
        }
    }

    private func runOnce(_ transform: Transform) throws -> Int {
        let context = destination.keychain.context ?? AuthenticationContext()
        let found = try destination.recordingAny { try sources.flatMap { try $0.items(context) } }
        if found.isEmpty && needsItems { throw destination.recorded(.absent) }
        let pairs = try checked(found.filter { !$0.isCanary }, transform)
        var secrets = destination.secrets
        secrets.context = context
        try MigrationChange(
            pairs: pairs, found: removes ? found.filter(\.mayGo) : [],
            origin: sources.first?.keychain ?? destination.keychain, secrets: secrets, destination: destination
        ).make()
        return pairs.count
    }

    /// The pairs to store, if all of them are valid.
    private func checked(_ found: [FoundItem], _ transform: Transform) throws -> [MigratableKeyValuePair<String>] {
        var pairs: [MigratableKeyValuePair<String>] = []
        // Compared as bytes: Swift considers different keys with the same look equal.
        var keys: Set<Data> = []
        for item in found {
            guard let value = item.value else { continue }  // an item that carries attributes alone
            guard !value.isEmpty else { throw MigrationError.dataToMigrateInvalid }
            guard let pair = try transform(MigratableKeyValuePair(key: item.key, value: value)) else { continue }
            guard !pair.key.isEmpty else { throw MigrationError.keyToMigrateInvalid }
            guard keys.insert(Data(pair.key.utf8)).inserted else { throw MigrationError.duplicateKeyToMigrate }
            guard !pair.value.isEmpty else { throw MigrationError.dataToMigrateInvalid }
            pairs.append(pair)
        }
        for pair in pairs where try destination.containsObject(forKey: pair.key) {
            guard !isReplacedInPlace(pair.key, found) else { continue }
            throw MigrationError.keyToMigrateAlreadyExistsInValet
        }
        return pairs
    }

    /// Whether the item with that key is one that the migration removes: then only its accessibility changes.
    private func isReplacedInPlace(_ key: String, _ found: [FoundItem]) -> Bool {
        removes && found.contains { $0.name?.isIn(destination, key) == true }
    }

    /// Keeps the key, if it is text.
    static func keepingKeys(
        _ pair: MigratableKeyValuePair<AnyHashable>
    ) throws -> MigratableKeyValuePair<String>? {
        guard let key = pair.key.base as? String else { throw MigrationError.keyToMigrateInvalid }
        return MigratableKeyValuePair(key: key, value: pair.value)
    }
}

/// Another program changed an item between the read and the change.
struct SourceHasChanged: Error {}

extension KeychainKit.KeychainError {
    fileprivate static let keepsChanging = KeychainKit.KeychainError(
        .busy, "Other programs keep changing the items to migrate. Try again.")
}
