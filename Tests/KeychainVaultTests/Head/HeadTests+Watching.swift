// SPDX-License-Identifier: Apache-2.0
// Restored, locked and unwatched vaults: what the head says of them.

import Foundation
import KeychainEngine
import Testing

@testable import KeychainVault

extension HeadTests {
    @Test func vault_openElsewhere_writesAfterARestoration() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "first", value: "v"))
        let file = test.root + "/backup"
        try test.vault.backup(to: file)
        try test.engine.add(.genericPassword("s", "later", value: "v"))
        let (elsewhere, before) = (test.another(), try Self.head(test))
        try elsewhere.engine.add(.genericPassword("s", "elsewhere", value: "v"))
        #expect(try test.another().restore(from: file).isAccepted)
        try elsewhere.engine.add(.genericPassword("s", "elsewhere", value: "v"))
        #expect(try Self.head(test)?.epoch == before.map { $0.epoch + 1 })
        try Self.expectWhole(test)
    }

    /// Nothing but the replaced vault says how far it has come.
    @Test func vaultOpenElsewhere_withoutAnchors_writesAfterEachRestoration() throws {
        var settings = VaultSettings.cheap
        settings.anchors = []
        let test = try TestVault(settings)
        try test.engine.add(.genericPassword("s", "first", value: "v"))
        let file = test.root + "/backup"
        try test.vault.backup(to: file)
        let elsewhere = test.another(settings)
        for _ in 1...2 {
            #expect(try test.another(settings).restore(from: file).isAccepted)
            for name in ["a", "b"] { try elsewhere.engine.add(.genericPassword("s", name, value: "v")) }
        }
        try Self.expectWhole(test)
    }

    @Test func backup_thatLacksARow_isRestoredOnlyByForce() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "first", value: "v"))
        let file = test.root + "/backup"
        try test.vault.backup(to: file)
        try PlainDatabase(file).run("DELETE FROM item")
        #expect(reason { try test.another().restore(from: file) } == .corrupt)
        #expect(try test.another().restore(from: file, force: true).isAccepted)
        try test.reopened().add(.genericPassword("s", "new", value: "v"))
        try Self.expectWhole(test)
    }

    @Test func lockedVault_restored_isAcceptedOnceItIsUnlocked() throws {
        let test = try TestVault.locked()
        defer { try? test.forget() }
        let file = test.root + "/backup"
        try test.another().backup(to: file)
        try test.another().addProtector(.keyFile(), authority: .old)
        try FileManager.default.removeItem(atPath: test.location.deviceKeyFile)
        let done = try test.another().restore(from: file, force: true)
        #expect(!done.isAccepted && done.acceptanceFailure?.reason == .locked)
        let vault = test.another()
        try vault.unlock(.old)
        #expect(reason { try vault.engine.add(.genericPassword("s", "new", value: "v")) } == .rolledBack)
        try vault.accept()
        try vault.engine.add(.genericPassword("s", "new", value: "v"))
    }

    /// What a user was shown is not what would be taken.
    @Test func vault_changedAfterTheReport_isNotAccepted() throws {
        let test = try TestVault()
        for name in ["a", "b", "c"] { try test.engine.add(.genericPassword("s", name, value: "v")) }
        let vault = test.another()
        try PlainDatabase(test.databaseFile).run("DELETE FROM item WHERE id = 1")
        let report = try vault.headReport()
        #expect(report.findings.contains(.missing(.items, 1)))
        try PlainDatabase(test.databaseFile).run("UPDATE item SET value = x'00' WHERE id = 2")
        #expect(reason { try vault.accept(report) } == .busy)
        #expect(reason { try vault.engine.add(.genericPassword("s", "new", value: "v")) } == .rolledBack)
        try vault.accept(vault.headReport())
        try vault.engine.add(.genericPassword("s", "new", value: "v"))
    }

    @Test func vault_thatNoAnchorIsKeptOf_isNotWatched() throws {
        var settings = VaultSettings.cheap
        settings.anchors = []
        let test = try TestVault(settings)
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        #expect(try test.vault.status().isRollbackWatched == false)
        #expect(Vault.examine(test.location, settings).contains { $0.check == "rollback" && $0.severity == .warning })
        try test.another().engine.add(.genericPassword("s", "b", value: "v"))
        #expect(try test.another().status().isRollbackWatched == true)
        #expect(!Vault.examine(test.location).contains { $0.check == "rollback" })
    }

    private func withStateInside(_ test: TestVault) throws -> VaultLocation {
        try VaultLocation(
            folder: test.location.folder, deviceKeyFile: test.location.deviceKeyFile,
            stateFolder: test.location.folder + "/state")
    }

    @Test func vault_thatUsesNoFile_doesNotMindThatItsStateFolderLiesInIt() throws {
        let test = try TestVault()
        var settings = VaultSettings.cheap
        settings.anchors = []
        let vault = Vault(try withStateInside(test), settings)
        try vault.engine.add(.genericPassword("s", "a", value: "v"))
        #expect(try vault.status().rollbackRecordFailure == nil)
    }

    /// What is remembered would be put back together with the vault.
    @Test func vault_whoseStateFolderLiesInIt_isNotWatchedAndSaysWhy() throws {
        let test = try TestVault()
        let location = try withStateInside(test)
        let vault = Vault(location, .cheap)
        try vault.engine.add(.genericPassword("s", "a", value: "v"))
        let status = try vault.status()
        #expect(status.isRollbackWatched == false)
        let reason = "The state folder '\(location.stateFolder)' lies inside the vault folder"
        #expect(status.rollbackRecordFailure?.message.hasPrefix(reason) == true)
        let finding = try #require(Vault.examine(location, .cheap).first { $0.check == "rollback" })
        #expect(finding.message.contains(reason) && !finding.message.contains("The next write makes one"))
    }

    @Test func vault_whoseStateFolderLiesInItByALink_isNotWatched() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "first", value: "v"))
        try test.vault.close()
        let (inside, link) = (test.location.folder + "/state", test.root + "/link")
        try FileManager.default.createDirectory(atPath: inside, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: inside)
        // The state folder itself is made by the first write.
        let location = try VaultLocation(
            folder: test.location.folder, deviceKeyFile: test.location.deviceKeyFile, stateFolder: link + "/seen")
        let vault = Vault(location, .cheap)
        try vault.engine.add(.genericPassword("s", "a", value: "v"))
        #expect(try vault.status().isRollbackWatched == false)
        #expect(try FileManager.default.contentsOfDirectory(atPath: inside).isEmpty)
    }

    /// The state folder is not to blame.
    @Test func vault_whoseRecordOthersMayChange_namesTheRecord() throws {
        let test = try TestVault(.cheap)
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        #expect(try test.another().status().rollbackRecordFailure == nil)
        let file = try #require(try test.files().keys.first { $0.hasPrefix(test.location.stateFolder) })
        #expect(chmod(file, 0o666) == 0)
        try test.another().engine.add(.genericPassword("s", "b", value: "v"))
        let status = try test.another().status()
        #expect(status.isRollbackWatched == false)
        #expect(status.rollbackRecordFailure?.message.contains("Run: chmod 600 '\(file)'") == true)
        let finding = try #require(Vault.examine(test.location).first { $0.check == "rollback" })
        #expect(finding.message.contains("Run: chmod 600 '\(file)'"), "\(finding.message)")
    }

    /// The older record would let all that came after it be put back unnoticed.
    @Test func vault_whoseNewestStateWasNotRemembered_isNotWatched() throws {
        let test = try TestVault(.cheap)
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        #expect(try test.another().status().isRollbackWatched == true)
        var forgetful = VaultSettings.cheap
        forgetful.anchors = []
        try test.another(forgetful).engine.add(.genericPassword("s", "b", value: "v"))
        #expect(try test.another().status().isRollbackWatched == false)
        #expect(Vault.examine(test.location).contains { $0.check == "rollback" })
    }
}
