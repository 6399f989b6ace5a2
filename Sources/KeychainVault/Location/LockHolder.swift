// SPDX-License-Identifier: Apache-2.0
// The process that others wait for.

import Foundation

/// A process that has a file locked.
struct LockHolder: CustomStringConvertible {
    /// The two kinds of locks on a vault's files.
    enum Kind: Substring {
        /// A lock of a whole file, like the writer lock.
        case flock = "FLOCK"
        /// A lock of bytes of a file, like those of SQLite.
        case record = "POSIX"
    }

    /// 0 for a process of another container or system.
    let process: Int32

    var description: String {
        guard process > 0 else { return "A process of another container or system" }
        let name = Self.lines("/proc/\(process)/comm").first.map { " (\($0))" } ?? ""
        return "Process \(process)" + name
    }

    /// What a waiting user can do.
    var advice: String {
        guard isStopped else { return "Try again." }
        return "It is stopped. Resume it (kill -CONT \(process)) or end it, then try again."
    }

    /// Whether the process was stopped by a signal or a debugger; waiting does not release its locks.
    var isStopped: Bool {
        // "4711 (name) T …"; the name may contain any character.
        guard process > 0, let line = Self.lines("/proc/\(process)/stat").last,
            let state = line.split(separator: ")").last?.split(separator: " ").first
        else { return false }
        return state == "T" || state == "t"
    }

    /// Reads the kernel's list, since trying the lock would make others wait. SQLite's locks of this process do not
    /// count.
    ///
    /// - Returns: `nil` if no process has the file locked for writing, or the system does not say.
    static func find(_ file: String, _ kind: Kind = .flock) -> LockHolder? {
        find(file, kind, "WRITE") { _, _ in true }
    }

    /// Another process that is reading, so that the WAL cannot be moved into the database.
    static func findReader(database path: String) -> LockHolder? {
        // The bytes that stand for the places in the WAL up to which somebody reads ("The WAL-Index File Format" of SQLite).
        find(path + "-shm", .record, "READ") { first, last in first <= 127 && last >= 123 }
    }

    /// - Parameter isMeant: Whether a lock of these bytes, from the first to the last, counts.
    private static func find(
        _ file: String, _ kind: Kind, _ access: Substring, _ isMeant: (UInt64, UInt64) -> Bool
    ) -> LockHolder? {
        var status = stat()
        guard lstat(file, &status) == 0 else { return nil }
        for line in lines("/proc/locks") {
            // "1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF"; a waiting process has "->" in it.
            let words = line.split(separator: " ")
            guard words.count >= 8, words[1] == kind.rawValue, words[3] == access,
                words[5].split(separator: ":").last.flatMap({ UInt64($0) }) == UInt64(status.st_ino),
                isDevice(words[5], status), let process = Int32(words[4]), kind == .flock || process != getpid(),
                isMeant(UInt64(words[6]) ?? 0, UInt64(words[7]) ?? .max)
            else { continue }
            return LockHolder(process: process)
        }
        return nil
    }

    /// The other process that holds one of SQLite's write locks, on the database or on the index of its WAL.
    static func find(database path: String) -> LockHolder? { find(path, .record) ?? find(path + "-shm", .record) }

    private static func isDevice(_ place: Substring, _ status: stat) -> Bool {
        let parts = place.split(separator: ":").compactMap { UInt64($0, radix: 16) }
        let device = UInt64(truncatingIfNeeded: status.st_dev)
        let major = (device >> 8) & 0xFFF | (device >> 32) & ~0xFFF
        let minor = device & 0xFF | (device >> 12) & ~0xFF
        return parts.count == 3 && parts[0] == major && parts[1] == minor & 0xFFFF_FFFF
    }

    private static func lines(_ path: String) -> [Substring] {
        guard let file = fopen(path, "re") else { return [] }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 18)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n")
    }
}
