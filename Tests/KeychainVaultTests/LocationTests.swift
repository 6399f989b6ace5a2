// SPDX-License-Identifier: Apache-2.0
// Paths that are not what they should be: refused with the path in the message, and nothing touched.

import Foundation
import KeychainEngine
import KeychainTestSupport
import Testing

@testable import KeychainVault

struct LocationTests {
    /// A way to spoil a file or folder of a vault.
    struct Spoiling: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Relative to the vault's folder; empty for the folder itself.
        let name: String
        let apply: @Sendable (String) throws -> Void
        var reason = KeychainError.Reason.unsafeLocation

        init(
            _ description: String, _ name: String, reason: KeychainError.Reason = .unsafeLocation,
            _ apply: @escaping @Sendable (String) throws -> Void
        ) {
            testDescription = description
            self.name = name
            self.reason = reason
            self.apply = apply
        }
    }

    static let spoilings: [Spoiling] =
        ["vault.db", "vault.db-wal", "vault.db-shm", "vault.lock"].flatMap { name in
            [
                Spoiling("\(name) is a symbolic link", name) { try moveAndLink($0) },
                Spoiling("\(name) has a second name", name) { guard link($0, $0 + ".2") == 0 else { throw POSIX() } },
                Spoiling("\(name) is a pipe", name) { path in
                    try FileManager.default.removeItem(atPath: path)
                    guard mkfifo(path, 0o600) == 0 else { throw POSIX() }
                },
                Spoiling("\(name) is a folder", name) { path in
                    try FileManager.default.removeItem(atPath: path)
                    guard mkdir(path, 0o700) == 0 else { throw POSIX() }
                },
                Spoiling("\(name) is readable by the group", name) {
                    guard chmod($0, 0o640) == 0 else { throw POSIX() }
                },
                Spoiling("\(name) is writable by all", name) { guard chmod($0, 0o606) == 0 else { throw POSIX() } },
            ]
        } + [
            Spoiling("the folder is a symbolic link", "") { try moveAndLink($0) },
            Spoiling("the folder is open to others", "") { guard chmod($0, 0o755) == 0 else { throw POSIX() } },
            Spoiling("the database is another program's", "vault.db", reason: .corrupt) { path in
                try FileManager.default.removeItem(atPath: path)
                try sqlite(path, "CREATE TABLE notes (text TEXT)")
            },
            Spoiling("the database is garbage", "vault.db", reason: .corrupt) { path in
                try Data(repeating: 0xA5, count: 8192).write(to: URL(fileURLWithPath: path))
                guard chmod(path, 0o600) == 0 else { throw POSIX() }
            },
            Spoiling("the database is empty", "vault.db", reason: .corrupt) {
                guard truncate($0, 0) == 0 else { throw POSIX() }
            },
            Spoiling("the database is cut in half", "vault.db", reason: .corrupt) {
                guard truncate($0, 12288) == 0 else { throw POSIX() }
            },
            Spoiling("the database is missing", "vault.db", reason: .corrupt) {
                try FileManager.default.removeItem(atPath: $0)
            },
            Spoiling("the database has a newer format", "vault.db", reason: .newerFormat) {
                try sqlite($0, "PRAGMA user_version = 6")
            },
            Spoiling("the database has a trigger", "vault.db", reason: .corrupt) {
                try sqlite($0, "CREATE TRIGGER t AFTER INSERT ON item BEGIN DELETE FROM item; END")
            },
        ]

    @Test(arguments: spoilings)
    func vault_spoiled_isRefusedForReadingAndWritingAndLeftUntouched(_ spoiling: Spoiling) throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        try test.closeKeepingWALFiles()
        let path = test.location.folder + (spoiling.name.isEmpty ? "" : "/" + spoiling.name)
        try spoiling.apply(path)
        let before = try Self.databaseBytes(test)
        let reading = failure { _ = try test.reopened().value(.genericPassword("s", "a")) }
        let writing = failure { try test.reopened().add(.genericPassword("s", "b", value: "v")) }
        #expect(reading?.reason == spoiling.reason, "reading: \(String(describing: reading))")
        #expect(writing?.reason == spoiling.reason, "writing: \(String(describing: writing))")
        #expect(reading?.message.contains(test.location.folder) == true)
        #expect(try Self.databaseBytes(test) == before)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"), arguments: ["", "/vault.db", "/vault.lock"])
    func vault_ofAnotherOwner_isRefused(_ name: String) throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        #expect(chown(test.location.folder + name, 1, 1) == 0)
        let reading = failure { _ = try test.reopened().value(.genericPassword("s", "a")) }
        #expect(reading?.reason == .unsafeLocation)
        #expect(reading?.message.contains(test.location.folder + name) == true)
    }

    @Test func vault_inAFolderThatAllMayChange_isRefused() throws {
        let test = try TestVault()
        let location = try VaultLocation(
            folder: test.root + "/shared/vault", deviceKeyFile: test.location.deviceKeyFile)
        #expect(mkdir(test.root + "/shared", 0o700) == 0 && chmod(test.root + "/shared", 0o777) == 0)
        let engine = Engine(store: Vault(location))
        #expect(reason { try engine.add(.genericPassword("s", "a", value: "v")) } == .unsafeLocation)
    }

    @Test func vault_made_isClosedToOthersWhateverTheUmask() throws {
        let previous = umask(0)
        defer { umask(previous) }
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        for path in try test.files().keys {
            #expect(try Self.mode(path) == 0o600, "\(path)")
        }
        #expect(try Self.mode(test.location.folder) == 0o700)
        #expect(try Self.mode(test.root + "/config") == 0o700)
    }

    @Test(arguments: [0o777, 0o277, 0o400] as [mode_t])
    func vault_madeUnderAStrictUmask_isUsable(_ mask: mode_t) throws {
        let test = try TestVault()
        let script = "umask \(String(mask, radix: 8)); exec \"$@\""
        let child = try ChildProcess.run(
            "/bin/sh",
            ["-c", script, "sh", Exerciser.path] + test.exerciserArguments(["add", "a", "v"]))
        #expect(child.output == "done\n")
        for path in try test.files().keys { #expect(try Self.mode(path) == 0o600, "\(path)") }
        for folder in [test.location.folder, test.root + "/config"] { #expect(try Self.mode(folder) == 0o700) }
    }

    @Test func database_replacedInPlaceByAnothers_isNotWrittenUnderTheOldKeys() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        let other = try VaultLocation(folder: test.root + "/other", deviceKeyFile: test.location.deviceKeyFile)
        let vault = Vault(other)
        try Engine(store: vault).add(.genericPassword("s", "b", value: "w"))
        try vault.close()
        try test.vault.close()
        _ = try test.engine.text(.genericPassword("s", "a"))
        let bytes = try Data(contentsOf: URL(fileURLWithPath: other.databaseFile))
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: test.databaseFile))
        try handle.write(contentsOf: bytes)
        try handle.truncate(atOffset: UInt64(bytes.count))
        try handle.close()
        try test.engine.add(.genericPassword("s", "c", value: "x"))
        #expect(try test.reopened().text(.genericPassword("s", "c")) == "x")
        #expect(try Vault(test.location).status().damagedCount == 0)
    }

    @Test func vaultFolder_removedUnderAnOpenVault_isNotWrittenIntoTheVoid() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        try FileManager.default.removeItem(atPath: test.location.folder)
        try test.engine.add(.genericPassword("s", "b", value: "w"))
        #expect(try test.reopened().text(.genericPassword("s", "b")) == "w")
    }

    @Test func update_withoutVault_makesNone() throws {
        let test = try TestVault()
        #expect(reason { try test.engine.update(.genericPassword("s", "a"), value: "v") } == .itemNotFound)
        #expect(reason { try test.engine.delete(.genericPassword("s", "a")) } == .itemNotFound)
        #expect(try test.files().isEmpty)
    }

    // MARK: - Helpers

    static func moveAndLink(_ path: String) throws {
        try FileManager.default.moveItem(atPath: path, toPath: path + ".moved")
        guard symlink(path + ".moved", path) == 0 else { throw POSIX() }
    }

    private static func mode(_ path: String) throws -> UInt32 {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw POSIX() }
        return status.st_mode & 0o777
    }

    /// `nil` where the database is no regular file any more.
    private static func databaseBytes(_ test: TestVault) throws -> Data? {
        guard try FileSafety.status(test.databaseFile).map({ $0.st_mode & S_IFMT == S_IFREG }) == true else {
            return nil
        }
        return try Data(contentsOf: URL(fileURLWithPath: test.databaseFile))
    }
}

struct POSIX: Error {
    let code = errno
}

/// Runs a statement on a database file that becomes or stays private.
func sqlite(_ path: String, _ statement: String) throws {
    let database = try PlainDatabase(path)
    try database.run(statement)
    guard chmod(path, 0o600) == 0 else { throw POSIX() }
}
