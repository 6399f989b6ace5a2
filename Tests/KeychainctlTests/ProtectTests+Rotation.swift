// SPDX-License-Identifier: Apache-2.0
// Vaults bound to a new device key, and keys that are replaced.

import Foundation
import KeychainTestSupport
import Testing

extension ProtectTests {
    @Test func adopt_afterALostDeviceKey_bindsTheVaultToANewOne() throws {
        try vault.store()
        try FileManager.default.removeItem(at: tool.deviceKey)
        #expect(try tool.status()["deviceKeyFits"] as? Bool == false)
        #expect(try vault.withKey("protect adopt").status == 0)
        #expect(try tool.status()["deviceKeyFits"] as? Bool == true)
        #expect(try vault.withKey("get -s example.com").output == secret)
    }

    @Test func adopt_ofAVaultWithItemsForAnotherDevice_saysHowManyItKeeps() throws {
        try vault.store("--accessibility when-unlocked-this-device-only")
        let aside = tool.deviceKey.appendingPathExtension("aside")
        try FileManager.default.moveItem(at: tool.deviceKey, to: aside)
        let run = try vault.withKey("protect adopt")
        #expect(run.status == 0)
        #expect(run.errors.contains("kept until its device key is restored: 1"), "\(run.errors)")
        try FileManager.default.removeItem(at: tool.deviceKey)
        try FileManager.default.moveItem(at: aside, to: tool.deviceKey)
        #expect(try vault.withKey("get -s example.com").output == secret)
    }

    /// No option gives the device key.
    @Test func adopt_ofAVaultThatOnlyTheDeviceKeyOpens_saysToAddAPassphrase() throws {
        let other = try Tool()
        #expect(try other.run("init").status == 0)
        let run = try other.run("protect", "adopt")
        #expect(run.status == 5)
        #expect(run.errors.contains("keychainctl protect add passphrase"), "\(run.errors)")
        #expect(!run.errors.contains("--help"), "\(run.errors)")
    }

    @Test func rotate_withoutTheDeviceKey_failsAndSaysWhatStaysUnderTheOldKeys() throws {
        try vault.store("--accessibility when-unlocked-this-device-only")
        let aside = tool.deviceKey.appendingPathExtension("aside")
        try FileManager.default.moveItem(at: tool.deviceKey, to: aside)
        let run = try vault.withKey("rotate")
        #expect(run.status == 13)
        #expect(run.errors.contains("1 item bound to that device stays"), "\(run.errors)")
        try FileManager.default.moveItem(at: aside, to: tool.deviceKey)
        #expect(try vault.withKey("rotate").status == 0)
        #expect(try vault.withKey("get -s example.com").output == secret)
    }

    @Test func rotate_keepsTheItems() throws {
        try vault.store()
        let run = try vault.withKey("rotate")
        #expect(run.status == 0)
        #expect(run.everything.isEmpty)
        #expect(try vault.withKey("get -s example.com").output == secret)
        #expect(try tool.status()["rotationPending"] as? Bool == false)
    }

    /// The reader keeps the WAL, and so what a backup of it would still contain.
    @Test(arguments: [
        "rotate", "protect remove device-key", "protect change recovery-key", "delete -s example.com -a alice --forget",
        "history --clear --all",
    ])
    func verbThatErases_besideAReader_saysThatTheWALMayStillHoldIt(line: String) throws {
        try #require(try vault.withKey("protect add device-key").status == 0)
        try vault.store()
        // The history keeps the value before.
        try #require(vault.withKey("set -s example.com -a alice", input: Data("second".utf8)).status == 0)
        let reader = try RunningExerciser(["hold-read", tool.vaultFolder.path, tool.deviceKey.path])
        defer { reader.kill() }
        try #require(reader.line() == "reading")
        let run = try vault.withKey(line)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors.contains("What was removed may still be in the WAL"), "\(run.errors)")
    }

    @Test(arguments: ["rotate", "protect remove device-key"])
    func verbThatErases_withoutAReader_doesNotSaySo(line: String) throws {
        try #require(try vault.withKey("protect add device-key").status == 0)
        let run = try vault.withKey(line)
        #expect(run.status == 0)
        #expect(!run.errors.contains("WAL"), "\(run.errors)")
    }

    @Test(.enabled(if: Tool.hasStrace, "strace cannot trace here"))
    func rotate_brokenOff_isToldAndGoesOn() throws {
        try vault.store()
        var isPending = false
        // Which of its writes to disk is the one between the new keys and the end of the old ones, SQLite decides.
        for write in 1...12 where !isPending {
            _ = try tool.shell(
                "strace -f -o /dev/null -e inject=fdatasync,fsync:signal=SIGKILL:when=\(write) "
                    + "\"$CTL\" rotate --recovery-key-fd 3 3< paper")
            isPending = try tool.status()["rotationPending"] as? Bool == true
        }
        try #require(isPending)
        #expect(try tool.run("doctor").text.contains("warning  rotation: "))
        #expect(try vault.withKey("rotate").status == 0)
        #expect(try tool.status()["rotationPending"] as? Bool == false)
        #expect(try vault.withKey("get -s example.com").output == secret)
    }
}
