// SPDX-License-Identifier: Apache-2.0
// A medium that fails when a change is made durable: what was refused has not happened, also for the next process.

import Foundation
import Testing

@Suite("a sync that fails", .enabled(if: Tool.hasStrace, "strace is not installed"))
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

    /// Else the others would show nothing.
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

    /// Swift finds the words of the command line there.
    @Test(.enabled(if: Tool.hasMounts, "no mount table of our own"))
    func command_withoutProc_fails() throws {
        let run = try tool.shellWithOwnMounts(
            "mount -t tmpfs none /proc; \"$CTL\" get -s example.com || echo \"ended $?\"")
        #expect(run.text == "ended 13\n", "\(run.everything)")
    }
}
