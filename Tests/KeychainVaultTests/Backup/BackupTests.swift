// SPDX-License-Identifier: Apache-2.0
// Backups: whole, of one moment, and never half a file under the name that was asked for.

import Foundation
import KeychainEngine
import KeychainTestSupport
import Testing

@testable import KeychainVault

struct BackupTests {
    static let items = 5

    static func vault() throws -> TestVault {
        let test = try TestVault()
        for index in 0..<items {
            try test.engine.add(.genericPassword("exerciser", "\(index)", value: "value \(index)"))
        }
        return test
    }

    /// What a vault made of the file holds, as another process with the same device key reads it.
    static func state(of file: String, _ test: TestVault) throws -> [String: String] {
        let other = try TestVault()
        try FileManager.default.createDirectory(
            atPath: other.location.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try FileManager.default.copyItem(atPath: file, toPath: other.databaseFile)
        try other.place(
            try Data(contentsOf: URL(fileURLWithPath: test.location.deviceKeyFile)), at: other.location.deviceKeyFile)
        return try other.state()
    }

    private func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    @Test func backup_holdsEveryItemInOnePrivateFile() throws {
        let test = try Self.vault()
        let file = test.root + "/backup"
        let before = try names(test.root)
        let backup = try test.vault.backup(to: file)
        #expect(backup.itemCount == Self.items && backup.damagedCount == 0 && backup.opening == .byItself)
        #expect(backup.opensWithDeviceKeyAlone)
        #expect(try names(test.root) == (before + ["backup"]).sorted())
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try Self.state(of: file, test) == test.state())
    }

    @Test func backup_ofALockedVault_needsNoKey() throws {
        let test = try TestVault.locked()
        defer { do { try test.forget() } catch { Issue.record(error) } }
        try FileManager.default.removeItem(atPath: test.location.deviceKeyFile)
        let backup = try test.another().backup(to: test.root + "/backup")
        #expect(backup.itemCount == 6 && backup.lockedCount == 6 && backup.opening == .unlockable)
        #expect(!backup.opensWithDeviceKeyAlone)
    }

    @Test func backup_ofAVaultWhoseDeviceKeyIsGone_isMade() throws {
        let test = try Self.vault()
        try test.vault.close()
        try FileManager.default.removeItem(atPath: test.location.deviceKeyFile)
        let backup = try test.another().backup(to: test.root + "/backup")
        #expect(backup.itemCount == Self.items && backup.opening == .notHere)
    }

    @Test func file_thatIsThere_isKeptUnlessItIsABackupToBeReplaced() throws {
        let test = try Self.vault()
        let file = test.root + "/backup"
        try test.place(Data("mine".utf8), at: file)
        #expect(reason { try test.vault.backup(to: file) } == .duplicateItem)
        #expect(reason { try test.vault.backup(to: file, replacing: true) } == .duplicateItem)
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data("mine".utf8))
        try FileManager.default.removeItem(atPath: file)
        try test.vault.backup(to: file)
        try test.engine.add(.genericPassword("exerciser", "later", value: "v"))
        #expect(reason { try test.vault.backup(to: file) } == .duplicateItem)
        #expect(try test.vault.backup(to: file, replacing: true).itemCount == Self.items + 1)
    }

    @Test func file_inTheVaultsFolder_isRefusedAlsoByWayOfALink() throws {
        let test = try Self.vault()
        try FileManager.default.createSymbolicLink(
            atPath: test.root + "/link", withDestinationPath: test.location.folder)
        for path in [
            test.location.folder + "/backup", test.root + "/link/backup", test.location.folder + "/./backup",
            test.location.replacedPrefix + "x",
        ] {
            #expect(reason { try test.vault.backup(to: path) } == .unsafeLocation, "\(path)")
        }
    }

    /// A vault's database has the form of a backup.
    @Test(arguments: ["lock", "reserve"])
    func databaseOfAnotherVault_isNotReplaced(by file: String) throws {
        let (test, other) = (try Self.vault(), try Self.vault())
        try other.vault.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: other.databaseFile))
        // Another one of its files may have been lost.
        try FileManager.default.removeItem(atPath: other.location.folder + "/vault." + file)
        for path in [other.databaseFile, other.location.replacedPrefix + "x", other.location.folder + "/new"] {
            #expect(reason { try test.vault.backup(to: path, replacing: true) } == .unsafeLocation, "\(path)")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: other.databaseFile)) == before)
    }

    /// Such a file could not be restored.
    @Test(arguments: ["-wal", "-journal"], [false, true])
    func file_withChangesOfAnotherDatabaseBesideIt_isNotWritten(_ suffix: String, isThere: Bool) throws {
        let test = try Self.vault()
        let file = test.root + "/backup"
        if isThere { try test.vault.backup(to: file) }
        try test.place(Data("changes".utf8), at: file + suffix)
        #expect(reason { try test.vault.backup(to: file, replacing: true) } == .duplicateItem)
        try FileManager.default.removeItem(atPath: file + suffix)
        try test.vault.backup(to: file, replacing: true)
        #expect(try test.vault.examineBackup(file).itemCount == Self.items)
    }

    @Test(arguments: ["", "/", "..", "/tmp/..", "nowhere/at/all"])
    func path_thatIsNone_isRefused(_ path: String) throws {
        let test = try Self.vault()
        #expect([.unsafeLocation, .unavailable].contains(reason { try test.vault.backup(to: path) }))
    }

    @Test func vault_thatIsNotThere_hasNoBackup() throws {
        let test = try TestVault()
        #expect(reason { try test.vault.backup(to: test.root + "/backup") } == .unavailable)
        #expect(!FileManager.default.fileExists(atPath: test.root + "/backup"))
    }

    /// An older backup of the user may have exactly that name.
    @Test func fileOfTheNameWithNewAtItsEnd_isLeftAlone() throws {
        let test = try Self.vault()
        let file = test.root + "/backup"
        try test.vault.backup(to: file + ".new")
        try test.engine.add(.genericPassword("exerciser", "later", value: "v"))
        try test.vault.backup(to: file)
        #expect(try test.vault.examineBackup(file + ".new").itemCount == Self.items)
        #expect(try test.vault.examineBackup(file).itemCount == Self.items + 1)
    }

    @Test func residue_ofABackupThatWasCutShort_isReplaced() throws {
        let test = try Self.vault()
        try test.place(Data("half".utf8), at: test.root + "/.backup.unfinished-backup")
        #expect(try test.vault.backup(to: test.root + "/backup").itemCount == Self.items)
        #expect(!FileManager.default.fileExists(atPath: test.root + "/.backup.unfinished-backup"))
    }

    @Test func secondBackup_toTheSameFile_isBusyWhileTheFirstIsWritten() throws {
        let test = try Self.vault()
        let first = try UnfinishedFile(test.root + "/.backup.unfinished-backup")
        #expect(reason { try test.vault.backup(to: test.root + "/backup") } == .busy)
        withExtendedLifetime(first) {}
    }

    @Test func damagedDatabase_isNotCopiedOverAnOlderBackup() throws {
        let test = try Self.vault()
        let file = test.root + "/backup"
        try test.vault.backup(to: file)
        try test.vault.close()
        try PlainDatabase(test.databaseFile).run("DROP INDEX item_key")
        #expect(reason { try test.vault.backup(to: file, replacing: true) } == .corrupt)
        #expect(try Self.state(of: file, test).count == Self.items)
    }

    @Test func item_damagedInTheVault_isToldOfInItsBackup() throws {
        let test = try Self.vault()
        try test.vault.close()
        try PlainDatabase(test.databaseFile).run("UPDATE item SET value = zeroblob(152) WHERE id = 1")
        #expect(try test.vault.backup(to: test.root + "/backup").damagedCount == 1)
    }

    @Test func copy_whileOthersWrite_isOfTheStateThatWasLookedAt() throws {
        let test = try Self.vault()
        let path = test.root + "/copy"
        try test.place(Data(), at: path)
        let source = try Session.Opened(test.location, .seconds(30), isReadOnly: false).reader
        let count = try DatabaseCopy.fill(path, from: source) { db in
            try test.engine.add(.genericPassword("exerciser", "before", value: "v"))
            let count = try ItemTable(db).count()
            try test.engine.add(.genericPassword("exerciser", "after", value: "v"))
            return count
        }
        #expect(count == Self.items + 1)
        #expect(try Self.state(of: path, test).count == count)
    }

    #if DEBUG
        @Test func file_thatComesAfterItsNameWasFoundFree_isNotReplaced() throws {
            let test = try Self.vault()
            let file = test.root + "/backup"
            try Mishap.at(.backupChecked, { try Data("another".utf8).write(to: URL(fileURLWithPath: file)) }) {
                #expect(reason { try test.vault.backup(to: file) } == .duplicateItem)
            }
            #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data("another".utf8))
            #expect(try !names(test.root).contains(".backup.unfinished-backup"))
        }

        /// What happens to a copy between the writing and the check, for backups that are made within one task.
        /// A failing medium: what arrives is a whole database, and not what was written.
        @Test func copy_thatDiffersFromTheVault_isRemovedAndReported() throws {
            let test = try Self.vault()
            let file = test.root + "/backup"
            let before = try names(test.root)
            for statement in ["DELETE FROM item WHERE id = 1", "UPDATE item SET value = zeroblob(152) WHERE id = 1"] {
                let spoil: @Sendable () throws -> Void = {
                    try PlainDatabase(test.root + "/.backup.unfinished-backup").run(statement)
                }
                try Mishap.at(.backupCopied, spoil) {
                    #expect(reason { try test.vault.backup(to: file) } == .inputOutput, "\(statement)")
                }
                #expect(try names(test.root) == before)
            }
        }
    #endif

    @Test func backup_underWriters_isOfOneMoment() throws {
        let test = try TestVault()
        let writers = try (0..<2).map { try test.running("add-until-told", "writer\($0)") }
        for writer in writers { for _ in 0..<5 { _ = writer.line() } }
        let file = test.root + "/backup"
        for _ in 0..<5 { try test.vault.backup(to: file, replacing: true) }
        for writer in writers { _ = try writer.finish() }
        let found = try Self.state(of: file, test)
        #expect(found.count >= 10)
        for writer in 0..<2 {
            // Each writer's items up to some number, without a gap.
            let count = found.keys.filter { $0.hasPrefix("writer\(writer)-") }.count
            #expect((0..<count).allSatisfy { found["writer\(writer)-\($0)"] == "v" })
        }
        #expect(Vault.examine(test.location).filter { $0.severity == .problem } == [])
    }

    /// `KEYCHAIN_FAULTS=all` tries each occurrence of each call, otherwise some.
    @Test(.enabled(if: Programs.strace != nil, "strace cannot trace here"))
    func backup_killedOrFailingAtAnyWriteCall_leavesTheOldFileOrTheNew() async throws {
        let strace = try #require(Programs.strace)
        let stride = ProcessInfo.processInfo.environment["KEYCHAIN_FAULTS"] == "all" ? 1 : 4
        let test = try Self.vault()
        let file = test.root + "/backup"
        try test.vault.backup(to: file)
        try test.engine.add(.genericPassword("exerciser", "later", value: "v"))
        try test.vault.close()
        var points = 0
        for fault in ["pwrite64:signal=KILL", "fsync:signal=KILL", "rename:signal=KILL", "pwrite64:error=ENOSPC"] {
            for occurrence in Swift.stride(from: 1, to: 200, by: stride) {
                let child = try await onOwnThread {
                    try test.exercise(["backup", file], injecting: fault + ":when=\(occurrence)", strace: strace)
                }
                #expect([Self.items, Self.items + 1].contains(try Self.state(of: file, test).count))
                guard child.wasSignalled || child.lines != ["done"] else {
                    // The first calls are those of the reader, which does without them on a full disk.
                    if occurrence < 16 { continue }
                    break
                }
                points += 1
            }
        }
        print("backup: \(points) points")
        #expect(points >= 8)
    }
}
