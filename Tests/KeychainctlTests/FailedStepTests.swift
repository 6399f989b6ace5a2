// SPDX-License-Identifier: Apache-2.0
// Commands with several steps, one of which fails: the message states what has happened.

import Foundation
import Testing

@Suite("a step that fails", .enabled(if: Tool.hasStrace, "strace cannot trace here"))
struct FailedStepTests {
    private let tool: Tool

    init() throws {
        tool = try Tool()
        try tool.store()
    }

    /// Runs the tool so that one of its calls fails, or meets something else.
    private func run(_ line: String, _ injection: String, _ options: String = "") throws -> Tool.Run {
        try tool.shell("strace -f -qq -o trace \(options) -e inject=\(injection) \"$CTL\" \(line)")
    }

    private func replacedFiles() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: tool.vaultFolder.path).filter { $0.contains("replaced-") }
    }

    // MARK: - Creation

    @Test(arguments: 1...20)
    func creation_thatFails_saysWhetherTheVaultIsThere(_ sync: Int) throws {
        try FileManager.default.removeItem(at: tool.vaultFolder)
        let run = try run("init --recovery-key --no-device-key", "fdatasync:error=EIO:when=\(sync)")
        let isThere = FileManager.default.fileExists(atPath: tool.database.path)
        #expect(isThere == (run.status == 0 || run.errors.contains("was created")), "\(run.errors)")
        if run.status == 0 { #expect(try tool.words() == ["recovery-key"]) }
    }

    // MARK: - Rotation

    @Test(arguments: 1...9)
    func rotation_thatFails_saysWhetherItHasBegun(_ sync: Int) throws {
        let run = try run("rotate", "fdatasync:error=EIO:when=\(sync)")
        let isPending = try tool.status()["rotationPending"] as? Bool == true
        #expect(run.errors.contains("was started") == isPending, "\(run.errors)")
        #expect(run.errors.contains("nothing was changed") == false)
        if run.status == 0 { #expect(!isPending) }
    }

    /// Otherwise the other tests would show nothing.
    @Test func rotation_underOneOfTheSyncs_isPending() throws {
        for sync in 1...9 {
            _ = try run("rotate", "fdatasync:error=EIO:when=\(sync)")
            if try tool.status()["rotationPending"] as? Bool == true { return }
        }
        Issue.record("none of the syncs leaves a rotation behind")
    }

    // MARK: - Protectors

    @Test(arguments: 1...8)
    func protector_afterWhichTheDeviceKeyCannotBeOpened_isAddedIfItSaysSo(_ opening: Int) throws {
        let before = try tool.protectors().count
        let run = try run(
            "protect add recovery-key", "openat:error=EMFILE:when=\(opening)", "-P '\(tool.deviceKey.path)'")
        #expect(try (run.status == 0) == (tool.protectors().count > before), "\(run.errors)")
    }

    @Test(arguments: 1...8)
    func removal_afterWhichTheIndexOfTheWALFails_saysThatItWasDone(_ cut: Int) throws {
        let made = try tool.run("protect", "add", "recovery-key")
        try made.output.write(to: tool.home.appendingPathComponent("paper"))
        let run = try run(
            "protect remove device-key --recovery-key-fd 3 3< paper", "ftruncate:error=EIO:when=\(cut)")
        let isRemoved = try !tool.words().contains("device-key")
        #expect(isRemoved == (run.status == 0 || run.errors.contains("was removed")), "\(run.errors)")
    }

    // MARK: - Backups

    @Test(arguments: 1...6)
    func backup_thatFails_saysWhetherItReplacedTheFile(_ sync: Int) throws {
        try #require(try tool.run("backup", "copy").status == 0)
        let copy = tool.home.appendingPathComponent("copy")
        let before = try Data(contentsOf: copy)
        try tool.store(otherSecret)
        let run = try run("backup copy --replace", "fsync:error=EIO:when=\(sync)")
        let isReplaced = try Data(contentsOf: copy) != before
        #expect(isReplaced == (run.status == 0 || run.errors.contains("was written")), "\(run.errors)")
    }

    @Test(arguments: 1...6)
    func export_afterWhichTheDeviceKeyCannotBeOpened_hasSucceeded(_ opening: Int) throws {
        let run = try run(
            "export file --clear-text json", "openat:error=EMFILE:when=\(opening)", "-P '\(tool.deviceKey.path)'")
        let isThere = FileManager.default.fileExists(atPath: tool.home.appendingPathComponent("file").path)
        #expect(isThere == (run.status == 0), "\(run.errors)")
    }

    /// A call, and which of them.
    private static let restorations = (1...8).map { ("fsync", $0) } + (1...4).map { ("rename", $0) }

    @Test(arguments: restorations)
    func restorationOfADamagedVault_thatFails_namesWhatItKept(_ call: String, _ number: Int) throws {
        try #require(try tool.run("backup", "copy").status == 0)
        let garbage = Data((0..<36_864).map { UInt8(truncatingIfNeeded: $0 &* 7919 >> 3) })
        try garbage.write(to: tool.database)
        try garbage.write(to: URL(fileURLWithPath: tool.database.path + "-wal"))
        for suffix in ["", "-wal"] { chmod(tool.database.path + suffix, 0o600) }
        let run = try run("restore copy --yes", "\(call):error=EIO:when=\(number)")
        for name in try replacedFiles() where !name.hasSuffix("-wal") {
            #expect(run.errors.contains(name), "\(run.errors)")
        }
        let isThere = try Data(contentsOf: tool.database) == garbage
        #expect(isThere || run.status == 0 || run.errors.contains("restored"), "\(run.errors)")
    }

    @Test(arguments: [false, true], 1...8)
    func restoration_thatFails_namesNoKeptFileThatIsNotThere(isDamaged: Bool, _ sync: Int) throws {
        try #require(try tool.run("backup", "copy").status == 0)
        if isDamaged { try Data(repeating: 0x55, count: 36_864).write(to: tool.database) }
        let run = try run("restore copy --yes", "fsync:error=EIO:when=\(sync)")
        let named = run.errors.split(separator: "'").filter { $0.hasPrefix("/") && $0.contains(".replaced-") }
        for path in named { #expect(FileManager.default.fileExists(atPath: String(path)), "\(run.errors)") }
    }

    /// Takes the database away and leaves something in its WAL.
    private func leaveTheWALAlone() throws -> (path: String, changes: Data) {
        unlink(tool.database.path)
        let (path, changes) = (tool.database.path + "-wal", Data("changes that are nowhere else".utf8))
        try changes.write(to: URL(fileURLWithPath: path))
        chmod(path, 0o600)
        return (path, changes)
    }

    @Test(arguments: restorations)
    func restorationBesideTheWALOfADatabaseThatIsGone_thatFails_namesTheWAL(_ call: String, _ number: Int) throws {
        try #require(try tool.run("backup", "copy").status == 0)
        let (wal, changes) = try leaveTheWALAlone()
        let run = try run("restore copy --yes", "\(call):error=EIO:when=\(number)")
        let kept = try replacedFiles()
        for name in kept { #expect(run.errors.contains("/\(name)'"), "\(run.errors)") }
        let places = [wal] + kept.map { tool.vaultFolder.appendingPathComponent($0).path }
        #expect(places.contains { FileManager.default.contents(atPath: $0) == changes }, "\(run.errors)")
    }

    /// Else the others would show nothing.
    @Test func restorationBesideTheWALOfADatabaseThatIsGone_underOneOfTheSyncs_hasMovedTheWAL() throws {
        try #require(try tool.run("backup", "copy").status == 0)
        for sync in 1...8 {
            _ = try leaveTheWALAlone()
            let run = try run("restore copy --yes", "fsync:error=EIO:when=\(sync)")
            if run.status != 0, run.errors.contains("is kept in '") { return }
        }
        Issue.record("none of the syncs fails after the WAL was moved")
    }

    @Test(arguments: 1...8)
    func restorationToAnEmptyPlace_thatFails_saysWhetherTheVaultIsThere(_ sync: Int) throws {
        try #require(try tool.run("backup", "copy").status == 0)
        try FileManager.default.removeItem(at: tool.vaultFolder)
        let run = try run("restore copy --yes", "fsync:error=EIO:when=\(sync)")
        let isThere = FileManager.default.fileExists(atPath: tool.database.path)
        #expect(isThere == (run.status == 0 || run.errors.contains("was restored")), "\(run.errors)")
    }

    // MARK: - Messages afterwards

    @Test func deletion_thatWasRefused_isNotCalledRemovedData() throws {
        let run = try run("delete -s example.com -a alice", "fdatasync:error=EIO:when=1")
        #expect(run.status == 17)
        #expect(try tool.get() == secret)
        #expect(try tool.run("doctor").everything.contains("Removed data") == false)
    }

    /// SQLite takes pages that cannot be read for damaged ones. The first two are read by the loader of programs.
    @Test(arguments: 3...14)
    func page_thatTheMediumDoesNotGive_isNotCalledDamaged(_ reading: Int) throws {
        let run = try run("get -s example.com -a alice", "pread64:error=EIO:when=\(reading)")
        #expect([0, 17].contains(run.status), "\(run.status): \(run.errors)")
    }
}

@Suite(
    "an unlocking that fails",
    .enabled(if: Tool.hasStrace && Tool.hasKeyring, "strace cannot trace here, or the kernel keeps no keys here"))
struct FailedUnlockingTests {
    @Test(arguments: 1...4)
    func unlocking_thatTheKernelRefuses_opensNothing(_ call: Int) throws {
        let vault = try LockableTool()
        try vault.store("--accessibility after-first-unlock")
        let run = try vault.tool.shell(
            """
            strace -f -qq -o trace -e inject=add_key:error=EDQUOT:when=\(call) \
            "$CTL" unlock --recovery-key-fd 3 3< paper
            """)
        #expect(try vault.get().status == (run.status == 0 ? 0 : 5), "\(run.errors)")
    }
}
