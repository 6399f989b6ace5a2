// SPDX-License-Identifier: Apache-2.0
// `quarantine`: what is shown, put back and erased, and what the exit codes say.

import Foundation
import Testing

@Suite("quarantine", .enabled(if: Tool.hasPython, "python3 is not installed"))
struct QuarantineVerbTests {
    private let tool: Tool

    init() throws {
        tool = try Tool()
        try tool.store()
    }

    private func spoil(_ statements: String, of other: Tool? = nil) throws {
        try (other ?? tool).python(
            "import sqlite3, sys; sqlite3.connect(sys.argv[1], isolation_level=None).executescript(sys.argv[2])",
            statements)
    }

    private func quarantine() throws {
        try spoil("INSERT INTO quarantine SELECT *, 7.5 FROM item; DELETE FROM item")
        try tool.run("accept", "--yes")
    }

    private func listed() throws -> [[String: Any]] {
        let run = try tool.run("quarantine", "list", "--json")
        try #require(run.status == 0, "\(run.errors)")
        return try #require(try JSONSerialization.jsonObject(with: run.output) as? [[String: Any]])
    }

    @Test func emptyQuarantine_isShownAsNothing() throws {
        let run = try tool.run("quarantine")
        #expect(run.status == 0 && run.everything.isEmpty)
    }

    @Test func item_thatOpens_isShownByNameAndPutBack() throws {
        try quarantine()
        let item = try #require(try listed().first)
        #expect(item["state"] as? String == "opens" && item["account"] as? String == "alice")
        #expect(try tool.run("quarantine", "restore", "1").status == 0)
        #expect(try tool.get() == secret)
        #expect(try listed().isEmpty)
    }

    @Test func item_thatIsDamaged_isShownWithoutItsNameAndCannotBePutBack() throws {
        try spoil("UPDATE item SET value = zeroblob(152)")
        try quarantine()
        #expect(try listed().first?["state"] as? String == "damaged")
        #expect(try !tool.run("quarantine", "list").text.contains("alice"))
        let run = try tool.run("quarantine", "restore", "--all")
        #expect(run.status == 8)
        #expect(run.errors.contains("1: it is damaged"))
    }

    @Test func item_whoseNameIsTaken_isAmbiguous() throws {
        try quarantine()
        try tool.store(otherSecret)
        #expect(try tool.run("quarantine", "restore", "--all").status == 4)
        #expect(try tool.get() == otherSecret)
    }

    @Test func item_thatIsNotThere_isNotFound() throws {
        #expect(try tool.run("quarantine", "restore", "17").status == 3)
        #expect(try tool.run("quarantine", "restore", "--all").status == 3)
        #expect(try tool.run("quarantine", "purge", "17", "--yes").status == 3)
    }

    @Test func purge_withoutATerminal_takesYes() throws {
        try quarantine()
        #expect(try tool.run("quarantine", "purge", "--all").status == 64)
        #expect(try listed().count == 1)
        #expect(try tool.run("quarantine", "purge", "--all", "--yes").status == 0)
        #expect(try listed().isEmpty)
    }

    @Test func purge_onATerminal_asks() throws {
        try quarantine()
        let refused = try tool.dialogue("quarantine", "purge", "1", steps: [("[y/N]", .type("n\n"))])
        #expect(refused.status == 6)
        #expect(try listed().count == 1)
        #expect(try tool.dialogue("quarantine", "purge", "1", steps: [("[y/N]", .type("y\n"))]).status == 0)
        #expect(try listed().isEmpty)
    }

    // MARK: - Rotations

    private static let notice =
        "moved to the quarantine with their old keys: 1. To list them: keychainctl quarantine list"

    private func damageOne() throws {
        try tool.store(account: "bob")
        try spoil("UPDATE item SET value = zeroblob(152) WHERE id = 1")
        try #require(try tool.run("accept", "--yes").status == 0)
    }

    @Test func rotate_overADamagedItem_failsAndSaysHowManyWentToTheQuarantine() throws {
        try damageOne()
        let run = try tool.run("rotate")
        #expect(run.status == 8, "\(run.errors)")
        #expect(run.errors.contains(Self.notice), "\(run.errors)")
        #expect(try listed().count == 1)
        #expect(try tool.get(account: "bob") == secret)
        // The rotation is complete.
        let again = try tool.run("rotate")
        #expect(again.status == 0 && again.errors.isEmpty, "\(again.errors)")
    }

    @Test func rotate_thatFailsAfterADamagedItem_saysBoth() throws {
        let vault = try LockableTool()
        try vault.store()
        let options = "--accessibility when-unlocked-this-device-only"
        try #require(try vault.withKey("set -s example.com -a bob \(options)", input: secret).status == 0)
        try spoil("UPDATE item SET value = zeroblob(152) WHERE id = 1", of: vault.tool)
        try #require(try vault.withKey("accept --yes").status == 0)
        try FileManager.default.removeItem(at: vault.tool.deviceKey)
        let run = try vault.withKey("rotate")
        #expect(run.status == 13 && run.errors.contains("The rotation is not complete"), "\(run.errors)")
        #expect(run.errors.contains(Self.notice), "\(run.errors)")
    }

    @Test func protectRemove_overADamagedItem_saysHowManyWentToTheQuarantine() throws {
        try damageOne()
        try tool.must("\"$CTL\" protect add recovery-key > paper")
        let run = try tool.must("\"$CTL\" protect remove device-key --recovery-key-fd 3 3< paper")
        #expect(run.errors.contains(Self.notice), "\(run.errors)")
    }
}
