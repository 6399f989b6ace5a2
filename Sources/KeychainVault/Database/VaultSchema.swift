// SPDX-License-Identifier: Apache-2.0
// The tables of a vault, and whether a database file is one.

import KeychainEngine

/// The tables, and the numbers in the file's header that identify it (Docs/FORMAT.md).
enum VaultSchema {
    /// "KVLT": in SQLite's `application_id`.
    static let applicationID: Int32 = 0x4B56_4C54
    /// In SQLite's `user_version`; increased whenever the tables or their contents change. Version 2 adds passphrases,
    /// constrained items and the class that needs a passcode; its tables are those of version 1. Version 3 adds the
    /// head, version 4 the index of minor parts. This is the version of new vaults.
    static let version: Int32 = 4
    /// The version of vaults in a ring, which have the tables of ``SyncTables``. A program that does not know these
    /// tables must not write, because its changes would not reach the other machines.
    static let versionInRing: Int32 = 5
    static let firstVersionWithHead: Int32 = 3
    private static let firstVersionWithMinorIndex: Int32 = 4

    /// The statements that make an empty vault. SQLite stores each statement verbatim, and opening compares them.
    static let statements = statementsWithoutHead + [headStatement, minorIndexStatement]

    private static let headStatement =
        "CREATE TABLE head (id INTEGER PRIMARY KEY CHECK (id = 1), bytes BLOB NOT NULL) STRICT"
    /// For searches by account alone, or by another minor part.
    private static let minorIndexStatement = "CREATE INDEX item_minor ON item (minor)"

    /// The statements of formats 1 and 2.
    private static let statementsWithoutHead = [
        "CREATE TABLE keybag (id INTEGER PRIMARY KEY CHECK (id = 1), bytes BLOB NOT NULL) STRICT",
        // A separate table is on a separate page: damage to one page leaves the other copy intact.
        "CREATE TABLE keybag_copy (id INTEGER PRIMARY KEY CHECK (id = 1), bytes BLOB NOT NULL) STRICT",
        "CREATE TABLE item (\(columns)) STRICT",
        "CREATE UNIQUE INDEX item_key ON item (major, minor, scope)",
        """
        CREATE TABLE lookup (digest BLOB NOT NULL, item INTEGER NOT NULL, PRIMARY KEY (digest, item)) \
        STRICT, WITHOUT ROWID
        """,
        "CREATE TABLE quarantine (\(columns), set_aside REAL NOT NULL) STRICT",
    ]

    private static let columns = """
        id INTEGER PRIMARY KEY, uuid BLOB NOT NULL, version INTEGER NOT NULL, class INTEGER NOT NULL, \
        generation INTEGER NOT NULL, major BLOB NOT NULL, minor BLOB NOT NULL, scope BLOB NOT NULL, \
        metadata BLOB NOT NULL, value BLOB NOT NULL
        """

    static func create(_ connection: Connection) throws {
        for statement in statements { try connection.execute(SQL(stringLiteral: statement)) }
        try connection.execute("PRAGMA application_id = \(applicationID)")
        try connection.execute("PRAGMA user_version = \(version)")
    }

    /// Refuses everything except a vault of a known version, before any of it is used: a database may contain triggers
    /// and views that run when it is written.
    ///
    /// - Returns: The version of the vault.
    static func check(_ connection: Connection, path: String) throws -> Int32 {
        guard try number(connection, "application_id") == applicationID else {
            throw try number(connection, "page_count") == 0 ? empty(path) : foreign(path)
        }
        let found = try version(connection)
        guard found <= versionInRing else {
            throw KeychainError(
                .newerFormat,
                "'\(path)' has format \(found) and this program knows formats up to \(versionInRing). "
                    + "It was left untouched; use a newer version of swift-keychain.")
        }
        let present = Set(try connection.texts("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL"))
        // Known tables that do not match the version are safe to read; the head's check handles them.
        guard found >= 1, present.isSuperset(of: statementsWithoutHead),
            present.isSubset(of: statements + SyncTables.statements)
        else {
            throw KeychainError(
                .corrupt,
                "The tables in '\(path)' are not those of a vault. It was left untouched. "
                    + KeychainError.restoreAdvice)
        }
        return found
    }

    static func version(_ connection: Connection) throws -> Int32 { try number(connection, "user_version") }

    /// No program leaves such a database; a damaged file system may.
    private static func empty(_ path: String) -> KeychainError {
        KeychainError(.corrupt, "'\(path)' is empty. It was left untouched. " + KeychainError.restoreAdvice)
    }

    private static func foreign(_ path: String) -> KeychainError {
        KeychainError(
            .corrupt,
            "'\(path)' is a database of another program, not a vault. It was left untouched; move it away "
                + "or name another vault folder (KEYCHAIN_VAULT).")
    }

    static func hasHead(_ connection: Connection) throws -> Bool { try has(headStatement, connection) }

    private static func has(_ statement: String, _ connection: Connection) throws -> Bool {
        try connection.number("SELECT count(*) FROM sqlite_schema WHERE sql = ?", [.text(statement)]) == 1
    }

    /// Whether the head, the index and the tables of a ring exist exactly as the version in the file's header requires.
    static func fitsVersion(_ connection: Connection) throws -> Bool {
        let found = try version(connection)
        return try hasHead(connection) == (found >= firstVersionWithHead)
            && has(minorIndexStatement, connection) == (found >= firstVersionWithMinorIndex)
            && SyncTables.statements.allSatisfy { try has($0, connection) == (found >= versionInRing) }
    }

    static func hasRing(_ connection: Connection) throws -> Bool {
        try SyncTables.statements.allSatisfy { try has($0, connection) }
    }

    /// Makes the tables of a ring, in a vault of the newest format without them.
    static func addRing(_ connection: Connection) throws {
        for statement in SyncTables.statements { try connection.execute(SQL(stringLiteral: statement)) }
        try connection.execute("PRAGMA user_version = \(versionInRing)")
    }

    /// Removes these tables with their contents.
    static func removeRing(_ connection: Connection) throws {
        for table in SyncTables.names { try connection.execute("DROP TABLE IF EXISTS \(table)") }
        try connection.execute("PRAGMA user_version = \(version)")
    }

    /// Upgrades a vault, within the transaction that writes its head.
    ///
    /// - Parameter indexing: Whether to this version; otherwise to the first one with a head. The index needs space, which
    ///   a removal on a full disk does not have.
    static func raise(_ connection: Connection, indexing: Bool = true) throws {
        if try !hasHead(connection) { try connection.execute(SQL(stringLiteral: headStatement)) }
        let isIndexed = try has(minorIndexStatement, connection)
        if indexing, !isIndexed { try connection.execute(SQL(stringLiteral: minorIndexStatement)) }
        let newest = try hasRing(connection) ? versionInRing : version
        try connection.execute("PRAGMA user_version = \(indexing || isIndexed ? newest : firstVersionWithHead)")
    }

    private static let storedVersion = SQL.kept("PRAGMA user_version")

    /// The version in the file's header now.
    static func storedVersion(_ connection: Connection) throws -> Int32 {
        Int32(truncatingIfNeeded: try connection.number(storedVersion) ?? 0)
    }

    private static func number(_ connection: Connection, _ pragma: String) throws -> Int32 {
        Int32(truncatingIfNeeded: try connection.number("PRAGMA \(pragma)") ?? 0)
    }
}
