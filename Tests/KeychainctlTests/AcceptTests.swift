// SPDX-License-Identifier: Apache-2.0
// A vault that is not as it was left, at the command line.

import Foundation
import Testing

@Suite("accept", .enabled(if: Tool.hasPython, "needs Python"))
struct AcceptTests {
    private let tool: Tool

    /// With two items, of which one was deleted behind the vault's back.
    init() throws {
        tool = try Tool()
        try tool.store(account: "alice")
        try tool.store(otherSecret, account: "bob")
        try tool.python(
            """
            import sqlite3, sys
            database = sqlite3.connect(sys.argv[1]); database.execute("DELETE FROM item WHERE id = 2"); database.commit()
            """)
    }

    @Test func set_onAChangedVault_failsWithItsOwnCodeAndSaysWhatToDo() throws {
        let run = try tool.run("set", "-s", "example.com", "-a", "carol", input: secret)
        #expect(run.status == 19)
        #expect(run.errors.contains("1 item is missing"))
        #expect(run.errors.contains("keychainctl accept"))
    }

    @Test(arguments: [["get", "-s", "example.com", "-a", "alice"], ["list"], ["list", "--json"]])
    func reading_fromAChangedVault_worksAndSaysWhatDiffers(_ arguments: [String]) throws {
        let run = try tool.shell("\"$CTL\" " + arguments.joined(separator: " "))
        #expect(run.status == 0 && !run.text.isEmpty)
        #expect(run.errors.contains("1 item is missing") && run.errors.contains("keychainctl accept"))
    }

    /// Otherwise it would go unnoticed.
    @Test func get_ofWhatIsMissing_saysWhatDiffers() throws {
        let run = try tool.run("get", "-s", "example.com", "-a", "bob")
        #expect(run.status == 3)
        #expect(run.errors.contains("1 item is missing"))
    }

    @Test func reading_afterAccept_saysNothing() throws {
        try tool.run("accept", "--yes")
        #expect(try tool.run("get", "-s", "example.com", "-a", "alice").errors == "")
    }

    @Test func status_ofAChangedVault_saysWhatDiffers() throws {
        #expect(try tool.run("status").text.contains("completeness  1 item is missing"))
        #expect(try tool.status()["differences"] as? [String] == ["1 item is missing"])
    }

    @Test func doctor_onAChangedVault_hasAProblem() throws {
        let run = try tool.run("doctor")
        #expect(run.status == 1)
        #expect(run.text.contains("1 item is missing"))
    }

    @Test func accept_withYes_letsTheVaultBeChangedAgain() throws {
        let run = try tool.run("accept", "--yes")
        #expect(run.status == 0)
        #expect(run.text.contains("1 item is missing"))
        try tool.store(account: "carol")
        #expect(try tool.run("doctor").status == 0)
    }

    @Test func accept_withNobodyToAsk_isAMistakeInTheCommandLine() throws {
        let run = try tool.run("accept")
        #expect(run.status == 64)
        #expect(run.errors.contains("--yes"))
        #expect(try tool.run("set", "-s", "example.com", "-a", "carol", input: secret).status == 19)
    }

    @Test func accept_ofAVaultAsItWasLeft_changesNothing() throws {
        try tool.run("accept", "--yes")
        let run = try tool.run("accept")
        #expect(run.status == 0)
        #expect(run.text == "The vault matches its last known state.\n")
    }
}
