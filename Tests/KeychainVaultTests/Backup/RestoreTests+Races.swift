// SPDX-License-Identifier: Apache-2.0
// Restoring while another process changes the backup, the lock file or the vault.

import Foundation
import KeychainEngine
import KeychainTestSupport
import Testing

@testable import KeychainVault

extension RestoreTests {
    @Test func backup_replacedSinceItWasShown_isNotRestored() throws {
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
        func lockFile_removedDuringARestoration_endsItBeforeAnythingIsReplaced(_ point: PausePoint) throws {
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

        /// A process that takes a new lock file may be about to write.
        @Test func lockFile_removedDuringARestorationWithoutAWrite_endsItToo() throws {
            let (test, file) = try vaultWithBackup()
            try Mishap.at(.vaultKept, { unlink(test.location.lockFile) }) {
                #expect(reason { try test.vault.restore(from: file) } == .busy)
            }
            #expect(try test.state().count == BackupTests.items + 1)
        }

        /// It has the previous lock file, which was removed, and was in its transaction when the vault was kept.
        @Test func writer_thatEndsAfterTheVaultWasKept_losesNothing() throws {
            let (test, file) = try vaultWithBackup()
            nonisolated(unsafe) let writer = try test.running("add-and-wait", "bob")
            #expect(writer.line() == "inside")
            unlink(test.location.lockFile)
            let write: @Sendable () throws -> Void = {
                let lines = try writer.finish().lines
                #expect(lines == ["done"])
            }
            try Mishap.at(.vaultKept, write) {
                #expect(reason { try test.vault.restore(from: file) } == .busy)
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: test.location.folder)
            #expect(!names.contains { $0.contains("replaced") })
            #expect(try test.reopened().text(.genericPassword("exerciser", "bob")) == "value")
        }

        @Test func lockFile_removedBesideADamagedDatabase_leavesNoCopyOfIt() throws {
            let (test, file) = try vaultWithBackup()
            try test.vault.close()
            try Data("junk".utf8).write(to: URL(fileURLWithPath: test.databaseFile))
            try Mishap.at(.vaultKept, { unlink(test.location.lockFile) }) {
                #expect(reason { try test.another().restore(from: file) } == .busy)
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: test.location.folder)
            #expect(!names.contains { $0.contains("replaced") })
        }

        /// Another program's, that takes no lock: a copy of a vault that is put there by hand.
        @Test func database_thatComesWhileOneIsRestoredWhereNoneWas_isNotReplaced() throws {
            let (test, file) = try vaultWithBackup()
            let elsewhere = test.root + "/elsewhere"
            try test.vault.close()
            try FileManager.default.moveItem(atPath: test.databaseFile, toPath: elsewhere)
            let put: @Sendable () throws -> Void = {
                try FileManager.default.moveItem(atPath: elsewhere, toPath: test.databaseFile)
            }
            try Mishap.at(.beforeOverwrite, put) {
                #expect(reason { try test.another().restore(from: file) } == .busy)
            }
            #expect(try test.state().count == BackupTests.items + 1)
        }

        @Test func copy_replacedDuringARestoration_isNotRestored() throws {
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

        /// A user who removed it because of that report would break the restoration.
        @Test func copy_ofALiveRestoration_isNoResidueToTheExamination() throws {
            let (test, file) = try vaultWithBackup()
            let look: @Sendable () throws -> Void = {
                #expect(!Vault.examine(test.location).contains { $0.check == "residue" })
            }
            try Mishap.at(.vaultKept, look) { try test.vault.restore(from: file) }
        }
    #endif

    // MARK: - Others at work

    @Test func vault_openElsewhere_isReadAsItIsAfterTheRestoration() throws {
        let (test, file) = try vaultWithBackup()
        let reader = test.another()
        #expect(try reader.engine.text(.genericPassword("exerciser", "later")) == "v")
        #expect(try test.exercise("restore", file).output == "done\n")
        #expect(reason { _ = try reader.engine.text(.genericPassword("exerciser", "later")) } == .itemNotFound)
        try reader.engine.add(.genericPassword("exerciser", "newer", value: "w"))
        #expect(try test.state()["newer"] == "w")
    }

    @Test func reader_thatStandsStill_doesNotKeepTheVaultFromBeingRestored() throws {
        let (test, file) = try vaultWithBackup()
        let reader = try Connection(test.databaseFile)
        try reader.reading { reader in
            #expect(try ItemTable(reader).count() == BackupTests.items + 1)
            try test.vault.restore(from: file)
            #expect(try ItemTable(reader).count() == BackupTests.items + 1)
        }
        #expect(try test.state().count == BackupTests.items)
    }

    @Test func eightWriters_loseNothingToARestoration() throws {
        let (test, file) = try vaultWithBackup()
        let writers = try (0..<8).map { try test.running("add-until-told", "writer\($0)") }
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
            acknowledged[index] += try writers[index].finish().lines
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
            try ChildProcess(Exerciser.path, test.exerciserArguments(["restore", file])).start()
        }
        let outputs = try children.map { try $0.finish().output }
        #expect(outputs.contains("done\n"))
        #expect(outputs.allSatisfy { $0 == "done\n" || $0.hasPrefix("failed busy") }, "\(outputs)")
        #expect(try test.state().count == BackupTests.items)
    }
}
