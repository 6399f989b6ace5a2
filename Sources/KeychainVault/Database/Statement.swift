// SPDX-License-Identifier: Apache-2.0
// Statements, their arguments and their errors.

import CKeychainSQLite
package import Foundation
import Synchronization

/// The text of a statement. A literal is prepared for each call, and ``kept(_:)`` is prepared once for each connection.
package struct SQL: Sendable, ExpressibleByStringInterpolation {
    let text: String
    /// The index of the prepared statement in each connection; `nil` if it is not kept.
    let place: Int?

    private static let places = Atomic(0)

    package init(stringLiteral text: String) { self.init(text, place: nil) }

    private init(_ text: String, place: Int?) {
        self.text = text
        self.place = place
    }

    /// Call it once for each text, from a `static let`, because indices are never reused.
    static func kept(_ text: String) -> SQL {
        SQL(text, place: places.wrappingAdd(1, ordering: .relaxed).oldValue)
    }
}

/// An argument of a statement.
package enum SQLValue: Sendable {
    case null
    case number(Int64)
    case real(Double)
    case text(String)
    case blob(Data)

    /// SQLite copies the bytes.
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        switch self {
        case .null: sqlite3_bind_null(statement, index)
        case .number(let number): sqlite3_bind_int64(statement, index, number)
        case .real(let number): sqlite3_bind_double(statement, index, number)
        case .text(let text): sqlite3_bind_text(statement, index, text, -1, Self.copied)
        // An empty pointer would be bound as NULL.
        case .blob(let bytes) where bytes.isEmpty: sqlite3_bind_zeroblob(statement, index, 0)
        case .blob(let bytes):
            bytes.withUnsafeBytes {
                sqlite3_bind_blob64(statement, index, $0.baseAddress, sqlite3_uint64($0.count), Self.copied)
            }
        }
    }

    /// `SQLITE_TRANSIENT`
    private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}

/// An error of SQLite. It has no text, because SQLite's messages may quote the content of a damaged file.
package struct SQLiteFailure: Error, Equatable {
    /// The extended result code.
    package let code: Int32
    /// The error of the last system call that failed on this thread. `sqlite3_system_errno` does not tell it: it is 0 after a commit that
    /// failed.
    let systemError: Int32
    /// The code of its group, such as `SQLITE_IOERR`.
    var group: Int32 { code & 0xFF }

    /// Create it directly after the call of SQLite, whose system calls decide `systemError`.
    init(code: Int32, systemError: Int32 = errno) {
        (self.code, self.systemError) = (code, systemError)
    }

    // SQLite's names of these codes are macros that Swift does not import.
    /// `SQLITE_IOERR_READ`
    static let readFailed = SQLITE_IOERR | 1 << 8
    /// `SQLITE_IOERR_SHORT_READ`
    static let endOfFile = SQLITE_IOERR | 2 << 8
    /// `SQLITE_IOERR_WRITE`
    static let writeFailed = SQLITE_IOERR | 3 << 8
    /// `SQLITE_IOERR_SHMOPEN`: the file of the WAL's index could not be given its first bytes.
    static let indexDoesNotOpen = SQLITE_IOERR | 18 << 8
    /// `SQLITE_IOERR_SHMSIZE`: the file of the WAL's index could not be made as long as it has to be.
    static let indexDoesNotGrow = SQLITE_IOERR | 19 << 8
    /// `SQLITE_IOERR_CORRUPTFS`
    static let fileSystemFailed = SQLITE_IOERR | 33 << 8
    /// `SQLITE_READONLY_CANTINIT`: the WAL's index can only be read, and no other connection has it open.
    static let indexIsReadOnly = SQLITE_READONLY | 5 << 8

    /// - Throws: If the code is not `SQLITE_OK`.
    static func check(_ code: Int32) throws {
        if code != SQLITE_OK { throw SQLiteFailure(code: code) }
    }
}
