// SPDX-License-Identifier: Apache-2.0
// Restoring: at every moment there is the old vault or the new one, and what was replaced is kept.

import Foundation
import GRDB
import KeychainEngine
import Testing

@testable import KeychainVault

@Suite(.serialized)
struct RestoreTests {
    /// A vault of five items, its backup, and one item more in the vault.
    private func vaultWithBackup() throws -> (test: TestVault, file: String) {
        let test = try BackupTests.vault()
        let file = test.root + "/backup"
        try test.vault.backup(to: file)
        try test.engine.add(.genericPassword("exerciser", "later", value: "v"))
        return (test, file)
    }

    private func problems(_ test: TestVault) -> [Finding] {
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

    @Test(arguments: ["vault-1", "vault-2", "vault-3"])
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
        #expect(try test.another(settings).status().formatVersion == VaultSchema.version)
        #expect(problems(test) == [])
    }

    @Test func fileOfTheVaultItself_isNoBackup() throws {
        let (test, _) = try vaultWithBackup()
        for path in [test.databaseFile, test.location.unfinishedRestoration, test.location.lockFile] {
            try expectRefusal(.unsafeLocation, test, path)
        }
    }

    @Test func folderThatIsOpenToOthers_isRefused() throws {
        let (test, file) = try vaultWithBackup()
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: test.location.folder)
        #expect(reason { try test.another().restore(from: file) } == .unsafeLocation)
    }

    @Test func vaultThatIsNotThere_isMadeFromTheBackup() throws {
        let (test, file) = try vaultWithBackup()
        try test.vault.close()
        try FileManager.default.removeItem(atPath: test.location.folder)
        #expect(try test.another().restore(from: file).replaced == nil)
        #expect(try test.state().count == BackupTests.items)
        try test.reopened().add(.genericPassword("exerciser", "afterwards", value: "v"))
        #expect(problems(test) == [])
    }

    @Test func databaseThatWasLost_isRestoredWithoutTheLogOfTheOldOne() throws {
        let (test, file) = try vaultWithBackup()
        let log = try Data(contentsOf: URL(fileURLWithPath: test.databaseFile + "-wal"))
        #expect(!log.isEmpty)
        try test.vault.close()
        try FileManager.default.removeItem(atPath: test.databaseFile)
        try test.place(log, at: test.databaseFile + "-wal")
        try test.another().restore(from: file)
        #expect(try test.state().count == BackupTests.items)
        #expect(problems(test) == [])
    }

    @Test(arguments: ["nonsense", "SQLite format 3\0 and no more"])
    func databaseThatIsNone_isRestoredAndKeptByteByByte(_ text: String) throws {
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

    // MARK: - What somebody does meanwhile

    @Test func backupReplacedSinceItWasShown_isNotRestored() throws {
        let (test, file) = try vaultWithBackup()
        let shown = try test.vault.examineBackup(file)
        try test.vault.backup(to: file, replacing: true)
        #expect(reason { try test.vault.restore(from: file, asShown: shown) } == .busy)
        #expect(try test.state().count == BackupTests.items + 1)
        try test.vault.restore(from: file, asShown: test.vault.examineBackup(file))
    }

    #if DEBUG
        /// A writer takes a new lock file, and its item would be neither in the restored vault nor in the one that is kept.
        @Test(arguments: [PausePoint.vaultKept, .beforeOverwrite])
        func lockFileRemovedDuringARestoration_endsItBeforeAnythingIsReplaced(_ point: PausePoint) throws {
            let (test, file) = try vaultWithBackup()
            let write: @Sendable () throws -> Void = {
                unlink(test.location.lockFile)
                try test.another().engine.add(.genericPassword("exerciser", "meanwhile", value: "v"))
            }
            try Mishap.at(point, write) {
                #expect(reason { try test.vault.restore(from: file) } == .busy)
            }
            #expect(try test.reopened().text(.genericPassword("exerciser", "meanwhile")) == "v")
            #expect(problems(test) == [])
        }

        /// It has the lock file of before, which somebody removed, and was in its transaction when the vault was kept.
        @Test func writerThatEndsAfterTheVaultWasKept_losesNothing() throws {
            let (test, file) = try vaultWithBackup()
            nonisolated(unsafe) let writer = try RunningChild(test, "add-and-wait", "bob")
            #expect(writer.line() == "inside")
            unlink(test.location.lockFile)
            let write: @Sendable () throws -> Void = { #expect(writer.finish() == "done") }
            try Mishap.at(.vaultKept, write) {
                #expect(reason { try test.vault.restore(from: file) } == .busy)
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: test.location.folder)
            #expect(!names.contains { $0.contains("replaced") })
            #expect(try test.reopened().text(.genericPassword("exerciser", "bob")) == "value")
        }

        @Test func lockFileRemovedBesideADamagedDatabase_leavesNoCopyOfIt() throws {
            let (test, file) = try vaultWithBackup()
            try test.vault.close()
            try Data("junk".utf8).write(to: URL(fileURLWithPath: test.databaseFile))
            try Mishap.at(.vaultKept, { unlink(test.location.lockFile) }) {
                #expect(reason { try test.another().restore(from: file) } == .busy)
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: test.location.folder)
            #expect(!names.contains { $0.contains("replaced") })
        }

        @Test func copyReplacedDuringARestoration_isNotRestored() throws {
            let (test, file) = try vaultWithBackup()
            let replace: @Sendable () throws -> Void = {
                let copy = test.location.unfinishedRestoration
                unlink(copy)
                try FileManager.default.copyItem(atPath: file, toPath: copy)
            }
            try Mishap.at(.vaultKept, replace) {
                #expect(reason { try test.vault.restore(from: file) } == .busy)
            }
            #expect(try test.state().count == BackupTests.items + 1)
        }

        /// Whoever removed it because of that would spoil the restoration.
        @Test func copyOfALiveRestoration_isNoLeftoverToTheExamination() throws {
            let (test, file) = try vaultWithBackup()
            let look: @Sendable () throws -> Void = {
                #expect(!Vault.examine(test.location).contains { $0.check == "leftovers" })
            }
            try Mishap.at(.vaultKept, look) { try test.vault.restore(from: file) }
        }
    #endif

    // MARK: - Refusals

    private func expectRefusal(_ wanted: KeychainError.Reason, _ test: TestVault, _ file: String) throws {
        let before = try test.state()
        let names = try FileManager.default.contentsOfDirectory(atPath: test.location.folder).sorted()
        #expect(reason { try test.vault.restore(from: file) } == wanted)
        #expect(try test.state() == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: test.location.folder).sorted() == names)
    }

    @Test func backupThatIsSpoiled_isRefusedAndNothingChanges() throws {
        let (test, file) = try vaultWithBackup()
        let good = try Data(contentsOf: URL(fileURLWithPath: file))
        for length in [0, 100, 4096, good.count - 1] {
            try test.place(good.prefix(length), at: file)
            try expectRefusal(.corrupt, test, file)
        }
        try test.place(Data("no database".utf8), at: file)
        try expectRefusal(.corrupt, test, file)
    }

    @Test(arguments: [
        ("CREATE TRIGGER t AFTER INSERT ON item BEGIN DELETE FROM item; END", KeychainError.Reason.corrupt),
        ("CREATE VIEW v AS SELECT 1", .corrupt), ("PRAGMA user_version = 99", .newerFormat),
        ("PRAGMA application_id = 1", .corrupt),
        ("UPDATE keybag SET bytes = x'00'; UPDATE keybag_copy SET bytes = x'00'", .corrupt),
        ("UPDATE item SET value = zeroblob(152) WHERE id = 1", .corrupt),
    ])
    func backupThatIsHostile_isRefusedAndNothingChanges(_ change: String, _ wanted: KeychainError.Reason) throws {
        let (test, file) = try vaultWithBackup()
        try DatabaseQueueForTests(file).run(change)
        try expectRefusal(wanted, test, file)
    }

    @Test func backupThatIsOpenToOthersOrNoFile_isRefused() throws {
        let (test, file) = try vaultWithBackup()
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        try expectRefusal(.unsafeLocation, test, file)
        try FileManager.default.removeItem(atPath: file)
        #expect(mkfifo(file, 0o600) == 0)
        try expectRefusal(.unsafeLocation, test, file)
        try FileManager.default.removeItem(atPath: file)
        try expectRefusal(.unavailable, test, file)
    }

    @Test func copyOfALiveDatabaseWithItsLog_isRefused() throws {
        let (test, file) = try vaultWithBackup()
        try test.place(Data("log".utf8), at: file + "-wal")
        try expectRefusal(.unavailable, test, file)
    }

    @Test func backupThatNothingHereOpens_isRestoredOnlyByForce() throws {
        let (other, file) = try vaultWithBackup()
        let test = try BackupTests.vault()
        try expectRefusal(.authenticationFailed, test, file)
        try test.vault.restore(from: file, force: true)
        #expect(reason { _ = try test.state() } == .authenticationFailed)
        try test.place(
            try Data(contentsOf: URL(fileURLWithPath: other.location.deviceKeyFile)), at: test.location.deviceKeyFile)
        #expect(try test.state().count == BackupTests.items)
    }

    @Test func backupThatAPassphraseOpens_isRestoredLocked() throws {
        let test = try TestVault.locked()
        defer { do { try test.forget() } catch { Issue.record(error) } }
        try test.another().backup(to: test.root + "/backup")
        try FileManager.default.removeItem(atPath: test.location.folder)
        #expect(try test.another().restore(from: test.root + "/backup").backup.opening == .unlockable)
        let vault = test.another()
        try vault.unlock(.old, keepingKeysIn: .process)
        defer { do { try vault.lock(forgettingFirstUnlock: true) } catch { Issue.record(error) } }
        #expect(try vault.engine.text(.find(.whenUnlocked)) == "value")
    }

    // MARK: - Others at work

    @Test func vaultOpenElsewhere_isReadAsItIsAfterTheRestoration() throws {
        let (test, file) = try vaultWithBackup()
        let reader = test.another()
        #expect(try reader.engine.text(.genericPassword("exerciser", "later")) == "v")
        #expect(try test.exercise("restore", file).output == "done\n")
        #expect(reason { _ = try reader.engine.text(.genericPassword("exerciser", "later")) } == .itemNotFound)
        try reader.engine.add(.genericPassword("exerciser", "newer", value: "w"))
        #expect(try test.state()["newer"] == "w")
    }

    @Test func readerThatStandsStill_doesNotKeepTheVaultFromBeingRestored() throws {
        let (test, file) = try vaultWithBackup()
        let reader = try DatabaseQueue(path: test.databaseFile)
        try reader.inDatabase { db in
            try db.execute(sql: "BEGIN")
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM item") == BackupTests.items + 1)
            try test.vault.restore(from: file)
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM item") == BackupTests.items + 1)
            try db.execute(sql: "COMMIT")
        }
        #expect(try test.state().count == BackupTests.items)
    }

    @Test func restoration_isSeenByObservers() throws {
        let (test, file) = try vaultWithBackup()
        let child = try RunningChild(test, "observe")
        #expect(child.line()?.hasPrefix("ready") == true)
        try test.vault.restore(from: file)
        #expect(child.line() == "changed")
        _ = child.finish()
    }

    @Test func eightWriters_loseNothingToARestoration() throws {
        let (test, file) = try vaultWithBackup()
        let writers = try (0..<8).map { try RunningChild(test, "add-until-told", "writer\($0)") }
        var acknowledged = writers.map { _ in [String]() }
        for index in writers.indices {
            for _ in 0..<3 { acknowledged[index] += [writers[index].line()].compactMap { $0 } }
        }
        let done = try test.vault.restore(from: file)
        let end = DispatchTime.now().uptimeNanoseconds
        for index in writers.indices {
            while let line = writers[index].line() {
                acknowledged[index].append(line)
                if line.split(separator: " ").last.flatMap({ UInt64($0) }) ?? .max > end { break }
            }
            acknowledged[index] += writers[index].rest()
        }
        let new = try test.state()
        let old = try BackupTests.state(of: try #require(done.replaced), test)
        var later = 0
        for line in acknowledged.joined() {
            let words = line.split(separator: " ").map(String.init)
            let began = try #require(words.count == 2 ? UInt64(words[1]) : nil, "\(line)")
            #expect(new[words[0]] != nil || old[words[0]] != nil, "\(line) is lost")
            if began > end {
                later += 1
                #expect(new[words[0]] != nil, "\(line) came after the restoration and is lost")
            }
        }
        #expect(later >= 8)
        #expect(old.count > BackupTests.items + 1)
        #expect(problems(test) == [])
    }

    @Test func restorationsAtOnce_areOneAfterTheOtherOrBusy() throws {
        let (test, file) = try vaultWithBackup()
        try test.vault.close()
        let children = try (0..<4).map { _ in
            try ChildProcess(ChildProcess.built("vault-exerciser"), test.exerciserArguments(["restore", file])).start()
        }
        let outputs = try children.map { try $0.finish().output }
        #expect(outputs.contains("done\n"))
        #expect(outputs.allSatisfy { $0 == "done\n" || $0.hasPrefix("failed busy") }, "\(outputs)")
        #expect(try test.state().count == BackupTests.items)
    }

    // MARK: - Kills

    /// `KEYCHAIN_FAULTS=all` tries each occurrence of each call, otherwise some.
    @Test(.enabled(if: ChildProcess.installed("strace") != nil, "strace is not installed"))
    func restoration_killedOrFailingAtAnyWriteCall_leavesTheOldVaultOrTheNew() throws {
        let strace = try #require(ChildProcess.installed("strace"))
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
                guard try survives(fault + ":when=\(occurrence)", template, strace) else { break }
                points += 1
            }
        }
        print("restore: \(points) points")
        #expect(points >= 20)
    }

    /// - Returns: `false` if the restoration ended before the fault.
    private func survives(_ fault: String, _ template: TestVault, _ strace: String) throws -> Bool {
        let test = try TestVault()
        try #require(try ChildProcess.run("/bin/cp", ["-a", template.root + "/.", test.root]).status == 0)
        let child = try test.exercise(["restore", test.root + "/backup"], injecting: fault, strace: strace)
        let isDone = child.lines.first == "done"
        let counts = isDone ? [BackupTests.items] : [BackupTests.items, BackupTests.items + 1]
        #expect(counts.contains(try test.state().count), "\(fault): \(child.output)")
        #expect(problems(test) == [], "\(fault)")
        try test.another().restore(from: test.root + "/backup")
        #expect(try test.state().count == BackupTests.items, "\(fault), again")
        return child.wasSignalled || !isDone
    }
}

extension RunningChild {
    /// Ends the input and returns the lines that are left.
    func rest() -> [String] {
        endInput()
        var lines: [String] = []
        while let line = line() { lines.append(line) }
        _ = finish()
        return lines
    }
}
