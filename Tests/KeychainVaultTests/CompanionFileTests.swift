// SPDX-License-Identifier: Apache-2.0
// Files beside the database with names that SQLite would open.

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
    func name_thatSQLiteWouldOpenAndIsNoFile_isRefusedWithoutWaiting(_ name: String, _ thing: Thing) throws {
        let test = try Self.closed()
        try thing.place(at: test.location.folder + "/" + name)
        let engine = test.reopened()
        #expect(reason { _ = try engine.text(.genericPassword("s", "a")) } == .unsafeLocation)
        #expect(reason { try engine.add(.genericPassword("s", "b", value: "v")) } == .unsafeLocation)
        #expect(reason { try engine.delete(.genericPassword("s", "a")) } == .unsafeLocation)
        #expect(reason { _ = try Vault(test.location).status() } == .unsafeLocation)
        #expect(Vault.examine(test.location).contains { $0.check == "vault-files" && $0.severity == .problem })
    }

    /// SQLite would write the WAL into that file, or remove it.
    @Test(arguments: [0, 64, 8192])
    func otherFileInPlaceOfTheDatabase_whoseWALIsThere_isRefusedAndTheWALKept(_ size: Int) throws {
        let test = try TestVault()
        _ = try test.exercise("add", "alice", "in the WAL")
        let (aside, wal) = (test.root + "/aside", URL(fileURLWithPath: test.databaseFile + "-wal"))
        let before = try Data(contentsOf: wal)
        #expect(!before.isEmpty)
        try FileManager.default.moveItem(atPath: test.databaseFile, toPath: aside)
        try test.place(Data(repeating: 0x55, count: size), at: test.databaseFile)
        #expect(reason { _ = try test.reopened().text(.genericPassword("exerciser", "alice")) } == .corrupt)
        #expect(reason { try test.reopened().add(.genericPassword("s", "b", value: "v")) } == .corrupt)
        #expect(reason { _ = try Vault(test.location).status() } == .corrupt)
        #expect(Vault.examine(test.location).contains { $0.check == "database" && $0.severity == .problem })
        #expect(try Data(contentsOf: wal) == before)
        #expect(rename(aside, test.databaseFile) == 0)
        #expect(try test.reopened().text(.genericPassword("exerciser", "alice")) == "in the WAL")
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
    func name_ofADatabaseInTheMakingThatIsNoFile_stopsOrVanishes(_ suffix: String, _ thing: Thing) throws {
        let test = try TestVault()
        try FileManager.default.createDirectory(
            atPath: test.location.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try thing.place(at: test.databaseFile + ".new" + suffix)
        let result = reason { try test.engine.add(.genericPassword("s", "a", value: "v")) }
        #expect(result == (thing == .folder ? .unavailable : nil))
    }

    @Test func wal_withoutItsDatabase_isNotTakenIntoANewVault() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        let wal = try Data(contentsOf: URL(fileURLWithPath: test.databaseFile + "-wal"))
        #expect(!wal.isEmpty)
        let other = try TestVault()
        try FileManager.default.createDirectory(
            atPath: other.location.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try other.place(wal, at: other.databaseFile + "-wal")
        #expect(reason { try other.engine.add(.genericPassword("s", "a", value: "v")) } == .corrupt)
    }

    /// SQLite has one index for all connections of a process, and nobody can write with one in memory. A backup or a reader of
    /// another thread makes one on a full disk.
    @Test func indexInTheMemoryOfAnotherConnection_onceThatIsClosed_hindersNoWriter() throws {
        let test = try TestVault()
        _ = try test.exercise("add", "alice", "in the WAL")
        let reader = try Connection.openForReading(test.databaseFile, .seconds(1), index: .inMemory)
        #expect(try KeybagTable(reader).copies().count == 2)
        let engine = test.reopened()
        #expect(reason { try engine.add(.genericPassword("s", "a", value: "v")) } == .readOnly)
        try reader.close()
        try engine.add(.genericPassword("s", "a", value: "v"))
        #expect(try engine.text(.genericPassword("s", "a")) == "v")
    }

    @Test func wal_withoutItsIndex_isExaminedWithoutMakingOne() throws {
        let test = try Self.closed()
        _ = try test.exercise("add", "alice", "in the WAL")
        let index = test.databaseFile + "-shm"
        try FileManager.default.removeItem(atPath: index)
        let findings = Vault.examine(test.location)
        #expect(findings.contains { $0.check == "items" && $0.message.hasPrefix("2 items open.") }, "\(findings)")
        #expect(!FileManager.default.fileExists(atPath: index))
    }

    /// Its index is in its own memory, which others do not change.
    @Test func readerWithoutTheFileOfTheIndex_seesWhatOthersCommit() throws {
        let test = try Self.closed()
        _ = try test.exercise("add", "alice", "before")
        try FileManager.default.removeItem(atPath: test.databaseFile + "-shm")
        let reader = try Connection.openForReading(test.databaseFile, .seconds(1), index: .inMemoryWithoutFile)
        #expect(try ItemTable(reader).count() == 2)
        _ = try test.exercise("add", "bob", "after")
        #expect(try ItemTable(reader).count() == 3)
        try reader.close()
    }

    /// It can neither lock the database alone nor checkpoint, so it leaves both files although nobody else has them open.
    @Test func readerWithoutTheFileOfTheIndex_closedAsTheLast_leavesDatabaseAndWAL() throws {
        let test = try Self.closed()
        _ = try test.exercise("add", "alice", "in the WAL")
        try FileManager.default.removeItem(atPath: test.databaseFile + "-shm")
        let before = try test.files()
        let reader = try Connection.openForReading(test.databaseFile, .seconds(1), index: .inMemoryWithoutFile)
        #expect(try ItemTable(reader).count() == 2)
        try reader.close()
        #expect(try test.files() == before)
    }

    /// Such a file is of no other program: to move it away would not help.
    @Test func database_thatIsEmpty_isToBeRestored() throws {
        let test = try Self.closed()
        try test.place(Data(), at: test.databaseFile)
        let error = #expect(throws: KeychainError.self) { _ = try test.reopened().text(.genericPassword("s", "a")) }
        #expect(error?.reason == .corrupt)
        #expect(error?.message.contains("is empty") == true, "\(error?.message ?? "")")
        #expect(error?.message.contains(KeychainError.restoreAdvice) == true)
    }

    /// To say that there is no vault yet would be to say that nothing was lost.
    @Test func wal_withoutItsDatabaseAndLockFile_isToldToReadersAsWell() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        for path in [test.databaseFile, test.location.lockFile] { try FileManager.default.removeItem(atPath: path) }
        #expect(reason { _ = try test.reopened().text(.genericPassword("s", "a")) } == .corrupt)
        #expect(Vault.examine(test.location).contains { $0.check == "database" && $0.severity == .problem })
    }

    #if DEBUG
        /// The database has its name before the marker is written, and a look goes the other way round.
        @Test func vault_madeBetweenTwoLooks_isNotCalledLost() throws {
            let (test, make) = try Self.vaultAboutToBeMade()
            var text: String?
            try Mishap.at(.databaseMissed, make) { text = try test.engine.text(.genericPassword("s", "a")) }
            #expect(text == "v")
        }

        @Test func vault_madeWhileItIsExamined_isNoProblem() throws {
            let (test, make) = try Self.vaultAboutToBeMade()
            var problems: [Finding] = []
            try Mishap.at(.databaseMissed, make) {
                problems = Vault.examine(test.location).filter { $0.severity == .problem }
            }
            #expect(problems == [])
            #expect(try test.engine.text(.genericPassword("s", "a")) == "v")
        }

        /// Both processes had the lock, since the lock file was removed.
        @Test func vault_thatAppearsBeforeAnotherGetsItsName_isNotReplaced() throws {
            let (test, present) = (try TestVault(), try Self.closed())
            let place: @Sendable () throws -> Void = {
                try FileManager.default.copyItem(atPath: present.databaseFile, toPath: test.databaseFile)
            }
            try Mishap.at(.vaultFilled, place) {
                #expect(reason { try test.engine.add(.genericPassword("s", "b", value: "v")) } == .busy)
            }
            let files = try [test, present].map { try Data(contentsOf: URL(fileURLWithPath: $0.databaseFile)) }
            #expect(files[0] == files[1])
        }

        /// An empty folder, and what another process does at the first look for a database in it.
        private static func vaultAboutToBeMade() throws -> (TestVault, @Sendable () throws -> Void) {
            let test = try TestVault()
            try FileManager.default.createDirectory(
                atPath: test.location.folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700]
            )
            let make: @Sendable () throws -> Void = {
                // The process that creates it checks too.
                guard mkdir(test.root + "/making", 0o700) == 0 else { return }
                try test.reopened().add(.genericPassword("s", "a", value: "v"))
            }
            return (test, make)
        }
    #endif
}
