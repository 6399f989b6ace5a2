// SPDX-License-Identifier: Apache-2.0
// Exit codes: each way of failing has its own, with a message that says where and what to do.

import Foundation
import Testing

/// Beginnings of scripts for `shellWithOwnMounts`.
enum Mounts {
    static let readOnlyHome = "mount --bind \"$HOME\" \"$HOME\"; mount -o remount,bind,ro \"$HOME\"; "
    static let smallHome = "mount -t tmpfs -o size=256k,mode=700 none \"$HOME\"; "
}

@Suite("exit codes")
struct FailureTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private func get() throws -> Tool.Run { try tool.run("get", "-s", "example.com", "-a", "alice") }

    @Test func get_inAnEmptyVault_isNotFound() throws {
        #expect(try get().status == 3)
    }

    @Test func get_ofAnotherAccount_isNotFound() throws {
        try tool.store()
        #expect(try tool.run("get", "-s", "example.com", "-a", "bob").status == 3)
    }

    /// Scripts take "not found" for the item.
    @Test(arguments: [
        "get -s example.com --passphrase-fd 3", "set -s s -a a --key-file ~/key", "list --recovery-key-fd 3",
        "delete -s example.com -a alice --passphrase-fd 3", "list --key-file ~/key",
    ])
    func secret_ofAKindThatTheVaultLacks_isDeniedAndChangesNothing(line: String) throws {
        try tool.store()
        try LockableTool().recoveryKey.write(to: tool.home.appendingPathComponent("paper"))
        try Data(repeating: 7, count: 32).write(to: tool.home.appendingPathComponent("key"))
        let run = try tool.shell("chmod 600 key; \"$CTL\" \(line) 3< paper < key")
        #expect(run.status == 7, "\(run.errors)")
        #expect(run.errors.contains("opens the vault in '\(tool.vaultFolder.path)'. To see what does:"))
        #expect(try tool.listed().count == 1)
    }

    @Test func environment_withoutHome_isUnavailable() throws {
        let run = try tool.run("get", "-s", "s", environment: ["PATH": "/usr/bin:/bin"])
        #expect(run.status == 13)
        #expect(run.errors.contains("HOME"))
    }

    @Test func deviceKey_thatIsMissing_isUnavailable() throws {
        try tool.store()
        try FileManager.default.removeItem(at: tool.deviceKey)
        let run = try get()
        #expect(run.status == 13)
        #expect(run.errors.contains(tool.deviceKey.path))
    }

    @Test func deviceKey_ofAnotherVault_isDenied() throws {
        let other = try Tool()
        try other.store()
        try tool.store()
        try FileManager.default.removeItem(at: tool.deviceKey)
        try FileManager.default.copyItem(at: other.deviceKey, to: tool.deviceKey)
        let run = try get()
        #expect(run.status == 7)
        #expect(run.errors.contains(tool.deviceKey.path))
    }

    @Test func deviceKey_thatIsDamaged_isCorrupt() throws {
        try tool.store()
        try overwrite(tool.deviceKey)
        #expect(try get().status == 8)
    }

    @Test func database_ofGarbage_isCorrupt() throws {
        try tool.store()
        try overwrite(tool.database)
        let run = try get()
        #expect(run.status == 8)
        #expect(run.errors.contains(tool.database.path))
    }

    @Test func database_thatIsGone_isCorrupt() throws {
        try tool.store()
        try FileManager.default.removeItem(at: tool.database)
        #expect(try tool.run("set", "-s", "s", "-a", "a", input: secret).status == 8)
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed")) func item_thatIsDamaged_isCorrupt() throws {
        try tool.store()
        try tool.damageItems()
        #expect(try get().status == 8)
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed")) func database_ofANewerFormat_isNotRead() throws {
        try tool.store()
        try tool.python(
            "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('PRAGMA user_version = 99')")
        let run = try get()
        #expect(run.status == 16)
        #expect(run.errors.contains("99"))
    }

    @Test func vaultFolder_thatIsALink_isUnsafe() throws {
        try tool.store()
        let elsewhere = tool.home.appendingPathComponent("elsewhere")
        try FileManager.default.moveItem(at: tool.vaultFolder, to: elsewhere)
        try FileManager.default.createSymbolicLink(at: tool.vaultFolder, withDestinationURL: elsewhere)
        let run = try get()
        #expect(run.status == 15)
        #expect(run.errors.contains(tool.vaultFolder.path))
    }

    @Test func deviceKey_openToOthers_isUnsafe() throws {
        try tool.store()
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: tool.deviceKey.path)
        let run = try get()
        #expect(run.status == 15)
        #expect(run.errors.contains("chmod 600"))
    }

    @Test func vaultFolder_byARelativePath_isUnsafe() throws {
        let environment = tool.environment.merging(["KEYCHAIN_VAULT": "here"]) { $1 }
        #expect(try tool.run("list", environment: environment).status == 15)
    }

    @Test(.enabled(if: Tool.hasMounts, "this system does not let a test make mounts of its own"))
    func set_onAReadOnlyMedium_isReadOnly() throws {
        try tool.store()
        let run = try tool.shellWithOwnMounts(Mounts.readOnlyHome + "echo x | \"$CTL\" set -s s -a a")
        #expect(run.status == 10, "\(run.everything)")
    }

    @Test(.enabled(if: Tool.hasMounts, "this system does not let a test make mounts of its own"))
    func get_onAReadOnlyMedium_works() throws {
        try tool.store()
        let run = try tool.shellWithOwnMounts(Mounts.readOnlyHome + "\"$CTL\" get -s example.com -a alice")
        #expect(run.output == secret, "\(run.everything)")
    }

    @Test(.enabled(if: Tool.hasMounts, "this system does not let a test make mounts of its own"))
    func set_onAFullDisk_isDiskFull() throws {
        let run = try tool.shellWithOwnMounts(
            Mounts.smallHome + "echo x | \"$CTL\" set -s s -a a; head -c 999999 /dev/zero | \"$CTL\" set -s t -a a")
        #expect(run.status == 9, "\(run.everything)")
    }

    @Test func set_ofAnEndlessValue_isTooLarge() throws {
        let run = try tool.shell("\"$CTL\" set -s s -a a < /dev/zero")
        #expect(run.status == 18)
        #expect(run.errors.contains("MiB"))
    }

    @Test(arguments: 1...2)
    func failure_ofAnyKind_isOneLineWithTheNameOfTheTool(attempt: Int) throws {
        if attempt == 2 {
            try tool.store()
            try overwrite(tool.database)
        }
        let errors = try get().errors
        #expect(errors.hasPrefix("keychainctl: "))
        #expect(errors.split(separator: "\n", omittingEmptySubsequences: false).count == 2)
    }

    /// In place, so that owner and mode stay.
    private func overwrite(_ file: URL) throws {
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data("This is not what it was before. ".utf8) + Data(repeating: 7, count: 5000))
        try handle.close()
    }
}
