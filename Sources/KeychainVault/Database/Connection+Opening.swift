// SPDX-License-Identifier: Apache-2.0
// How the vault's database is opened: one way for reading, one for writing, with every setting read back.

import CKeychainSQLite
import KeychainEngine

/// Each setting that durability or safety depends on is set and then read back, since a build of SQLite may override it.
extension Connection {
    /// Where the index of the WAL is, with which connections coordinate.
    enum WALIndex {
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
        _ path: String, _ timeout: Duration, index: WALIndex = .onDisk
    ) throws(KeychainError) -> Connection {
        try open(path, as: uri(path, timeout) + index.setting, .reading, BusyWait(timeout), hardening)
    }

    /// For read-only media, where SQLite cannot create the files with which it coordinates readers.
    static func openImmutable(_ path: String) throws(KeychainError) -> Connection {
        try open(path, as: uri(path, .zero) + "immutable=1", .reading, nil, hardening)
    }

    /// - Parameter timeout: As for reading; writers have already waited for the lock file.
    static func openForWriting(_ path: String, _ timeout: Duration) throws(KeychainError) -> Connection {
        // If the database was removed, SQLite must not create an empty one and delete the WAL beside it.
        try open(path, as: uri(path, timeout), .writing, BusyWait(timeout), hardening + durability)
    }

    /// For a file that is used only after the caller has made it complete and durable: SQLite makes no WAL for it.
    static func openForCopying(_ path: String) throws(KeychainError) -> Connection {
        try open(path, as: path, .writing, nil, hardening + withoutWAL)
    }

    /// - Parameter name: The name passed to SQLite; messages show the path.
    private static func open(
        _ path: String, as name: String, _ mode: Mode, _ wait: BusyWait?, _ settings: [Setting]
    ) throws(KeychainError) -> Connection {
        try SpareDescriptors.check(path)
        return try DatabaseFailure.translating(path) {
            let connection = try Connection(name, mode, wait)
            do {
                for setting in settings { try connection.apply(setting) }
            } catch let failure as SQLiteFailure where failure.group == SQLITE_ERROR {
                // The statements are correct, so the file has no format that SQLite knows.
                throw SQLiteFailure(code: SQLITE_CORRUPT)
            }
            return connection
        }
    }

    /// The caller appends SQLite settings, each with its value.
    private static func uri(_ path: String, _ timeout: Duration) -> String {
        "file:" + percentEncoded(path) + "?" + (VaultFiles.name(for: timeout).map { "vfs=\($0)&" } ?? "")
    }

    /// The characters that would end a path in a URI, and the one that escapes them.
    private static func percentEncoded(_ path: String) -> String {
        path.utf8.reduce(into: "") { name, byte in
            let isPlain = byte > 0x20 && byte < 0x7F && !"%?#".utf8.contains(byte)
            name += isPlain ? String(UnicodeScalar(byte)) : "%" + hex(byte >> 4) + hex(byte & 15)
        }
    }

    private static func hex(_ nibble: UInt8) -> String { String(nibble, radix: 16) }

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

    private static let withoutWAL = [
        Setting(name: "journal_mode", value: "OFF", expected: "off"),
        Setting(name: "synchronous", value: "OFF", expected: "0"),
    ]

    private func apply(_ setting: Setting) throws {
        try execute("PRAGMA \(setting.name) = \(setting.value)")
        let found = try text("PRAGMA \(setting.name)")
        // A build of SQLite without memory mapping returns nothing for its size, which is just as good.
        guard let found = found ?? (setting.name == "mmap_size" ? "0" : nil), found == setting.expected else {
            throw KeychainError(
                .unavailable,
                "SQLite did not accept the setting \(setting.name)=\(setting.value), which the vault needs.")
        }
    }
}
