// SPDX-License-Identifier: Apache-2.0
// Passphrases: each use takes about a second, so there are few tests with many steps.

import Foundation
import Testing

@Suite("passphrase", .enabled(if: Tool.hasKeyring, "the kernel keeps no keys for this process"))
struct PassphraseTests {
    private let vault: LockableTool
    private var tool: Tool { vault.tool }

    init() throws { vault = try LockableTool() }

    private func addPassphrase(_ text: String) throws -> Tool.Run {
        try Data(text.utf8).write(to: tool.home.appendingPathComponent("passphrase"))
        return try tool.shell(
            "\"$CTL\" protect add passphrase --new-passphrase-fd 4 --recovery-key-fd 3 3< paper 4< passphrase")
    }

    private func unlock(_ text: String) throws -> Tool.Run {
        try tool.run("unlock", "--passphrase-fd", "0", input: Data(text.utf8))
    }

    @Test func passphrase_changed_opensAndTheOldOneDoesNot() throws {
        try vault.store()
        #expect(try addPassphrase("correct horse\n").status == 0)
        try Data("battery staple".utf8).write(to: tool.home.appendingPathComponent("new"))
        let change = try tool.shell(
            "\"$CTL\" protect change passphrase --passphrase-fd 3 --new-passphrase-fd 4 3< passphrase 4< new")
        #expect(change.status == 0, "\(change.errors)")
        let wrong = try unlock("correct horse")
        #expect(wrong.status == 7)
        #expect(!wrong.everything.contains("correct horse"))
        #expect(try unlock("battery staple\n").status == 0)
        #expect(try vault.get().output == secret)
    }

    @Test func passcodeItem_goesWithThePassphrase() throws {
        let item = "--accessibility when-passcode-set-this-device-only"
        #expect(try vault.withKey("set -s example.com -a alice \(item)", input: secret).status != 0)
        try vault.store("--account bob")
        #expect(try addPassphrase("correct horse").status == 0)
        try vault.store(item)
        let refused = try vault.withKey("protect remove passphrase")
        #expect(refused.status == 14)
        #expect(refused.errors.contains("--erase-items"))
        #expect(try vault.withKey("get -s example.com -a alice").output == secret)
        #expect(try vault.withKey("protect remove passphrase --erase-items").status == 0)
        #expect(try vault.withKey("get -s example.com -a alice").status == 3)
        #expect(try vault.withKey("get -s example.com -a bob").output == secret)
    }

    @Test func passphrase_thatIsShort_isTakenWithAWarningThatDoesNotShowIt() throws {
        let run = try addPassphrase("hunter2")
        #expect(run.status == 0)
        #expect(run.errors.contains("short"))
        #expect(!run.everything.contains("hunter2"))
    }

    @Test func passphrase_besideTheDeviceKey_isToldToAddNothing() throws {
        try vault.withKey("protect add device-key")
        let run = try addPassphrase("correct horse")
        #expect(run.errors.contains("protect remove device-key"))
        let strength = try #require(try tool.status()["strength"] as? String)
        #expect(strength.contains("the other protectors (passphrase, recovery key) do not change that"))
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"))
    func dialogue_makesUnlocksAndReads() throws {
        let other = try Tool()
        defer { do { _ = try other.run("lock", "--all") } catch { Issue.record(error) } }
        let made = try other.dialogue(
            "init", "--passphrase", "--no-device-key",
            steps: [
                ("New passphrase", .type("correct horse\n")), ("again", .type("correct house\n")),
                ("New passphrase", .type("correct horse\n")), ("again", .type("correct horse\n")),
            ])
        #expect(made.status == 0)
        #expect(!made.screen.contains("correct ho"))
        let unlocked = try other.dialogue(
            "unlock", steps: [("Passphrase", .type("wrong\n")), ("Passphrase", .type("correct horse\n"))])
        #expect(unlocked.status == 0)
        #expect(!unlocked.screen.contains("correct ho"))
        try other.store()
        try other.run("lock")
        let got = try other.dialogue(
            "get", "-s", "example.com", steps: [("Passphrase", .type("correct horse\n"))])
        #expect(got.status == 0)
        #expect(got.screen.hasSuffix("correct horse\r\n"))
        #expect(try other.run("get", "-s", "example.com").status == 5)
    }
}

@Suite("unlocking on a terminal", .enabled(if: Tool.hasPython, "python3 is not installed"))
struct UnlockDialogueTests {
    private let vault: LockableTool
    private var tool: Tool { vault.tool }

    init() throws { vault = try LockableTool() }

    private var key: String { String(decoding: vault.recoveryKey, as: UTF8.self) }

    @Test func get_fromALockedVault_asksAndLeavesItLocked() throws {
        try vault.store()
        let dialogue = try tool.dialogue("get", "-s", "example.com", steps: [("Recovery key", .type(key))])
        #expect(dialogue.status == 0)
        #expect(dialogue.screen.hasSuffix("correct horse\r\n"))
        #expect(!dialogue.screen.contains(key.prefix(20)))
        #expect(try vault.lockState == "beforeFirstUnlock")
    }

    @Test func get_fromAnUnlockedVault_asksNothing() throws {
        let other = try Tool()
        try other.store()
        #expect(try other.dialogue("get", "-s", "example.com").screen == "correct horse\r\n")
    }

    @Test(arguments: ["\u{4}", "\n"])
    func unlock_cancelled_isCancelled(keys: String) throws {
        let dialogue = try tool.dialogue("unlock", "--recovery-key", steps: [("Recovery key", .type(keys))])
        #expect(dialogue.status == 6)
        #expect(dialogue.hasEcho)
    }

    @Test func unlock_withThreeWrongKeys_givesUp() throws {
        let other = String(decoding: try LockableTool().recoveryKey, as: UTF8.self)
        let step = (appears: "Recovery key", reply: Tool.Reply.type(other))
        #expect(try tool.dialogue("unlock", steps: [step, step, step]).status == 7)
    }

    @Test func protect_withoutASecretGiven_asksForIt() throws {
        let dialogue = try tool.dialogue("protect", "add", "device-key", steps: [("Recovery key", .type(key))])
        #expect(dialogue.status == 0)
        #expect(try tool.words() == ["recovery-key", "device-key"])
    }

    @Test func descriptor_thatIsATerminal_isRefused() throws {
        #expect(try tool.dialogue("unlock", "--recovery-key-fd", "0").status == 64)
    }

    @Test func rotate_onATerminal_showsHowFarItIs() throws {
        try vault.store()
        try vault.withKey("protect add device-key")
        #expect(try tool.dialogue("rotate").screen.contains("\r1 item\r"))
    }

    @Test func removalOfAProtector_onATerminal_showsHowFarItIs() throws {
        try vault.store()
        try vault.withKey("protect add device-key")
        let steps = [(appears: "Recovery key", reply: Tool.Reply.type(key))]
        let dialogue = try tool.dialogue("protect", "remove", "device-key", steps: steps)
        #expect(dialogue.status == 0 && dialogue.screen.contains("\r1 item\r"), "\(dialogue.screen)")
    }
}
