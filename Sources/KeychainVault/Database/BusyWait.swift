// SPDX-License-Identifier: Apache-2.0
// How long SQLite waits for other connections: never longer than the vault's settings say.

import Foundation
import GRDBSQLite
import Synchronization

/// Asked by one connection each time that it meets another one's lock.
final class BusyWait: Sendable {
    /// Set around work that has to be done at once or not at all.
    @TaskLocal static var isOff = false

    private let timeout: Duration
    private let start = Mutex(ContinuousClock.now)

    init(_ timeout: Duration) { self.timeout = timeout }

    /// Sleeps a little.
    ///
    /// - Parameter tries: How often the same lock was met before.
    /// - Returns: `false` when the time is up.
    func goesOn(_ tries: Int) -> Bool {
        guard !Self.isOff else { return false }
        let now = ContinuousClock.now
        let begin = start.withLock { start in
            if tries == 0 { start = now }
            return start
        }
        let left = timeout - (now - begin)
        guard left > .zero else { return false }
        let pause = min(left, .milliseconds(1 << min(tries, 6)))
        usleep(UInt32(pause / .microseconds(1)))
        return true
    }
}

/// SQLite's own way to use files, but for how long it sleeps.
///
/// Where another process was stopped while it makes a new log or its index, SQLite asks nobody whether to go on: it tries a hundred
/// times, with ever longer pauses, ten seconds in all. Here all pauses together take no longer than the timeout.
struct BoundedSleep {
    /// Begins with what SQLite takes it for.
    private struct Files {
        var vfs: sqlite3_vfs
        let longest: Int32
    }

    /// Of the pauses that count; the first tries come without one.
    private static let pauses = 91
    private static let registered = Mutex<Set<Int32>>([])

    /// The name to open a database with, which is known to SQLite from then on; `nil` where there is no such way to use files.
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
        files.pointee.vfs.xSleep = { vfs, microseconds in
            guard let vfs else { return 0 }
            let longest = UnsafeRawPointer(vfs).assumingMemoryBound(to: Files.self).pointee.longest
            usleep(UInt32(max(0, min(microseconds, longest))))
            return microseconds
        }
        return files.withMemoryRebound(to: sqlite3_vfs.self, capacity: 1) { sqlite3_vfs_register($0, 0) == SQLITE_OK }
    }
}
