// SPDX-License-Identifier: Apache-2.0
// One connection to a database, through SQLite's C API.

import CKeychainSQLite
import Foundation
import Synchronization

/// Decides for several connections, from any thread, whether the last one moves the WAL into the database and removes
/// it.
final class ClosingRule: Sendable {
    private let isKept = Atomic(false)

    /// Whether the WAL stays: the one at the path may be another one by now.
    var keepsWAL: Bool { isKept.load(ordering: .relaxed) }

    func keepWAL() { isKept.store(true, ordering: .relaxed) }
}

/// An open database. Only one thread at a time may use a connection (``SharedConnection``).
///
/// ```swift
/// let connection = try Connection(path)
/// try connection.execute("DELETE FROM item WHERE id = ?", [.number(1)])
/// ```
package final class Connection {
    package enum Mode {
        case reading, writing
        /// Creates the file if it is missing.
        case creating

        fileprivate var flags: Int32 {
            switch self {
            case .reading: SQLITE_OPEN_READONLY
            case .writing: SQLITE_OPEN_READWRITE
            case .creating: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            }
        }
    }

    private(set) var database: OpaquePointer?
    /// The prepared statements, by index; `nil` while one is in use.
    private var prepared: [OpaquePointer?] = []
    private let wait: BusyWait?
    /// See ``findWALIndex()``.
    private(set) lazy var walIndex = findWALIndex()
    /// In bytes; it does not change.
    private(set) lazy var pageSize = Result { try number("PRAGMA page_size") ?? 0 }
    /// A length that the database file had or got; see ``reserveLength()``.
    var reservedLength: Int64 = 0
    /// What happens when the connection ends; `nil`: as SQLite does it.
    var closing: ClosingRule?

    /// - Parameters:
    ///   - name: A path, or a URI with SQLite's settings.
    ///   - wait: How long a call waits for another connection; `nil`: it does not wait.
    init(_ name: String, _ mode: Mode, _ wait: BusyWait?) throws {
        self.wait = wait
        // The caller serializes calls, so SQLite's own mutexes would only take time.
        let flags = mode.flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI
        let code = sqlite3_open_v2(name, &database, flags, nil)
        do {
            try SQLiteFailure.check(code)
            sqlite3_extended_result_codes(database, 1)
            if let wait { Self.install(wait, on: database) }
        } catch {
            // A failed attempt may leave a connection, whose extended error code is more precise.
            let failure = SQLiteFailure(code: database.map { sqlite3_extended_errcode($0) } ?? code)
            sqlite3_close(database)
            database = nil
            throw failure
        }
    }

    /// A connection with SQLite's default settings, for tests and for code that changes a vault from outside.
    package convenience init(_ path: String, _ mode: Mode = .creating) throws { try self.init(path, mode, nil) }

    /// The connection keeps the object alive as long as SQLite may call it.
    private static func install(_ wait: BusyWait, on database: OpaquePointer?) {
        sqlite3_busy_handler(
            database,
            { context, tries in
                guard let context else { return 0 }
                return Unmanaged<BusyWait>.fromOpaque(context).takeUnretainedValue().goesOn(Int(tries)) ? 1 : 0
            }, Unmanaged.passUnretained(wait).toOpaque())
    }

    deinit { try? close() }

    /// Closes the connection; later calls fail. The last connection to a database moves the WAL into it and removes the
    /// WAL.
    package func close() throws {
        for statement in prepared { sqlite3_finalize(statement) }
        prepared = []
        if let closing, closing.keepsWAL, let database { keychain_keep_wal(database) }
        try SQLiteFailure.check(sqlite3_close(database))
        database = nil
    }

    // MARK: - Statements

    /// Runs one or more statements to completion; rows that they return are ignored.
    ///
    /// - Parameter arguments: The values for each `?`, in order. Each statement uses as many as it has.
    /// - Throws: `SQLITE_RANGE` if there are too few or too many.
    package func execute(_ sql: SQL, _ arguments: [SQLValue] = []) throws {
        try forEach(sql, arguments) { _ in true }
    }

    /// Runs one or more statements, and passes each row to `body` until it returns `false`.
    package func forEach(
        _ sql: SQL, _ arguments: [SQLValue] = [], _ body: (RowReader) throws -> Bool
    ) throws {
        guard let place = sql.place else { return try forEachOnce(sql.text, arguments, body) }
        let statement = try take(sql.text, place)
        defer { giveBack(statement, place) }
        try bind(arguments[...], to: statement)
        try step(statement, body)
    }

    private func step(_ statement: OpaquePointer, _ body: (RowReader) throws -> Bool) throws {
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: guard try body(RowReader(statement)) else { return }
            case SQLITE_DONE: return
            case let code: throw SQLiteFailure(code: code)
            }
        }
    }

    private func bind(_ arguments: ArraySlice<SQLValue>, to statement: OpaquePointer) throws {
        guard sqlite3_bind_parameter_count(statement) == arguments.count else {
            throw SQLiteFailure(code: SQLITE_RANGE)
        }
        for (index, argument) in arguments.enumerated() {
            try SQLiteFailure.check(argument.bind(to: statement, at: Int32(index + 1)))
        }
    }

    /// A statement that runs while its own rows are read gets a second prepared statement.
    private func take(_ text: String, _ place: Int) throws -> OpaquePointer {
        if place < prepared.count, let statement = prepared[place] {
            prepared[place] = nil
            return statement
        }
        var statement: OpaquePointer?
        try SQLiteFailure.check(
            sqlite3_prepare_v3(try opened, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil))
        guard let statement else { throw SQLiteFailure(code: SQLITE_MISUSE) }
        return statement
    }

    private func giveBack(_ statement: OpaquePointer, _ place: Int) {
        // Its error, if there was one, is already known.
        sqlite3_reset(statement)
        sqlite3_clear_bindings(statement)
        while prepared.count <= place { prepared.append(nil) }
        if let other = prepared[place] { sqlite3_finalize(other) }
        prepared[place] = statement
    }

    private func forEachOnce(
        _ text: String, _ arguments: [SQLValue], _ body: (RowReader) throws -> Bool
    ) throws {
        try text.withCString { start in
            var (next, left): (UnsafePointer<CChar>?, ArraySlice<SQLValue>) = (start, arguments[...])
            while let present = next, present.pointee != 0 {
                var statement: OpaquePointer?
                try SQLiteFailure.check(sqlite3_prepare_v2(try opened, present, -1, &statement, &next))
                // Only blanks or a comment.
                guard let statement else { continue }
                defer { sqlite3_finalize(statement) }
                let count = min(Int(sqlite3_bind_parameter_count(statement)), left.count)
                try bind(left.prefix(count), to: statement)
                left = left.dropFirst(count)
                try step(statement, body)
            }
            if !left.isEmpty { throw SQLiteFailure(code: SQLITE_RANGE) }
        }
    }

    /// - Throws: After ``close()``.
    var opened: OpaquePointer {
        get throws {
            guard let database else { throw SQLiteFailure(code: SQLITE_MISUSE) }
            return database
        }
    }

    /// The number of rows that the last statement changed.
    package var changesCount: Int { Int(sqlite3_changes64(database)) }

    /// All rows that this connection has changed so far; failed statements do not count.
    var totalChangesCount: Int { Int(sqlite3_total_changes64(database)) }

    // MARK: - Transactions

    var isInTransaction: Bool { sqlite3_get_autocommit(database) == 0 }

    private enum Step {
        static let beginReading = SQL.kept("BEGIN")
        static let beginWriting = SQL.kept("BEGIN IMMEDIATE")
        static let commit = SQL.kept("COMMIT")
        static let rollBack = SQL.kept("ROLLBACK")
    }

    /// Begins a transaction that holds the write lock from its start.
    package func begin() throws { try begin(Step.beginWriting) }

    /// Prepared early, so that a rollback does not fail for lack of memory.
    private func begin(_ step: SQL) throws {
        if let place = Step.rollBack.place { giveBack(try take(Step.rollBack.text, place), place) }
        try execute(step)
    }

    /// COMMIT alone; ``commit(_:)`` also takes back a commit that failed.
    func end() throws { try execute(Step.commit) }

    /// After some errors SQLite has rolled back already.
    package func rollBack() throws {
        if isInTransaction { try execute(Step.rollBack) }
    }

    /// Runs `body` in a transaction for reading: all its statements see one state of the database.
    package func reading<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        try transaction(Step.beginReading, body)
    }

    /// Runs `body` in a transaction for writing.
    package func writing<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        try transaction(Step.beginWriting, body)
    }

    private func transaction<Result>(_ begin: SQL, _ body: (Connection) throws -> Result) throws -> Result {
        try self.begin(begin)
        do {
            let result = try body(self)
            try execute(Step.commit)
            return result
        } catch {
            // The first error is thrown.
            try? rollBack()
            throw error
        }
    }
}
