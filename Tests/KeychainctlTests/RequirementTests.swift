// SPDX-License-Identifier: Apache-2.0
// `set --require`: items that open only to their user.

import Foundation
import Testing

@Suite("set --require")
struct RequirementTests {
    private func requiring(_ tool: Tool) throws -> [Bool?] {
        try tool.listed().map { $0["requiresAuthentication"] as? Bool }
    }

    /// A vault that its passphrase and a recovery key open, unlocked. Its item requires the user, or not any more.
    @Test(.enabled(if: Tool.hasPython && Tool.hasKeyring, "python3 or the kernel keyring is not there"))
    func itemThatRequiresTheUser_asksWhileTheVaultIsUnlocked() throws {
        let vault = try LockableTool()
        try vault.tool.must("echo several words > words")
        #expect(try vault.withKey("protect add passphrase --new-passphrase-fd 4 4< words").status == 0)
        try vault.unlock()
        try vault.tool.store(secret, service: "example.com", account: "alice", "--require", "user-presence")
        #expect(try requiring(vault.tool) == [true])
        let refused = try vault.tool.shell(
            "KEYCHAIN_AUTHENTICATOR=none \"$CTL\" get -s example.com -a alice < /dev/null")
        #expect(refused.status == 5 && refused.output.isEmpty, "\(refused.everything)")
        let asked = try vault.tool.dialogue(
            "get", "-s", "example.com", "-a", "alice", steps: [("assphrase", .type("several words\n"))])
        #expect(asked.status == 0 && asked.screen.contains("correct horse"), "\(asked.screen)")
        let changed = try vault.tool.dialogue(
            "set", "-s", "example.com", "-a", "alice", "--keep-value", "--require", "none",
            steps: [("assphrase", .type("several words\n"))])
        #expect(changed.status == 0, "\(changed.screen)")
        #expect(try requiring(vault.tool) == [false] && vault.tool.get() == secret)
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"))
    func itemWithAPasswordOfItsOwn_opensToThatAlone() throws {
        let tool = try Tool()
        let made = try tool.dialogue(
            program: ["sh", "-c", "printf value | \"$CTL\" set -s s -a a --require application-password"],
            steps: [("assword", .type("open sesame\n")), ("again", .type("open sesame\n"))])
        #expect(made.status == 0, "\(made.screen)")
        #expect(try requiring(tool) == [true])
        for (password, status) in [("open sesame\n", Int32(0)), ("\u{4}", 6)] {
            let asked = try tool.dialogue("get", "-s", "s", "-a", "a", steps: [("assword", .type(password))])
            #expect(asked.status == status && asked.screen.contains("value") == (status == 0), "\(asked.screen)")
        }
    }

    @Test func requirement_withoutAWayToAsk_saysWhatCanBeDone() throws {
        let tool = try Tool()
        let run = try tool.shell(
            "printf v | KEYCHAIN_AUTHENTICATOR=none \"$CTL\" set -s s -a a --require application-password")
        #expect(run.status == 5 && run.errors.contains("on a terminal"), "\(run.errors)")
        #expect(run.errors.contains("KEYCHAIN_ASKPASS") && !run.errors.contains("context"), "\(run.errors)")
    }

    @Test(arguments: [
        ("--require fingerprint", 64), ("--require none --require user-presence", 64),
        ("--require user-presence --require device-passcode", 64), ("--require none", 0),
    ])
    func requirements_thatContradict_areUsage(options: String, status: Int32) throws {
        let tool = try Tool()
        let run = try tool.shell("printf v | \"$CTL\" set -s s -a a \(options)")
        #expect(run.status == status, "\(run.errors)")
        #expect(try tool.listed().count == (status == 0 ? 1 : 0))
    }
}
