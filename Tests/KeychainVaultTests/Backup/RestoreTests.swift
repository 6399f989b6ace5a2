// SPDX-License-Identifier: Apache-2.0
// Restoring: at every moment there is the old vault or the new one, and what was replaced is kept.

import Foundation
import KeychainEngine
import KeychainTestSupport
import Testing

@testable import KeychainVault

@Suite(.serialized)
struct RestoreTests {
    /// A vault of five items, its backup, and one item more in the vault.
    func vaultWithBackup() throws -> (test: TestVault, file: String) {
        let test = try BackupTests.vault()
        let file = test.root + "/backup"
        try test.vault.backup(to: file)
        try test.engine.add(.genericPassword("exerciser", "later", value: "v"))
        return (test, file)
    }

    func problems(_ test: TestVault) -> [Finding] {
        Vault.examine(test.location).filter { $0.severity == .problem }
    }

    @Test func vault_restored_isAsTheBackupAndTheOldOneIsKept() throws {
        let (test, file) = try vaultWithBackup()
        let done = try test.vault.restore(from: file)
        #expect(try test.state().count == BackupTests.items)
        #expect(try test.engine.text(.genericPassword("exerciser", "0")) == "value 0")
        let replaced = try #require(done.replaced)
        #expect(try BackupTests.state(of: replaced, test).count == BackupTests.items + 1)
        #expect(problems(test) == [])
        #expect(try test.vault.restore(from: replaced).replaced != replaced)
        #expect(try test.state().count == BackupTests.items + 1)
    }

    @Test(arguments: ["vault-1", "vault-2", "vault-3", "vault-4", "vault-5"])
    func backupOfAnyFormat_restored_isReadAndWritten(_ name: String) throws {
        let test = try TestVault()
        for (file, place) in [("vault.db", test.root + "/backup"), ("device.key", test.location.deviceKeyFile)] {
            let path = "\(FormatReader.testsFolder)/Fixtures/\(name)/\(file)"
            try test.place(Data(contentsOf: URL(fileURLWithPath: path)), at: place)
        }
        var settings = VaultSettings.cheap
        settings.unlockCache = .process
        let done = try test.another(settings).restore(from: test.root + "/backup")
        #expect(done.isAccepted && done.backup.itemCount > 0)
        try test.another(settings).engine.add(.genericPassword("exerciser", "afterwards", value: "v"))
        let version = name == "vault-5" ? VaultSchema.versionInRing : VaultSchema.version
        #expect(try test.another(settings).status().formatVersion == version)
        #expect(problems(test) == [])
    }

    @Test func fileOfTheVaultItself_isNoBackup() throws {
        let (test, _) = try vaultWithBackup()
        for path in [test.databaseFile, test.location.unfinishedRestoration, test.location.lockFile] {
            try expectRefusal(.unsafeLocation, test, path)
        }
    }

    @Test func folder_thatIsOpenToOthers_isRefused() throws {
        let (test, file) = try vaultWithBackup()
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: test.location.folder)
        #expect(reason { try test.another().restore(from: file) } == .unsafeLocation)
    }

    @Test func vault_thatIsNotThere_isMadeFromTheBackup() throws {
        let (test, file) = try vaultWithBackup()
        try test.vault.close()
        try FileManager.default.removeItem(atPath: test.location.folder)
        #expect(try test.another().restore(from: file).replaced == nil)
        #expect(try test.state().count == BackupTests.items)
        try test.reopened().add(.genericPassword("exerciser", "afterwards", value: "v"))
        #expect(problems(test) == [])
    }

    @Test func database_thatWasLost_isRestoredWithoutTheWALOfTheOldOne() throws {
        let (test, file) = try vaultWithBackup()
        let wal = try Data(contentsOf: URL(fileURLWithPath: test.databaseFile + "-wal"))
        #expect(!wal.isEmpty)
        try test.vault.close()
        try FileManager.default.removeItem(atPath: test.databaseFile)
        try test.place(wal, at: test.databaseFile + "-wal")
        try test.another().restore(from: file)
        #expect(try test.state().count == BackupTests.items)
        #expect(problems(test) == [])
    }

    /// It may hold changes that are nowhere else.
    @Test func wal_ofADatabaseThatIsGone_isKept() throws {
        let (test, file) = try vaultWithBackup()
        let wal = try Data(contentsOf: URL(fileURLWithPath: test.databaseFile + "-wal"))
        try test.vault.close()
        try FileManager.default.removeItem(atPath: test.databaseFile)
        try test.place(wal, at: test.databaseFile + "-wal")
        let done = try test.another().restore(from: file)
        #expect(done.replaced == nil)
        let kept = try #require(done.replacedWAL)
        #expect(kept.hasPrefix(test.location.replacedPrefix))
        #expect(try Data(contentsOf: URL(fileURLWithPath: kept)) == wal)
        #expect(try test.state().count == BackupTests.items)
    }

    /// Several restorations in one second.
    @Test func logs_ofDatabasesThatAreGone_areAllKept() throws {
        let (test, file) = try vaultWithBackup()
        try test.vault.close()
        var kept: [String: Data] = [:]
        for number in 1...4 {
            try FileManager.default.removeItem(atPath: test.databaseFile)
            let wal = Data("WAL \(number)".utf8)
            try test.place(wal, at: test.databaseFile + "-wal")
            let vault = test.another()
            let name = try #require(try vault.restore(from: file).replacedWAL)
            #expect(kept.updateValue(wal, forKey: name) == nil)
            try vault.close()
        }
        for (name, wal) in kept { #expect(try Data(contentsOf: URL(fileURLWithPath: name)) == wal) }
    }

    /// Else a WAL would seem to belong to it.
    @Test func vault_replacedInTheSameSecondAsAWALWasKept_isKeptUnderAnotherName() throws {
        let test = try TestVault()
        try test.vault.create()
        let first = ReplacedVault(location: test.location, timeout: .seconds(30))
        try test.place(Data("WAL".utf8), at: first.wal)
        #expect(ReplacedVault(location: test.location, timeout: .seconds(30)).path != first.path)
    }

    @Test(arguments: ["nonsense", "SQLite format 3\0 and no more"])
    func database_thatIsNone_isRestoredAndKeptByteByByte(_ text: String) throws {
        let (test, file) = try vaultWithBackup()
        try test.vault.close()
        let bytes = Data(text.utf8) + Data(count: 5000)
        try bytes.write(to: URL(fileURLWithPath: test.databaseFile))
        let done = try test.another().restore(from: file)
        #expect(try Data(contentsOf: URL(fileURLWithPath: try #require(done.replaced))) == bytes)
        #expect(try test.state().count == BackupTests.items)
        #expect(problems(test) == [])
    }

    @Test func databaseWithDamagedPages_isRestored() throws {
        let (test, file) = try vaultWithBackup()
        try test.vault.close()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: test.databaseFile))
        for index in 4096..<bytes.count { bytes[index] ^= 0x55 }
        try bytes.write(to: URL(fileURLWithPath: test.databaseFile))
        let done = try test.another().restore(from: file)
        #expect(
            try Data(contentsOf: URL(fileURLWithPath: try #require(done.replaced))).dropFirst(4096)
                == bytes.dropFirst(4096))
        #expect(try test.state().count == BackupTests.items)
        #expect(problems(test) == [])
    }

    // MARK: - Kills

    /// `KEYCHAIN_FAULTS=all` tries each occurrence of each call, otherwise some.
    @Test(.enabled(if: Programs.strace != nil, "strace cannot trace here"))
    func restoration_killedOrFailingAtAnyWriteCall_leavesTheOldVaultOrTheNew() async throws {
        let strace = try #require(Programs.strace)
        let stride = ProcessInfo.processInfo.environment["KEYCHAIN_FAULTS"] == "all" ? 1 : 4
        let (template, _) = try vaultWithBackup()
        try template.vault.close()
        var points = 0
        for fault in [
            "pwrite64:signal=KILL", "write:signal=KILL", "fsync:signal=KILL", "fdatasync:signal=KILL",
            "rename:signal=KILL",
            "unlink:signal=KILL", "ftruncate:signal=KILL", "pwrite64:error=ENOSPC", "write:error=EIO",
        ] {
            for occurrence in Swift.stride(from: 1, to: 400, by: stride) {
                guard try await survives(fault + ":when=\(occurrence)", template, strace) else { break }
                points += 1
            }
        }
        print("restore: \(points) points")
        #expect(points >= 20)
    }

    /// - Returns: `false` if the restoration ended before the fault.
    private func survives(_ fault: String, _ template: TestVault, _ strace: String) async throws -> Bool {
        let test = try TestVault()
        try #require(try ChildProcess.run("/bin/cp", ["-a", template.root + "/.", test.root]).status == 0)
        let child = try await onOwnThread {
            try test.exercise(["restore", test.root + "/backup"], injecting: fault, strace: strace)
        }
        let isDone = child.lines.first == "done"
        let counts = isDone ? [BackupTests.items] : [BackupTests.items, BackupTests.items + 1]
        #expect(counts.contains(try test.state().count), "\(fault): \(child.output)")
        #expect(problems(test) == [], "\(fault)")
        try test.another().restore(from: test.root + "/backup")
        #expect(try test.state().count == BackupTests.items, "\(fault), again")
        return child.wasSignalled || !isDone
    }
}
