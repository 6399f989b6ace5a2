// SPDX-License-Identifier: Apache-2.0
// Why a migration was not made.

public import Foundation

/// Why a migration was not made. Nothing has changed then, but for what ``removalFailed`` says.
///
/// ```swift
/// do {
///     try valet.migrateObjects(from: old, removeOnCompletion: true)
/// } catch MigrationError.keyToMigrateAlreadyExistsInValet {
///     // Somebody has signed in here already: the new values stay.
/// }
/// ```
public enum MigrationError: Int, CaseIterable, CustomStringConvertible, Error, Equatable, Sendable {
    /// The query is empty, names no class or another than generic passwords, limits the number of results, or says what
    /// to return of them.
    case invalidQuery
    /// A key is not text, or is empty.
    case keyToMigrateInvalid
    /// A value is empty.
    case dataToMigrateInvalid
    /// Two values would get the same key.
    case duplicateKeyToMigrate
    /// There is a value for the key in the valet that migrates.
    case keyToMigrateAlreadyExistsInValet
    /// What was copied could not be removed where it came from. In a keychain without transactions, and between two, some
    /// of it may have been removed by then: each value is either where it was or where it was to go.
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
