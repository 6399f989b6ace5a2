// SPDX-License-Identifier: Apache-2.0
// Media that can be read and not written.

import Foundation
import KeychainEngine
import Testing

@testable import KeychainVault

/// Mounts need rights of their own, which a user namespace gives where the system allows one.
private let canMount: Bool = {
    guard let unshare = ChildProcess.installed("unshare") else { return false }
    do {
        return try ChildProcess.run(unshare, ["-Urm", "true"]).status == 0
    } catch {
        return false
    }
}()

@Suite(.enabled(if: canMount, "this system does not let a test make mounts of its own"))
struct ReadOnlyTests {
    /// Runs an exerciser that sees the vault's folder mounted read-only.
    private func exerciseReadOnly(_ test: TestVault, _ command: String...) throws -> ChildResult {
        let unshare = try #require(ChildProcess.installed("unshare"))
        let script = "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\" && shift && exec \"$@\""
        return try ChildProcess.run(
            unshare,
            ["-Urm", "sh", "-c", script, "sh", test.location.folder, ChildProcess.built("vault-exerciser")]
                + test.exerciserArguments(command))
    }

    @Test func vault_closedAndReadOnly_isRead() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("exerciser", "alice", value: "v"))
        try test.vault.close()
        #expect(try exerciseReadOnly(test, "read", "alice").lines.first == "v")
    }

    @Test func vault_withLogAndReadOnly_isReadWithItsLastChanges() throws {
        let test = try TestVault()
        _ = try test.exercise("add", "alice", "in the log")
        #expect(FileManager.default.fileExists(atPath: test.databaseFile + "-wal"))
        #expect(try exerciseReadOnly(test, "read", "alice").lines.first == "in the log")
    }

    @Test func vault_withLogAndNoIndex_saysWhatToDo() throws {
        let test = try TestVault()
        _ = try test.exercise("add", "alice", "in the log")
        try FileManager.default.removeItem(atPath: test.databaseFile + "-shm")
        let child = try exerciseReadOnly(test, "read", "alice")
        #expect(child.output.hasPrefix("failed unavailable"))
        #expect(child.output.contains("Copy the folder"))
    }

    @Test(arguments: [["add", "bob", "w"], ["delete", "alice"]])
    func vault_readOnly_refusesToBeWritten(_ command: [String]) throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("exerciser", "alice", value: "v"))
        try test.vault.close()
        let unshare = try #require(ChildProcess.installed("unshare"))
        let script = "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\" && shift && exec \"$@\""
        let child = try ChildProcess.run(
            unshare,
            ["-Urm", "sh", "-c", script, "sh", test.location.folder, ChildProcess.built("vault-exerciser")]
                + test.exerciserArguments(command))
        #expect(child.output.hasPrefix("failed readOnly"), "\(child.output)")
        #expect(try test.state() == ["alice": "v"])
    }
}
