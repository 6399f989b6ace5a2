// SPDX-License-Identifier: Apache-2.0
// How SQLite uses the files of a vault: as its own code for Unix does, with three differences.

import Foundation
import GRDBSQLite
import Synchronization

/// SQLite's own way to use files (its VFS "unix"), but for three things.
///
/// Where another process was stopped while it makes a new log or its index, SQLite asks nobody whether to go on: it tries a hundred
/// times, with ever longer pauses, ten seconds in all. Here all pauses together take no longer than the timeout.
///
/// Where something else lies in the place of a database that has a log, SQLite writes the log into that, and removes it: what was
/// acknowledged would be lost even to who puts the database back. Here such a file is not opened.
///
/// Where the medium fails to read a page, SQLite takes the database for damaged. Here it is told that reading failed.
struct VaultFiles {
    /// Begins with what SQLite takes it for.
    private struct Files {
        var vfs: sqlite3_vfs
        let longest: Int32
    }

    /// Of the pauses that count; the first tries come without one.
    private static let pauses = 91
    private static let registered = Mutex<Set<Int32>>([])

    /// The name to open a database with, which is known to SQLite from then on; `nil` where there is no such way to use files.
    ///
    /// - Parameter timeout: Of all pauses together.
    static func name(for timeout: Duration) -> String? {
        // A program may ask for any time; a number that is too large for its type would end it.
        let longest = Int32(max(0, min(timeout / .microseconds(pauses), 1_000_000)))
        let name = "swift-keychain-\(longest)"
        return registered.withLock { registered in
            if registered.contains(longest) { return name }
            guard let base = sqlite3_vfs_find("unix"), register(name, base.pointee, longest) else { return nil }
            registered.insert(longest)
            return name
        }
    }

    /// What is registered stays for as long as the process: connections point to it.
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
        file.pointee.pMethods = file.pointee.pMethods.map(readingTruthfully)
        guard flags & SQLITE_OPEN_MAIN_DB != 0 else { return SQLITE_OK }
        let obstacle = hasLog(path) ? obstacle(in: file) : SQLITE_OK
        guard obstacle != SQLITE_OK else { return SQLITE_OK }
        _ = file.pointee.pMethods?.pointee.xClose?(file)
        // SQLite would close it once more.
        file.pointee.pMethods = nil
        return obstacle
    }

    /// What a file can do. Begins with what SQLite takes it for.
    private struct Methods {
        var own: sqlite3_io_methods
        /// What it can do by SQLite's own code.
        let base: UnsafePointer<sqlite3_io_methods>
    }

    /// By the address of what they were made of; there are a few in a process, which stay.
    private static let methods = Mutex<[UInt: UInt]>([:])

    private static func readingTruthfully(
        _ base: UnsafePointer<sqlite3_io_methods>
    ) -> UnsafePointer<sqlite3_io_methods> {
        let address = methods.withLock { methods in
            if let known = methods[UInt(bitPattern: base)] { return known }
            let made = UnsafeMutablePointer<Methods>.allocate(capacity: 1)
            made.initialize(to: Methods(own: base.pointee, base: base))
            made.pointee.own.xRead = { VaultFiles.read($0, $1, $2, $3) }
            methods[UInt(bitPattern: base)] = UInt(bitPattern: made)
            return UInt(bitPattern: made)
        }
        return UnsafePointer(bitPattern: address) ?? base
    }

    private static func read(
        _ file: UnsafeMutablePointer<sqlite3_file>?, _ buffer: UnsafeMutableRawPointer?, _ count: Int32,
        _ offset: sqlite3_int64
    ) -> Int32 {
        let (failed, corrupt) = (SQLITE_IOERR | 1 << 8, SQLITE_IOERR | 33 << 8)  // SQLITE_IOERR_READ, …_CORRUPTFS
        guard let file, let methods = file.pointee.pMethods else { return failed }
        let base = UnsafeRawPointer(methods).assumingMemoryBound(to: Methods.self).pointee.base
        guard let read = base.pointee.xRead else { return failed }
        let result = read(file, buffer, count, offset)
        return result == corrupt ? failed : result
    }

    private static func hasLog(_ path: sqlite3_filename) -> Bool {
        var status = stat()
        return lstat(String(cString: path) + "-wal", &status) == 0 && status.st_size > 0
    }

    /// Read by SQLite's own means: whoever opens and closes the file beside it ends the locks that this process has on it.
    ///
    /// - Returns: Why the file cannot be used as a database.
    private static func obstacle(in file: UnsafeMutablePointer<sqlite3_file>) -> Int32 {
        var found = [UInt8](repeating: 0, count: beginning.count)
        guard let read = file.pointee.pMethods?.pointee.xRead else { return SQLITE_CANTOPEN }
        let result = read(file, &found, Int32(found.count), 0)
        if result == SQLITE_IOERR | 2 << 8 { return SQLITE_NOTADB }  // SQLITE_IOERR_SHORT_READ: it is shorter.
        guard result == SQLITE_OK else { return result }
        return found == beginning ? SQLITE_OK : SQLITE_NOTADB
    }
}
