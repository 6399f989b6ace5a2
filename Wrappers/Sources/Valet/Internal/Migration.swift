// SPDX-License-Identifier: Apache-2.0
// Values on their way into a valet: all of them at once, or none.

import Foundation
@_spi(Wrappers) import KeychainKit

/// A migration: reads everything, checks everything, and then makes one change of it.
struct Migration {
    typealias Transform = (MigratableKeyValuePair<AnyHashable>) throws -> MigratableKeyValuePair<String>?

    let sources: [MigrationSource]
    let destination: Compartment
    /// Whether what was copied is removed where it came from.
    var removes = false
    /// Whether it is an error that there is nothing to migrate.
    var needsItems = true

    /// - Returns: How many values were migrated.
    /// - Throws: What `transform` throws, unchanged.
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

    /// The pairs to store, if all of them can be.
    private func checked(_ found: [FoundItem], _ transform: Transform) throws -> [MigratableKeyValuePair<String>] {
        var pairs: [MigratableKeyValuePair<String>] = []
        // In bytes: keys of the same look are different ones.
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

    /// Whether the item of that key is one of those that the migration removes: it only gets another accessibility.
    private func isReplacedInPlace(_ key: String, _ found: [FoundItem]) -> Bool {
        removes && found.contains { $0.name?.isIn(destination, key) == true }
    }

    /// The key as it is, if it is text.
    static func keepingKeys(
        _ pair: MigratableKeyValuePair<AnyHashable>
    ) throws -> MigratableKeyValuePair<String>? {
        guard let key = pair.key.base as? String else { throw MigrationError.keyToMigrateInvalid }
        return MigratableKeyValuePair(key: key, value: pair.value)
    }
}

/// Somebody has changed an item between the reading and the change.
struct SourceHasChanged: Error {}

extension KeychainKit.KeychainError {
    fileprivate static let keepsChanging = KeychainKit.KeychainError(
        .busy, "Other programs keep changing the items to migrate. Try again.")
}
