// SPDX-License-Identifier: Apache-2.0
// Backups that are not restored, or only by force: nothing changes.

import Foundation
import KeychainEngine
import KeychainTestSupport
import Testing

@testable import KeychainVault

extension RestoreTests {
    func expectRefusal(_ wanted: KeychainError.Reason, _ test: TestVault, _ file: String) throws {
        let before = try test.state()
        let names = try FileManager.default.contentsOfDirectory(atPath: test.location.folder).sorted()
        #expect(reason { try test.vault.restore(from: file) } == wanted)
        #expect(try test.state() == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: test.location.folder).sorted() == names)
    }

    @Test func backup_thatIsSpoiled_isRefusedAndNothingChanges() throws {
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
    func backup_thatIsHostile_isRefusedAndNothingChanges(_ change: String, _ wanted: KeychainError.Reason) throws {
        let (test, file) = try vaultWithBackup()
        try PlainDatabase(file).run(change)
        try expectRefusal(wanted, test, file)
    }

    @Test func backup_thatIsOpenToOthersOrNoFile_isRefused() throws {
        let (test, file) = try vaultWithBackup()
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        try expectRefusal(.unsafeLocation, test, file)
        try FileManager.default.removeItem(atPath: file)
        #expect(mkfifo(file, 0o600) == 0)
        try expectRefusal(.unsafeLocation, test, file)
        try FileManager.default.removeItem(atPath: file)
        try expectRefusal(.unavailable, test, file)
    }

    /// As on a failing medium: the kernel does not read this file at its beginning.
    @Test(.enabled(if: access("/proc/self/mem", R_OK) == 0))
    func backup_thatCannotBeRead_isNotCalledAnotherFile() throws {
        let (test, _) = try vaultWithBackup()
        try expectRefusal(.inputOutput, test, "/proc/self/mem")
    }

    @Test func copy_ofALiveDatabaseWithItsWAL_isRefused() throws {
        let (test, file) = try vaultWithBackup()
        try test.place(Data("WAL".utf8), at: file + "-wal")
        try expectRefusal(.unavailable, test, file)
    }

    @Test func backup_thatNothingHereOpens_isRestoredOnlyByForce() throws {
        let (other, file) = try vaultWithBackup()
        let test = try BackupTests.vault()
        try expectRefusal(.authenticationFailed, test, file)
        try test.vault.restore(from: file, force: true)
        #expect(reason { _ = try test.state() } == .authenticationFailed)
        try test.place(
            try Data(contentsOf: URL(fileURLWithPath: other.location.deviceKeyFile)), at: test.location.deviceKeyFile)
        #expect(try test.state().count == BackupTests.items)
    }

    @Test func backup_thatAPassphraseOpens_isRestoredLocked() throws {
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
}
