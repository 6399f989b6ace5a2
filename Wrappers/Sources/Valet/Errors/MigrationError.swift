// SPDX-License-Identifier: Apache-2.0
// Why a migration failed.

public import Foundation

/// Why a migration failed. Nothing has changed then, except as described at ``removalFailed``.
///
/// ```swift
/// do {
///     try valet.migrateObjects(from: old, removeOnCompletion: true)
/// } catch MigrationError.keyToMigrateAlreadyExistsInValet {
///     // The user has signed in here already: the new values stay.
/// }
/// ```
public enum MigrationError: Int, CaseIterable, CustomStringConvertible, Error, Equatable, Sendable {
    /// The query is empty, has no class or a class other than generic passwords, limits the number of results, or says
    /// what to return.
    case invalidQuery
    /// A key is not text, or is empty.
    case keyToMigrateInvalid
    /// A value is empty.
    case dataToMigrateInvalid
    /// Two values would have the same key.
    case duplicateKeyToMigrate
    /// The target valet already has a value for the key.
    case keyToMigrateAlreadyExistsInValet
    /// The copied items could not be removed from their source. Without transactions, and between two keychains, some
    /// may already have been removed: each value is either at its source or at its destination.
    case removalFailed

    public var description: String { "MigrationError.\(name)" }

    private var name: String {
        switch self {
        case .invalidQuery: "invalidQuery"
        case .keyToMigrateInvalid: "keyToMigrateInvalid"
        case .dataToMigrateInvalid: "dataToMigrateInvalid"
        case .duplicateKeyToMigrate: "duplicateKeyToMigrate"
        case .keyToMigrateAlreadyExistsInValet: "keyToMigrateAlreadyExistsInValet"
        case .removalFailed: "removalFailed"
        }
    }
}

extension MigrationError: LocalizedError {
    public var errorDescription: String? {
        switch self {
        case .invalidQuery:
            "This query cannot be migrated. Give the class of generic passwords and conditions, without limits and return keys."
        case .keyToMigrateInvalid: "An item to migrate has a name that is empty or not text."
        case .dataToMigrateInvalid: "An item to migrate has an empty value."
        case .duplicateKeyToMigrate: "Two items to migrate would get the same key."
        case .keyToMigrateAlreadyExistsInValet: "The valet has a value for one of the keys already."
        case .removalFailed: "The items were copied, but could not be removed from their source. No value is lost."
        }
    }
}
