// SPDX-License-Identifier: Apache-2.0
// Connections to the database: opened one way for reading, one way for writing, with every setting read back.

import GRDB
import GRDBSQLite
import KeychainEngine

/// Opens the vault's database. Each setting that durability or safety depends on is set and then read back, since a
/// library or a build of SQLite may override it.
enum Connection {
    /// Where the index of the WAL is, with which connections coordinate.
    enum LogIndex {
        /// In its file, which is created if it is missing.
        case onDisk
        /// In memory for one connection only, if SQLite cannot write the file and no other connection has it open.
        case inMemory
        /// The same if there is no file; none is created. What others write during a read may disturb it.
        case inMemoryWithoutFile

        fileprivate var setting: String {
            switch self {
            case .onDisk: ""
            case .inMemory: "readonly_shm=1"
            case .inMemoryWithoutFile: VaultFiles.withoutIndex + "=1"
            }
        }
    }

    /// - Parameter timeout: How long a call waits for another connection before it fails as `busy`: a process may have
    ///   been stopped while it held one of SQLite's locks.
    static func openForReading(
        _ path: String, _ timeout: Duration, index: LogIndex = .onDisk
    ) throws(KeychainError) -> DatabaseQueue {
        var configuration = waiting(timeout)
        configuration.readonly = true
        return try open(path, as: uri(path, timeout) + index.setting, configuration) { db in
            try hardening.forEach { try apply($0, to: db) }
        }
    }

    /// For read-only media, where SQLite cannot create the files with which it coordinates readers.
    static func openImmutable(_ path: String) throws(KeychainError) -> DatabaseQueue {
        var configuration = common
        configuration.readonly = true
        return try open(path, as: uri(path, .zero) + "immutable=1", configuration) { db in
            try hardening.forEach { try apply($0, to: db) }
        }
    }

    /// - Parameter timeout: As for reading; writers have already waited for the lock file.
    static func openForWriting(_ path: String, _ timeout: Duration) throws(KeychainError) -> DatabaseQueue {
        // Without `mode=rw` SQLite would create an empty database if it was removed, and delete the WAL beside it.
        try open(path, as: uri(path, timeout) + "mode=rw", waiting(timeout)) { db in
            try (hardening + durability).forEach { try apply($0, to: db) }
        }
    }

    /// For a file that is used only after the caller has made it complete and durable: SQLite makes no WAL for it.
    static func openForCopying(_ path: String) throws(KeychainError) -> DatabaseQueue {
        try open(path, as: path, common) { db in try (hardening + withoutLog).forEach { try apply($0, to: db) } }
    }

    /// - Parameter name: The name passed to SQLite; messages show the path.
    private static func open(
        _ path: String, as name: String, _ configuration: Configuration, _ prepare: (Database) throws -> Void
    ) throws(KeychainError) -> DatabaseQueue {
        try SpareDescriptors.check(path)
        return try DatabaseFailure.translating(path) {
            let queue = try DatabaseQueue(path: name, configuration: configuration)
            // Not in `prepareDatabase`: GRDB runs its own statements after that, which could undo a setting.
            try queue.inDatabase(prepare)
            return queue
        }
    }

    /// The caller appends SQLite settings, each with its value.
    private static func uri(_ path: String, _ timeout: Duration) -> String {
        "file:" + percentEncoded(path) + "?" + (VaultFiles.name(for: timeout).map { "vfs=\($0)&" } ?? "")
    }

    private static func waiting(_ timeout: Duration) -> Configuration {
        var configuration = common
        let wait = BusyWait(timeout)
        configuration.busyMode = .callback(wait.goesOn)
        return configuration
    }

    private static var common: Configuration {
        var configuration = Configuration()
        configuration.label = "swift-keychain"
        configuration.foreignKeysEnabled = false
        return configuration
    }

    /// Begins a transaction that holds the write lock from its start. GRDB would parse BEGIN and COMMIT each time;
    /// these statements are prepared once.
    static func begin(_ db: Database) throws { try db.cachedStatement(sql: "BEGIN IMMEDIATE").execute() }

    /// Durable when this returns; if it throws, nothing has happened.
    ///
    /// - Parameter path: The path of the database, for messages.
    static func commit(_ db: Database, _ path: String) throws {
        do {
            try db.cachedStatement(sql: "COMMIT").execute()
        } catch let error as DatabaseError {
            throw takenBack(error, db, path)
        }
    }

    /// Ensures that a failed commit does not take effect for the next process either.
    ///
    /// - Returns: The error to throw: the given one, or that the outcome is unknown.
    static func takenBack(_ error: DatabaseError, _ db: Database, _ path: String) -> any Error {
        // If a write failed, the WAL has no commit mark, so nothing has happened.
        let isWritten = error.resultCode == .SQLITE_IOERR && error.extendedResultCode != .SQLITE_IOERR_WRITE
        guard isWritten, !takeBack(db) else { return error }
        return KeychainError.unknownOutcome(path)
    }

    /// Overwrites the frames of a failed commit in the WAL. If only the sync failed, they are complete, and the next
    /// recovery of the WAL would apply them.
    ///
    /// - Returns: `false` if that failed too.
    private static func takeBack(_ db: Database) -> Bool {
        do {
            if db.isInsideTransaction { try db.rollback() }
            try begin(db)
            // Any change works: its page overwrites the first one.
            let version = try Int32.fetchOne(db, sql: "PRAGMA user_version") ?? 0
            try db.execute(sql: "PRAGMA user_version = \(version)")
            try db.cachedStatement(sql: "COMMIT").execute()
            return true
        } catch {
            return false  // Whoever called rolls back, or closes the connection.
        }
    }

    /// Moves all of the WAL into the database and truncates it. Does not wait: a reader may have been stopped.
    ///
    /// - Returns: `false` if a reader needs the WAL, or the disk failed.
    static func truncateLog(_ db: Database) -> Bool {
        PausePoint.beforeTruncation.reached()
        defer { PausePoint.truncated.reached() }
        do {
            _ = try BusyWait.$isOff.withValue(true) { try db.checkpoint(.truncate) }
            return true
        } catch {
            return false
        }
    }

    // MARK: - Settings

    private struct Setting {
        let name: String
        let value: String
        /// The expected value when it is read back.
        let expected: String
    }

    private static let hardening = [
        Setting(name: "trusted_schema", value: "OFF", expected: "0"),
        Setting(name: "cell_size_check", value: "ON", expected: "1"),
        Setting(name: "mmap_size", value: "0", expected: "0"),
        // Sorting must not spill digests into files in a temporary folder.
        Setting(name: "temp_store", value: "MEMORY", expected: "2"),
    ]

    private static let durability = [
        Setting(name: "journal_mode", value: "WAL", expected: "wal"),
        // Without FULL a power cut may undo acknowledged changes.
        Setting(name: "synchronous", value: "FULL", expected: "2"),
        Setting(name: "secure_delete", value: "ON", expected: "1"),
    ]

    private static let withoutLog = [
        Setting(name: "journal_mode", value: "OFF", expected: "off"),
        Setting(name: "synchronous", value: "OFF", expected: "0"),
    ]

    private static func apply(_ setting: Setting, to db: Database) throws {
        _ = try Row.fetchAll(db, sql: "PRAGMA \(setting.name) = \(setting.value)")
        let found = try DatabaseValue.fetchOne(db, sql: "PRAGMA \(setting.name)").map(text)
        // A build of SQLite without memory mapping returns nothing for its size, which is just as good.
        guard let found = found ?? (setting.name == "mmap_size" ? "0" : nil), found == setting.expected else {
            throw KeychainError(
                .unavailable,
                "SQLite did not accept the setting \(setting.name)=\(setting.value), which the vault needs.")
        }
    }

    private static func text(_ value: DatabaseValue) -> String {
        switch value.storage {
        case .int64(let number): String(number)
        case .string(let text): text
        case .null, .double, .blob: ""
        }
    }

    /// The characters that would end a path in a URI, and the one that escapes them.
    private static func percentEncoded(_ path: String) -> String {
        path.utf8.map { byte in
            let isPlain = byte > 0x20 && byte < 0x7F && !"%?#".utf8.contains(byte)
            return isPlain ? String(UnicodeScalar(byte)) : "%" + hex(byte >> 4) + hex(byte & 15)
        }.joined()
    }

    private static func hex(_ nibble: UInt8) -> String { String(nibble, radix: 16) }
}
