// SPDX-License-Identifier: Apache-2.0
// A medium that fails when a change is made durable: what was refused has not happened, also for the next process.

import Foundation
import Testing

@Suite("a sync that fails", .enabled(if: Tool.hasStrace, "strace cannot trace here"))
struct FailedSyncTests {
    private let tool: Tool

    init() throws {
        tool = try Tool()
        try tool.store()
        #expect(try tool.run("backup", "copy").status == 0)
        try tool.store(otherSecret)
    }

    /// Runs the tool so that one of its syncs fails.
    private func run(_ line: String, failing sync: Int, input: Data = Data()) throws -> Tool.Run {
        try tool.shell("strace -f -o trace -e inject=fdatasync:error=EIO:when=\(sync) \"$CTL\" \(line)", input: input)
    }

    private static let syncs = Array(1...6)

    @Test(arguments: syncs)
    func change_whoseSyncFails_hasNotHappened(_ sync: Int) throws {
        let run = try run("set -s example.com -a alice", failing: sync, input: Data("third".utf8))
        #expect(try tool.get() == (run.status == 0 ? Data("third".utf8) : otherSecret), "\(run.errors)")
    }

    /// Otherwise the other tests would show nothing.
    @Test func change_underOneOfTheSyncs_isRefused() throws {
        let states = try Self.syncs.map {
            try run("set -s example.com -a alice", failing: $0, input: otherSecret).status
        }
        #expect(states.contains(17))
    }

    @Test(arguments: syncs)
    func deletion_whoseSyncFails_hasNotHappened(_ sync: Int) throws {
        let run = try run("delete -s example.com -a alice", failing: sync)
        #expect(try tool.listed().count == (run.status == 0 ? 0 : 1), "\(run.errors)")
    }

    @Test(arguments: syncs)
    func protector_whoseSyncFails_isNotAdded(_ sync: Int) throws {
        let run = try run("protect add recovery-key", failing: sync)
        #expect(try tool.protectors().count == (run.status == 0 ? 2 : 1), "\(run.errors)")
    }

    @Test(arguments: syncs)
    func restoration_whoseSyncFails_keepsWhatItReplaced(_ sync: Int) throws {
        let run = try run("restore copy --yes", failing: sync)
        let names = try FileManager.default.contentsOfDirectory(atPath: tool.vaultFolder.path)
        let isKept = names.contains { $0.contains("replaced") }
        #expect(try isKept || tool.get() == otherSecret, "\(run.errors)")
        #expect(try run.status != 0 || tool.get() == secret)
    }

    /// Otherwise the next write would make a new vault, and nothing would say that there was one.
    @Test(arguments: syncs)
    func restorationOverAWAL_whoseSyncFails_leavesNoFolderThatLooksNew(_ sync: Int) throws {
        let run = try tool.shell(
            """
            cd "\(tool.vaultFolder.path)"; rm vault.*; umask 077; echo changes > vault.db-wal; cd "$HOME"
            strace -f -o trace -e inject=fsync:error=EIO:when=\(sync) "$CTL" restore copy --yes
            """)
        let isInPlace = FileManager.default.fileExists(atPath: tool.database.path)
        #expect(isInPlace || run.status == 17, "\(run.errors)")
        #expect(try tool.run("list").status == (isInPlace ? 0 : 8), "\(run.errors)")
    }

    /// Force is for a backup that nothing here opens.
    @Test(arguments: syncs)
    func restorationByForce_whoseSyncFails_isNotCalledDone(_ sync: Int) throws {
        let run = try tool.shell(
            "strace -f -o trace -e inject=fsync:error=EIO:when=\(sync) \"$CTL\" restore copy --yes --force")
        #expect(run.status == (run.errors.contains("Input/output error") ? 17 : 0), "\(run.errors)")
    }

    /// The store has no reason of its own for every error of a medium.
    @Test(arguments: syncs)
    func restorationByForce_whoseSyncFailsWithAnyError_isNotCalledDone(_ sync: Int) throws {
        let run = try tool.shell(
            "strace -f -o trace -e inject=fsync:error=ENXIO:when=\(sync) \"$CTL\" restore copy --yes --force")
        #expect(run.status == (run.errors.contains("No such device") ? 13 : 0), "\(run.errors)")
    }

    // MARK: - What does not open here, by force

    /// A backup that nothing on this machine opens by itself.
    enum Closed: String, CaseIterable {
        case locked, ofAnotherDevice
    }

    /// - Returns: A tool in whose home folder is such a backup, `copy`, and what has to stay until the end of the test.
    private static func withBackup(_ kind: Closed) throws -> (tool: Tool, other: AnyObject) {
        switch kind {
        case .locked:
            let vault = try LockableTool()
            #expect(try vault.tool.run("backup", "copy").status == 0)
            try FileManager.default.removeItem(at: vault.tool.deviceKey)
            return (vault.tool, vault)
        case .ofAnotherDevice:
            let (tool, other) = (try Tool(), try Tool())
            try other.store()
            #expect(try other.run("backup", tool.home.path + "/copy").status == 0)
            try tool.store()
            // Otherwise the key that is here would be the wrong one, which no medium is mistaken for.
            try FileManager.default.removeItem(at: tool.deviceKey)
            return (tool, other)
        }
    }

    /// The store has one reason for errors that it does not know, and for a missing device key.
    @Test(arguments: Closed.allCases, 1...8)
    func forcedRestorationOfWhatDoesNotOpenHere_whoseSyncFails_isNotCalledDone(_ kind: Closed, _ sync: Int) throws {
        let (tool, other) = try Self.withBackup(kind)
        defer { withExtendedLifetime(other) {} }
        let run = try tool.shell(
            "strace -f -o trace -e inject=fsync:error=ENXIO:when=\(sync) \"$CTL\" restore copy --yes --force")
        #expect(run.status == (run.errors.contains("No such device") ? 13 : 0), "\(run.errors)")
    }

    /// Otherwise the other tests would show nothing.
    @Test(arguments: Closed.allCases)
    func forcedRestorationOfWhatDoesNotOpenHere_underOneOfTheSyncs_saysWhatIsDoneAndLeft(_ kind: Closed) throws {
        let (tool, other) = try Self.withBackup(kind)
        defer { withExtendedLifetime(other) {} }
        for sync in 1...8 {
            let run = try tool.shell(
                "strace -f -o trace -e inject=fsync:error=ENXIO:when=\(sync) \"$CTL\" restore copy --yes --force")
            guard run.errors.contains("restored, but could not be accepted: Could not") else { continue }
            #expect(run.status == 13)
            #expect(run.errors.contains("run: keychainctl accept"), "\(run.errors)")
            return
        }
        Issue.record("none of the syncs fails after the backup was restored")
    }

    @Test(arguments: Closed.allCases)
    func forcedRestorationOfWhatDoesNotOpenHere_isDone(_ kind: Closed) throws {
        let (tool, other) = try Self.withBackup(kind)
        defer { withExtendedLifetime(other) {} }
        let run = try tool.run("restore", "copy", "--yes", "--force")
        #expect(run.status == 0 && run.errors.contains("could not be accepted"), "\(run.errors)")
    }

    /// Swift finds the words of the command line there.
    @Test(.enabled(if: Tool.hasMounts, "no mount table of our own"))
    func command_withoutProc_fails() throws {
        let run = try tool.shellWithOwnMounts(
            "mount -t tmpfs none /proc; \"$CTL\" get -s example.com || echo \"ended $?\"")
        #expect(run.text == "ended 13\n", "\(run.everything)")
    }
}
