// SPDX-License-Identifier: Apache-2.0
// The floors: what SQLite alone costs for a row of the same size with the same settings, and that plus one AES-GCM call.

import CKeychainSQLite
import Crypto
import Foundation

/// A plain table read and written through SQLite's C API with prepared statements: nothing that stores a row durably in
/// SQLite can be faster.
final class Floor {
    private var db: OpaquePointer?
    private var select: OpaquePointer?
    private var selectAll: OpaquePointer?
    private var insert: OpaquePointer?
    private let key = SymmetricKey(size: .bits256)
    private let body: Data
    private let plaintext: Data

    /// - Parameter rowSize: Bytes of a row, as the vault has them; 32 of them are the unique key.
    init(path: String, rowSize: Int) throws {
        plaintext = Data(count: rowSize - 32 - 28)
        body = try AES.GCM.seal(plaintext, using: key).combined ?? Data()
        guard sqlite3_open(path, &db) == SQLITE_OK else { throw FloorError() }
        for sql in [
            "PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", "PRAGMA secure_delete=ON", "PRAGMA mmap_size=0",
            "CREATE TABLE item (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, body BLOB NOT NULL) STRICT",
        ] {
            guard sqlite3_exec(db, sql, nil, nil, nil) == SQLITE_OK else { throw FloorError() }
        }
        sqlite3_prepare_v3(db, "SELECT body FROM item WHERE key = ?", -1, 0, &select, nil)
        sqlite3_prepare_v3(db, "SELECT body FROM item LIMIT ?", -1, 0, &selectAll, nil)
        sqlite3_prepare_v3(db, "INSERT INTO item (key, body) VALUES (?, ?)", -1, 0, &insert, nil)
    }

    deinit {
        sqlite3_finalize(select)
        sqlite3_finalize(selectAll)
        sqlite3_finalize(insert)
        sqlite3_close(db)
    }

    func fill(_ count: Int) throws {
        sqlite3_exec(db, "BEGIN", nil, nil, nil)
        for index in 0..<count { try add(index, sealing: false) }
        sqlite3_exec(db, "COMMIT", nil, nil, nil)
    }

    /// One durable insert: a statement outside a transaction is one.
    func add(_ index: Int, sealing: Bool) throws {
        let sealed = sealing ? try AES.GCM.seal(plaintext, using: key).combined ?? Data() : body
        sqlite3_reset(insert)
        bind(insert, 1, Self.key(index))
        bind(insert, 2, sealed)
        guard sqlite3_step(insert) == SQLITE_DONE else { throw FloorError() }
        sqlite3_reset(insert)
    }

    /// Several rows, durable together.
    func add(_ indexes: Range<Int>, sealing: Bool) throws {
        sqlite3_exec(db, "BEGIN", nil, nil, nil)
        for index in indexes { try add(index, sealing: sealing) }
        guard sqlite3_exec(db, "COMMIT", nil, nil, nil) == SQLITE_OK else { throw FloorError() }
    }

    /// Reads the first rows of the table, as many as a list has.
    func list(_ count: Int) throws -> Int {
        sqlite3_reset(selectAll)
        sqlite3_bind_int64(selectAll, 1, Int64(count))
        var bytes = 0
        while sqlite3_step(selectAll) == SQLITE_ROW, let blob = sqlite3_column_blob(selectAll, 0) {
            let found = Data(bytes: blob, count: Int(sqlite3_column_bytes(selectAll, 0)))
            bytes += try AES.GCM.open(AES.GCM.SealedBox(combined: found), using: key).count
        }
        sqlite3_reset(selectAll)
        return bytes
    }

    func read(_ index: Int, opening: Bool) throws -> Int {
        sqlite3_reset(select)
        bind(select, 1, Self.key(index))
        guard sqlite3_step(select) == SQLITE_ROW, let bytes = sqlite3_column_blob(select, 0) else { throw FloorError() }
        let found = Data(bytes: bytes, count: Int(sqlite3_column_bytes(select, 0)))
        sqlite3_reset(select)
        return opening ? try AES.GCM.open(AES.GCM.SealedBox(combined: found), using: key).count : found.count
    }

    private func bind(_ statement: OpaquePointer?, _ column: Int32, _ bytes: Data) {
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        bytes.withUnsafeBytes { _ = sqlite3_bind_blob(statement, column, $0.baseAddress, Int32($0.count), transient) }
    }

    /// 32 bytes spread like a digest's, so that the index is met as randomly as the vault's is.
    private static func key(_ index: Int) -> Data {
        var key = Data()
        var state = UInt64(truncatingIfNeeded: index) &* 0x9E37_79B9_7F4A_7C15
        for _ in 0..<4 {
            state = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
            withUnsafeBytes(of: state) { key.append(contentsOf: $0) }
        }
        return key
    }
}

struct FloorError: Error {}
