// SPDX-License-Identifier: Apache-2.0
// What observing costs a process, and what the system may refuse it.

import Foundation
import KeychainEngine
import Testing

@testable import KeychainVault

@Suite struct ObservingProcessTests {
    @Test func observer_whileNothingChanges_takesNoProcessorTime() throws {
        let (test, other) = (try TestVault(), try TestVault())
        try test.engine.add(.genericPassword("exerciser", "alice", value: "v"))
        let child = try RunningChild(test, "observe")
        #expect(child.line() == "ready 1")
        // What takes about a second here, and has nothing to do with that vault.
        #expect(try other.exercise("script", "300").lines.count == 300)
        let words = child.finish()?.split(separator: " ") ?? []
        let taken = try #require(words.count == 4 ? Int(words[1]) : nil, "\(words)")
        #expect(taken < 5000, "microseconds")
    }

    @Test func observation_thatHasGone_leavesNoDescriptor() throws {
        let test = try TestVault()
        let child = try RunningChild(test, "observe")
        #expect(child.line() == "ready 1")
        try test.engine.add(.genericPassword("exerciser", "alice", value: "v"))
        #expect(child.line() == "changed")
        #expect(child.finish()?.hasSuffix("left 0") == true)
    }

    @Test func forkedChild_observesNothingAndLeavesItsParentObserving() throws {
        let test = try TestVault()
        let child = try RunningChild(test, "observe-and-fork")
        #expect(child.line() == "child unavailable")
        #expect(child.line() == "ready")
        try test.engine.add(.genericPassword("exerciser", "alice", value: "v"))
        #expect(child.line() == "changed")
        #expect(child.finish() == "done")
    }

    @Test(
        .enabled(if: ChildProcess.installed("strace") != nil, "strace is not installed"),
        arguments: [
            ("inotify_init1", "EMFILE", "fs.inotify.max_user_instances"),
            ("inotify_add_watch", "ENOSPC", "fs.inotify.max_user_watches"),
            ("inotify_init1", "ENOSYS", "not implemented"),
        ])
    func observation_thatTheSystemRefuses_isUnavailable(_ call: String, _ code: String, _ word: String) throws {
        let test = try TestVault()
        guard let strace = ChildProcess.installed("strace") else { return }
        let injection = ["-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)", "-e", "inject=\(call):error=\(code)"]
        let child = try RunningChild(test, "observe", under: [strace] + injection)
        let line = try #require(child.line())
        #expect(line.hasPrefix("failed unavailable") && line.contains(word), "\(line)")
        #expect(child.finish() == nil)
    }

    @Test func vault_underAFile_isObservedAsAbsent() throws {
        let test = try TestVault()
        try Data().write(to: URL(fileURLWithPath: test.location.folder))
        let watcher = try Watcher(test.vault) {}
        try FileManager.default.removeItem(atPath: test.location.folder)
        #expect(watcher.sees { _ in true })
    }
}
