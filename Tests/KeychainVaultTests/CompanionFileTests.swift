// SPDX-License-Identifier: Apache-2.0
// What lies beside the database under a name that SQLite would open.

import Foundation
import KeychainEngine
import Testing

@testable import KeychainVault

struct CompanionFileTests {
    enum Thing: String, CaseIterable, Sendable {
        case pipe, link, folder, socket

        func place(at path: String) throws {
            switch self {
            case .pipe: guard mkfifo(path, 0o600) == 0 else { throw CocoaError(.fileWriteUnknown) }
            case .link: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/zero")
            case .folder: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            case .socket: guard mknod(path, S_IFSOCK | 0o600, 0) == 0 else { throw CocoaError(.fileWriteUnknown) }
            }
        }
    }

    /// A closed vault with one item.
    private static func closed() throws -> TestVault {
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        try test.vault.close()
        return test
    }

    @Test(arguments: ["vault.db-journal", "vault.db-wal", "vault.db-shm"], Thing.allCases)
    func name_thatSQLiteWouldOpen_isNoFile_isRefusedWithoutWaiting(_ name: String, _ thing: Thing) throws {
        let test = try Self.closed()
        try thing.place(at: test.location.folder + "/" + name)
        let engine = test.reopened()
        #expect(reason { _ = try engine.text(.genericPassword("s", "a")) } == .unsafeLocation)
        #expect(reason { try engine.add(.genericPassword("s", "b", value: "v")) } == .unsafeLocation)
        #expect(reason { try engine.delete(.genericPassword("s", "a")) } == .unsafeLocation)
        #expect(reason { _ = try Vault(test.location).status() } == .unsafeLocation)
        #expect(Vault.examine(test.location).contains { $0.check == "vault-files" && $0.severity == .problem })
    }

    /// SQLite would write the log into that file, or remove it.
    @Test(arguments: [0, 64, 8192])
    func otherFileInPlaceOfTheDatabase_whoseLogIsThere_isRefusedAndTheLogKept(_ size: Int) throws {
        let test = try TestVault()
        _ = try test.exercise("add", "alice", "in the log")
        let (aside, log) = (test.root + "/aside", URL(fileURLWithPath: test.databaseFile + "-wal"))
        let before = try Data(contentsOf: log)
        #expect(!before.isEmpty)
        try FileManager.default.moveItem(atPath: test.databaseFile, toPath: aside)
        try test.place(Data(repeating: 0x55, count: size), at: test.databaseFile)
        #expect(reason { _ = try test.reopened().text(.genericPassword("exerciser", "alice")) } == .corrupt)
        #expect(reason { try test.reopened().add(.genericPassword("s", "b", value: "v")) } == .corrupt)
        #expect(reason { _ = try Vault(test.location).status() } == .corrupt)
        #expect(Vault.examine(test.location).contains { $0.check == "database" && $0.severity == .problem })
        #expect(try Data(contentsOf: log) == before)
        #expect(rename(aside, test.databaseFile) == 0)
        #expect(try test.reopened().text(.genericPassword("exerciser", "alice")) == "in the log")
    }

    @Test func rollbackJournal_besideTheVault_isRefusedAndNotRolledBack() throws {
        let test = try Self.closed()
        let journal = test.location.folder + "/vault.db-journal"
        try test.place(Data("a journal".utf8), at: journal)
        let before = try Data(contentsOf: URL(fileURLWithPath: test.databaseFile))
        #expect(reason { _ = try test.reopened().text(.genericPassword("s", "a")) } == .corrupt)
        #expect(reason { try test.reopened().add(.genericPassword("s", "b", value: "v")) } == .corrupt)
        #expect(Vault.examine(test.location).contains { $0.check == "vault-files" && $0.severity == .problem })
        #expect(try Data(contentsOf: URL(fileURLWithPath: test.databaseFile)) == before)
        try FileManager.default.removeItem(atPath: journal)
        #expect(try test.reopened().text(.genericPassword("s", "a")) == "v")
    }

    @Test func rollbackJournal_thatAppearsWhileTheVaultIsOpen_isMetByNoNewConnection() throws {
        let test = try Self.closed()
        let engine = test.reopened()
        #expect(try engine.text(.genericPassword("s", "a")) == "v")
        #expect(mkfifo(test.location.folder + "/vault.db-journal", 0o600) == 0)
        #expect(reason { try engine.add(.genericPassword("s", "b", value: "v")) } == .unsafeLocation)
    }

    @Test(arguments: ["", "-wal", "-shm", "-journal"], Thing.allCases)
    func name_ofADatabaseInTheMaking_isNoFile_stopsOrVanishes(_ suffix: String, _ thing: Thing) throws {
        let test = try TestVault()
        try FileManager.default.createDirectory(
            atPath: test.location.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try thing.place(at: test.databaseFile + ".new" + suffix)
        let result = reason { try test.engine.add(.genericPassword("s", "a", value: "v")) }
        #expect(result == (thing == .folder ? .unavailable : nil))
    }

    @Test func log_withoutItsDatabase_isNotTakenIntoANewVault() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        let log = try Data(contentsOf: URL(fileURLWithPath: test.databaseFile + "-wal"))
        #expect(!log.isEmpty)
        let other = try TestVault()
        try FileManager.default.createDirectory(
            atPath: other.location.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try other.place(log, at: other.databaseFile + "-wal")
        #expect(reason { try other.engine.add(.genericPassword("s", "a", value: "v")) } == .corrupt)
    }
}
