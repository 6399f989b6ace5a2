// SPDX-License-Identifier: Apache-2.0
// How SQLite uses the files of a vault: like its own code for Unix, with four differences.

import CKeychainSQLite
import Foundation
import SecretMemory

/// SQLite's VFS "unix" with four changes.
///
/// If another process was stopped while it creates a new WAL or its index, SQLite does not call the busy handler: it
/// tries a hundred times, with growing pauses, ten seconds in total. Here all pauses together take no longer than the
/// timeout.
///
/// If another file replaced a database that has a WAL, SQLite writes the WAL into that file and removes the WAL:
/// acknowledged changes would be lost even after the database is put back. Here such a file is not opened.
///
/// If the medium fails to read a page, SQLite reports a damaged database. Here it reports a read error.
///
/// SQLite can build the index of a WAL in memory if it cannot write the file with it (`readonly_shm`), but not if that is
/// missing and cannot be created. Here it can (``withoutIndex``).
struct VaultFiles {
    /// Begins with the struct that SQLite expects.
    private struct Files {
        var vfs: sqlite3_vfs
        let longest: Int32
    }

    /// The setting in the name of a database, with the value 1, that opens it without the file with the index of the WAL.
    static let withoutIndex = "swift_keychain_without_index"

    /// The number of pauses that count; the first attempts have none.
    private static let pauses = 91
    private static let registered = Guarded<[Int32]>([])

    /// The VFS name to open a database with, registered with SQLite from then on; `nil` if SQLite has no VFS "unix".
    ///
    /// - Parameter timeout: The limit of all pauses together.
    static func name(for timeout: Duration) -> String? {
        // A program may pass any duration; a number that is too large for its type would trap.
        let longest = Int32(max(0, min(timeout / .microseconds(pauses), 1_000_000)))
        let name = "swift-keychain-\(longest)"
        return registered.withLock { registered in
            if registered.contains(longest) { return name }
            guard let base = sqlite3_vfs_find("unix"), register(name, base.pointee, longest) else { return nil }
            registered.append(longest)
            return name
        }
    }

    /// The registration stays until the process ends: connections point to it.
    private static func register(_ name: String, _ base: sqlite3_vfs, _ longest: Int32) -> Bool {
        let files = UnsafeMutablePointer<Files>.allocate(capacity: 1)
        files.initialize(to: Files(vfs: base, longest: longest))
        files.pointee.vfs.zName = strdup(name).map { UnsafePointer($0) }
        files.pointee.vfs.pNext = nil
        files.pointee.vfs.xOpen = { VaultFiles.open($0, $1, $2, $3, $4) }
        files.pointee.vfs.xSleep = { vfs, microseconds in
            guard let vfs else { return 0 }
            let longest = UnsafeRawPointer(vfs).assumingMemoryBound(to: Files.self).pointee.longest
            usleep(UInt32(max(0, min(microseconds, longest))))
            return microseconds
        }
        return files.withMemoryRebound(to: sqlite3_vfs.self, capacity: 1) { sqlite3_vfs_register($0, 0) == SQLITE_OK }
    }

    // MARK: - Opening

    private static let beginning = Array("SQLite format 3\0".utf8)

    private static func open(
        _ vfs: UnsafeMutablePointer<sqlite3_vfs>?, _ path: sqlite3_filename?,
        _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32, _ given: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        guard let open = sqlite3_vfs_find("unix")?.pointee.xOpen else { return SQLITE_CANTOPEN }
        let result = open(vfs, path, file, flags, given)
        guard result == SQLITE_OK, let path, let file else { return result }
        let isWithoutIndex = flags & SQLITE_OPEN_MAIN_DB != 0 && sqlite3_uri_boolean(path, withoutIndex, 0) != 0
        file.pointee.pMethods = file.pointee.pMethods.map { methods($0, isWithoutIndex) }
        guard flags & SQLITE_OPEN_MAIN_DB != 0 else { return SQLITE_OK }
        let failure = hasWAL(path) ? failure(of: file) : SQLITE_OK
        guard failure != SQLITE_OK else { return SQLITE_OK }
        _ = file.pointee.pMethods?.pointee.xClose?(file)
        // SQLite would close it a second time.
        file.pointee.pMethods = nil
        return failure
    }

    /// What a file can do. Begins with the struct that SQLite expects.
    private struct Methods {
        var own: sqlite3_io_methods
        /// SQLite's own functions for it.
        let base: UnsafePointer<sqlite3_io_methods>
    }

    private struct KnownMethods {
        /// The address of SQLite's methods.
        let base: UInt
        let isWithoutIndex: Bool
        /// That of the changed ones.
        let address: UInt
    }

    /// The changed methods. A process has only a few, which are never freed.
    private static let known = Guarded<[KnownMethods]>([])

    private static func methods(
        _ base: UnsafePointer<sqlite3_io_methods>, _ isWithoutIndex: Bool
    ) -> UnsafePointer<sqlite3_io_methods> {
        let own = UInt(bitPattern: base)
        let address = known.withLock { known in
            if let found = known.first(where: { $0.base == own && $0.isWithoutIndex == isWithoutIndex }) {
                return found.address
            }
            let made = UnsafeMutablePointer<Methods>.allocate(capacity: 1)
            made.initialize(to: Methods(own: base.pointee, base: base))
            made.pointee.own.xRead = { VaultFiles.read($0, $1, $2, $3) }
            if isWithoutIndex { refuseIndex(&made.pointee.own) }
            let address = UInt(bitPattern: made)
            known.append(KnownMethods(base: own, isWithoutIndex: isWithoutIndex, address: address))
            return address
        }
        return UnsafePointer(bitPattern: address) ?? base
    }

    /// SQLite then builds the index in memory from the WAL, as if its file could only be read and no other connection
    /// had it open. There is no file with locks either, so each lock is granted.
    private static func refuseIndex(_ methods: inout sqlite3_io_methods) {
        methods.xShmMap = { _, _, _, _, page in
            page?.pointee = nil
            return SQLiteFailure.indexIsReadOnly
        }
        methods.xShmLock = { _, _, _, _ in SQLITE_OK }
    }

    private static func read(
        _ file: UnsafeMutablePointer<sqlite3_file>?, _ buffer: UnsafeMutableRawPointer?, _ count: Int32,
        _ offset: sqlite3_int64
    ) -> Int32 {
        let failed = SQLiteFailure.readFailed
        guard let file, let methods = file.pointee.pMethods else { return failed }
        let base = UnsafeRawPointer(methods).assumingMemoryBound(to: Methods.self).pointee.base
        guard let read = base.pointee.xRead else { return failed }
        let result = read(file, buffer, count, offset)
        return result == SQLiteFailure.fileSystemFailed ? failed : result
    }

    private static func hasWAL(_ path: sqlite3_filename) -> Bool {
        var status = stat()
        return lstat(String(cString: path) + "-wal", &status) == 0 && status.st_size > 0
    }

    /// Reads through SQLite's own functions: opening and closing the file separately would release the locks that this
    /// process holds on it.
    ///
    /// - Returns: Why the file cannot be used as a database.
    private static func failure(of file: UnsafeMutablePointer<sqlite3_file>) -> Int32 {
        var found = [UInt8](repeating: 0, count: beginning.count)
        guard let read = file.pointee.pMethods?.pointee.xRead else { return SQLITE_CANTOPEN }
        let result = read(file, &found, Int32(found.count), 0)
        if result == SQLiteFailure.endOfFile { return SQLITE_NOTADB }
        guard result == SQLITE_OK else { return result }
        return found == beginning ? SQLITE_OK : SQLITE_NOTADB
    }
}
