// SPDX-License-Identifier: Apache-2.0
// What observing costs a process, and what the system may refuse it.

import Foundation
import KeychainEngine
import KeychainTestSupport
import Testing

@testable import KeychainVault

@Suite struct ObservingProcessTests {
    @Test func observer_whileNothingChanges_isNotWokenUp() throws {
        let (test, other) = (try TestVault(), try TestVault())
        try test.engine.add(.genericPassword("exerciser", "alice", value: "v"))
        let child = try test.running("observe")
        #expect(child.line() == "ready 1")
        // What takes about a second here, and has nothing to do with that vault.
        #expect(try other.exercise("script", "300").lines.count == 300)
        let words = try child.finish().lines.last?.split(separator: " ") ?? []
        let wakings = try #require(words.count == 4 ? Int(words[1]) : nil, "\(words)")
        // By the end of its input, and what its threads do before they rest.
        #expect(wakings < 10)
    }

    @Test func observation_thatHasGone_leavesNoDescriptor() throws {
        let test = try TestVault()
        let child = try test.running("observe")
        #expect(child.line() == "ready 1")
        try test.engine.add(.genericPassword("exerciser", "alice", value: "v"))
        #expect(child.line() == "changed")
        #expect(try child.finish().lines.last?.hasSuffix("left 0") == true)
    }

    @Test func restoration_isSeenByObservers() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("exerciser", "alice", value: "v"))
        try test.vault.backup(to: test.root + "/backup")
        try test.engine.add(.genericPassword("exerciser", "later", value: "v"))
        let child = try test.running("observe")
        #expect(child.line()?.hasPrefix("ready") == true)
        try test.vault.restore(from: test.root + "/backup")
        #expect(child.line() == "changed")
        _ = try child.finish()
    }

    @Test func forkedChild_observesNothingAndLeavesItsParentObserving() throws {
        let test = try TestVault()
        let child = try test.running("observe-and-fork")
        #expect(child.line() == "child unavailable")
        #expect(child.line() == "ready")
        try test.engine.add(.genericPassword("exerciser", "alice", value: "v"))
        #expect(child.line() == "changed")
        #expect(try child.finish().lines.last == "done")
    }

    /// The child inherits the descriptor whose closing notifies observers.
    @Test func write_duringWhichAChildIsForked_isNotified() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("exerciser", "before", value: "v"))
        let observer = try test.running("observe")
        #expect(observer.line() == "ready 1")
        let writer = try test.running("fork-while-locked")
        #expect(writer.line() == "written")
        #expect(observer.line() == "changed")
        _ = try (writer.finish(), observer.finish())
    }

    @Test(
        .enabled(if: Programs.strace != nil, "strace cannot trace here"),
        arguments: [
            ("inotify_init1", "EMFILE", "fs.inotify.max_user_instances"),
            ("inotify_add_watch", "ENOSPC", "fs.inotify.max_user_watches"),
            ("inotify_init1", "ENOSYS", "not implemented"),
        ])
    func observation_thatTheSystemRefuses_isUnavailable(_ call: String, _ code: String, _ word: String) throws {
        let test = try TestVault()
        let strace = try #require(Programs.strace)
        let injection = ["-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)", "-e", "inject=\(call):error=\(code)"]
        let child = try test.running("observe", under: [strace] + injection)
        let line = try #require(child.line())
        #expect(line.hasPrefix("failed unavailable") && line.contains(word), "\(line)")
        #expect(try child.finish().lines == [])
    }

    @Test func vault_underAFile_isObservedAsAbsent() throws {
        let test = try TestVault()
        try Data().write(to: URL(fileURLWithPath: test.location.folder))
        let watcher = try Watcher(test.vault) {}
        try FileManager.default.removeItem(atPath: test.location.folder)
        #expect(watcher.sees { _ in true })
    }
}
