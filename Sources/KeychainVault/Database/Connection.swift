// SPDX-License-Identifier: Apache-2.0
// Connections to the database: opened one way for reading, one way for writing, with every setting read back.

import GRDB
import GRDBSQLite
import KeychainEngine

/// Opens the vault's database. Each setting that durability or safety rests on is set and then read back, since
/// a library or a build of SQLite may have its own mind.
enum Connection {
    /// - Parameter timeout: How long a call waits for another connection before it fails as `busy`: a process may have been
    ///   stopped where it held one of SQLite's locks.
    /// - Parameter indexInMemory: Whether SQLite makes the index of the log for this connection alone if nobody else has the one on
    ///   disk open, which it could not write.
    static func openForReading(
        _ path: String, _ timeout: Duration, indexInMemory: Bool = false
    ) throws(KeychainError) -> DatabaseQueue {
        var configuration = waiting(timeout)
        configuration.readonly = true
        let name = uri(path, timeout) + (indexInMemory ? "readonly_shm=1" : "")
        return try open(path, as: name, configuration) { db in
            try hardening.forEach { try apply($0, to: db) }
        }
    }

    /// For media that cannot be written, where SQLite could not make the files that it coordinates readers by.
    static func openImmutable(_ path: String) throws(KeychainError) -> DatabaseQueue {
        var configuration = common
        configuration.readonly = true
        return try open(path, as: uri(path, .zero) + "immutable=1", configuration) { db in
            try hardening.forEach { try apply($0, to: db) }
        }
    }

    /// - Parameter timeout: As for reading; writers have waited for the lock file before.
    static func openForWriting(_ path: String, _ timeout: Duration) throws(KeychainError) -> DatabaseQueue {
        // Without `mode=rw` SQLite would make an empty database where there is none any more, and remove the WAL beside it.
        try open(path, as: uri(path, timeout) + "mode=rw", waiting(timeout)) { db in
            try (hardening + durability).forEach { try apply($0, to: db) }
        }
    }

    /// For a file that counts only once it is whole and durable, by the work of the caller: SQLite makes no log for it.
    static func openForCopying(_ path: String) throws(KeychainError) -> DatabaseQueue {
        try open(path, as: path, common) { db in try (hardening + withoutLog).forEach { try apply($0, to: db) } }
    }

    /// - Parameter name: What SQLite is given for the path, which is what messages show.
    private static func open(
        _ path: String, as name: String, _ configuration: Configuration, _ prepare: (Database) throws -> Void
    ) throws(KeychainError) -> DatabaseQueue {
        try SpareDescriptors.check(path)
        return try DatabaseFailure.translating(path) {
            let queue = try DatabaseQueue(path: name, configuration: configuration)
            // Not in `prepareDatabase`: GRDB runs statements of its own after that, which could undo a setting.
            try queue.inDatabase(prepare)
            return queue
        }
    }

    /// To be continued with settings of SQLite's, each with its value.
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

    /// Begins a transaction that is alone from its start. GRDB would parse BEGIN and COMMIT anew for each; these are prepared
    /// once.
    static func begin(_ db: Database) throws { try db.cachedStatement(sql: "BEGIN IMMEDIATE").execute() }

    /// Durable when this returns; if it throws, nothing has happened.
    ///
    /// - Parameter path: Of the database, for messages.
    static func commit(_ db: Database, _ path: String) throws {
        do {
            try db.cachedStatement(sql: "COMMIT").execute()
        } catch let error as DatabaseError {
            throw takenBack(error, db, path)
        }
    }

    /// Sees to it that a commit which failed has not happened for the next process either.
    ///
    /// - Returns: What to throw: the error, or that nobody knows what happened.
    static func takenBack(_ error: DatabaseError, _ db: Database, _ path: String) -> any Error {
        // Where a write failed there is no mark of a commit, so that nothing has happened.
        let isWritten = error.resultCode == .SQLITE_IOERR && error.extendedResultCode != .SQLITE_IOERR_WRITE
        guard isWritten, !takeBack(db) else { return error }
        return KeychainError.unknownOutcome(path)
    }

    /// Writes over what a commit has left in the WAL that failed: where only the sync did, all of it is there, and whoever recovers
    /// the WAL next would take it for done.
    ///
    /// - Returns: `false` if that failed as well.
    private static func takeBack(_ db: Database) -> Bool {
        do {
            if db.isInsideTransaction { try db.rollback() }
            try begin(db)
            // Any change does: its page takes the place of the first one.
            let version = try Int32.fetchOne(db, sql: "PRAGMA user_version") ?? 0
            try db.execute(sql: "PRAGMA user_version = \(version)")
            try db.cachedStatement(sql: "COMMIT").execute()
            return true
        } catch {
            return false  // Whoever called rolls back, or closes the connection.
        }
    }

    /// Moves all of the WAL into the database and truncates it. Waits for nobody: a reader may have been stopped.
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
        /// What reading it back gives.
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
        // Without FULL a power cut may take back what was acknowledged.
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
        // A build of SQLite without memory mapping answers nothing for its size, which is as good.
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
