// SPDX-License-Identifier: Apache-2.0
// `backup` and `restore` from the command line.

import Foundation
import Testing

@Suite("backup")
struct BackupVerbTests {
    private let tool: Tool

    init() throws {
        tool = try Tool()
        try tool.store()
    }

    private func object(_ run: Tool.Run) throws -> [String: Any] {
        try #require(run.status == 0, "\(run.errors)")
        return try #require(try JSONSerialization.jsonObject(with: run.output) as? [String: Any])
    }

    @Test func backup_restored_bringsTheItemsBackAndKeepsTheOthers() throws {
        let made = try object(try tool.run("backup", "copy", "--json"))
        #expect(made["items"] as? Int == 1 && made["opening"] as? String == "by-itself")
        try tool.store(otherSecret)
        let restored = try object(try tool.run("restore", "copy", "--yes", "--json"))
        #expect(try tool.get() == secret)
        let kept = try #require(restored["replaced"] as? String)
        #expect(try tool.shell("mv '\(kept)' kept").status == 0)
        #expect(try tool.run("restore", "kept", "--yes").status == 0)
        #expect(try tool.get() == otherSecret)
        #expect(try tool.run("doctor").status == 0)
    }

    @Test(
        .enabled(if: Tool.hasPython, "python3 is not installed"),
        arguments: ["backup new", "restore copy --yes", "doctor"])
    func verb_thatChecksEveryItem_showsHowManyAreDoneOnATerminalOnly(words: String) throws {
        try #require(try tool.take(ExportedItems.lines(150)).status == 0)
        try #require(try tool.run("backup", "copy").status == 0)
        let program = ["/bin/sh", "-c", "cd \"$HOME\" && exec \"$CTL\" \(words)"]
        let dialogue = try tool.dialogue(program: program)
        #expect(dialogue.screen.contains("\r100 items\r"), "\(dialogue.screen)")
        #expect(!(try tool.shell("\"$CTL\" \(words) --json").everything.contains("100 items")))
    }

    @Test func backup_withEarlierVersions_countsTheItemsAsListDoes() throws {
        try tool.store(otherSecret)
        let one = try tool.run("backup", "one", "--json")
        #expect(one.errors.contains("holds 1 item, and for the keychain itself (history, settings) 2."))
        #expect(try object(one)["items"] as? Int == 1 && object(one)["ofTheKeychain"] as? Int == 2)
        try #require(try tool.run("delete", "-s", "example.com", "-a", "alice").status == 0)
        #expect(try object(try tool.run("backup", "none", "--json"))["items"] as? Int == 0)
    }

    @Test func backup_thatOnlyTheDeviceKeyOpens_isWarnedOf() throws {
        #expect(try tool.run("backup", "copy").errors.contains("Warning: only the device key opens it"))
        let vault = try LockableTool()
        let run = try vault.tool.run("backup", "copy")
        #expect(run.status == 0 && !run.errors.contains("Warning"))
        #expect(run.errors.contains("It opens with: recovery key. On this machine it needs one of these secrets."))
    }

    /// `restore` refuses such a backup, so whoever makes it must know.
    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"))
    func backup_ofAVaultThatLacksAnItem_isWarnedOf() throws {
        #expect(try object(try tool.run("backup", "whole", "--json"))["differences"] as? [String] == [])
        try tool.python(
            """
            import sqlite3, sys
            database = sqlite3.connect(sys.argv[1])
            database.execute("DELETE FROM item")
            database.commit()
            """)
        let run = try tool.run("backup", "copy", "--json")
        #expect(run.errors.contains("differ from their last known state: 1 item is missing"), "\(run.errors)")
        #expect((try object(run)["differences"] as? [String])?.count == 1)
        #expect(try tool.run("restore", "copy", "--yes").status == 8)
        #expect(try tool.run("restore", "copy", "--yes", "--force").status == 0)
    }

    @Test func file_thatIsThere_takesReplace() throws {
        #expect(try tool.run("backup", "copy").status == 0)
        #expect(try tool.run("backup", "copy").status == 4)
        #expect(try tool.run("backup", "copy", "--replace").status == 0)
    }

    /// It is the user's, so it need not be moved away.
    @Test(arguments: [
        ("backup", "dir"), ("backup", "dir --replace"), ("backup", "/dev/full --replace"), ("restore", "dir --yes"),
        ("restore", "/dev/full --yes"),
    ])
    func file_thatIsNone_isNamedAsThat(verb: String, rest: String) throws {
        let run = try tool.shell("mkdir dir; \"$CTL\" \(verb) \(rest)")
        #expect(run.status == 15)
        #expect(run.errors.contains("not a regular file. Nothing was changed. Name "), "\(run.errors)")
        #expect(!run.errors.contains("Move it away"))
    }

    @Test func file_inTheVaultsFolder_isUnsafe() throws {
        #expect(try tool.run("backup", tool.vaultFolder.path + "/copy").status == 15)
    }

    @Test func restore_overAVault_takesYesOrAsks() throws {
        #expect(try tool.run("backup", "copy").status == 0)
        try tool.store(otherSecret)
        #expect(try tool.run("restore", "copy").status == 64)
        #expect(try tool.dialogue("restore", "copy", steps: [("[y/N]", .type("\n"))]).status == 6)
        #expect(try tool.get() == otherSecret)
        let done = try tool.dialogue("restore", "copy", steps: [("[y/N]", .type("yes\n"))])
        #expect(done.status == 0, "\(done.screen)")
        #expect(done.screen.contains("an older state of it"))
        #expect(try tool.get() == secret)
    }

    @Test func restore_whereThereIsNoVault_asksNobody() throws {
        #expect(try tool.run("backup", "copy").status == 0)
        try FileManager.default.removeItem(at: tool.vaultFolder)
        #expect(try tool.run("restore", "copy").status == 0)
        #expect(try tool.get() == secret)
    }

    @Test func restore_ofNoBackup_changesNothing() throws {
        #expect(try tool.shell("echo junk > junk; chmod 600 junk; \"$CTL\" restore junk --yes").status == 8)
        #expect(try tool.run("restore", "nowhere", "--yes").status == 13)
        #expect(try tool.get() == secret)
    }

    /// Without the device key not even the index opens, which accepting needs.
    @Test func restore_ofALockedVaultWithoutItsSecret_failsWhenItIsInPlace() throws {
        let vault = try LockableTool()
        try vault.store()
        #expect(try vault.tool.run("backup", "copy").status == 0)
        #expect(try vault.withKey("set -s example.com -a carol", input: secret).status == 0)
        try FileManager.default.removeItem(at: vault.tool.deviceKey)
        let run = try vault.tool.run("restore", "copy", "--yes", "--json")
        #expect(run.status == 5)
        #expect(run.errors.contains("restored, but could not be accepted"))
        #expect(run.text.contains("\"accepted\":false"))
        #expect(try vault.withKey("get -s example.com -a alice").output == secret)
        #expect(try vault.withKey("set -s example.com -a bob", input: secret).status == 19)
        #expect(try vault.withKey("accept --yes").status == 0)
        try vault.store()
    }

    @Test func restore_ofALockedVaultWithItsSecret_canBeWrittenAtOnce() throws {
        let vault = try LockableTool()
        try vault.store()
        #expect(try vault.tool.run("backup", "copy").status == 0)
        try FileManager.default.removeItem(at: vault.tool.deviceKey)
        let run = try vault.withKey("restore copy --yes --json")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.text.contains("\"accepted\":true"))
        try vault.store()
    }

    /// If the device key opens the index, the secret is not needed; but a given secret must be right.
    @Test func restore_withASecretThatDoesNotOpenTheBackup_changesNothing() throws {
        let vault = try LockableTool()
        #expect(try vault.tool.run("backup", "copy").status == 0)
        try vault.store()
        #expect(try vault.withOtherKey("restore copy --yes").status == 7)
        #expect(try vault.tool.shell("echo x | \"$CTL\" restore copy --yes --passphrase-fd 0").status == 7)
        #expect(try vault.withKey("get -s example.com").output == secret)
        #expect(try vault.withKey("restore copy --yes").status == 0)
        #expect(try vault.withKey("get -s example.com").status == 3)
    }

    /// The vault itself may be what is damaged.
    @Test func restore_overADamagedVaultWithASecret_isDone() throws {
        let vault = try LockableTool()
        try vault.store()
        #expect(try vault.tool.run("backup", "copy").status == 0)
        try Data("junk".utf8).write(to: vault.tool.database)
        let run = try vault.withKey("restore copy --yes")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try vault.withKey("get -s example.com").output == secret)
    }

    /// When its last step fails all else is done, and the file that is kept has to be named.
    @Test(.enabled(if: Tool.hasStrace, "strace cannot trace here"), arguments: [3, 4])
    func restore_whoseEndFails_saysThatItIsInPlace(_ sync: Int) throws {
        #expect(try tool.run("backup", "copy").status == 0)
        try tool.store(otherSecret)
        let fault = "strace -f -o trace -e inject=fsync:error=ENOSPC:when=\(sync)"
        let run = try tool.shell("\(fault) \"$CTL\" restore copy --yes")
        let isInPlace = try tool.get() == secret
        let names = try FileManager.default.contentsOfDirectory(atPath: tool.vaultFolder.path)
        let kept = names.filter { $0.contains("replaced") }
        #expect(isInPlace == !kept.isEmpty)
        #expect(isInPlace == kept.contains { run.errors.contains("/\($0)'") }, "\(run.errors)")
    }

    @Test func restore_besideAStoppedOne_namesIt() throws {
        #expect(try tool.run("backup", "copy").status == 0)
        let run = try tool.shell(
            """
            : > .local/share/swift-keychain/vault.db.restoring; chmod 600 .local/share/swift-keychain/vault.db.restoring
            flock .local/share/swift-keychain/vault.db.restoring sh -c 'kill -STOP $PPID; echo $PPID > pid' &
            for i in $(seq 100000); do grep -q ') T' "/proc/$(cat pid)/stat" && break; done 2> /dev/null
            "$CTL" restore copy --yes; echo "restore $?"
            "$CTL" doctor | grep 'problem  writer'; kill -KILL $(cat pid)
            """)
        #expect(run.text.contains("restore 11") && run.errors.contains("kill -CONT"), "\(run.everything)")
        #expect(run.text.contains("problem  writer"), "\(run.everything)")
    }

    @Test func restore_ofAFileThatIsNoBackup_saysSo() throws {
        let run = try tool.run("restore", tool.deviceKey.path, "--yes")
        #expect(run.status == 8)
        #expect(run.errors.contains("is not a backup of a vault"))
    }

    @Test func backup_withADeviceKeyThatCannotBeRead_saysWhy() throws {
        let run = try tool.shell("echo junk > .config/swift-keychain/device.key; \"$CTL\" backup copy --json")
        #expect(run.status == 0 && run.text.contains("\"opening\":\"not-here\""), "\(run.errors)")
        #expect(run.errors.contains("device key") && run.errors.contains("damaged"))
        #expect(try tool.run("restore", "copy", "--yes").status == 8)
    }

    @Test func restore_ofABackupThatNothingHereOpens_isDenied() throws {
        let other = try Tool()
        try other.store(otherSecret)
        #expect(try other.run("backup", "copy").status == 0)
        let file = other.home.path + "/copy"
        #expect(try tool.run("restore", file, "--yes").status == 7)
        #expect(try tool.get() == secret)
        #expect(try tool.run("restore", file, "--yes", "--force").status == 0)
        #expect(try tool.run("get", "-s", "example.com", "-a", "alice").status == 7)
    }

    @Test func backupAndRestore_showNeitherNamesNorValues() throws {
        let text = try tool.run("backup", "copy").everything + tool.run("restore", "copy", "--yes").everything
        #expect(!text.contains("alice") && !text.contains("example.com") && !text.contains("correct horse"))
    }
}
