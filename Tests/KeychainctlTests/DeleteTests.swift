// SPDX-License-Identifier: Apache-2.0
// Deleting: one item by name, several only when asked for.

import Foundation
import Testing

@Suite("delete")
struct DeleteTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    @Test func delete_ofAnItem_removesItSilently() throws {
        try tool.store()
        let run = try tool.run("delete", "-s", "example.com", "-a", "alice")
        #expect(run.status == 0)
        #expect(run.everything.isEmpty)
        #expect(try tool.listed().isEmpty)
    }

    @Test func delete_ofAnItem_leavesTheOthers() throws {
        try tool.store(account: "alice")
        try tool.store(otherSecret, account: "bob")
        try tool.run("delete", "-s", "example.com", "-a", "alice")
        #expect(try tool.get(account: "bob") == otherSecret)
    }

    @Test func delete_ofWhatIsNotThere_isNotFound() throws {
        try tool.store()
        #expect(try tool.run("delete", "-s", "example.com", "-a", "bob").status == 3)
    }

    @Test func delete_withoutAVault_makesNone() throws {
        #expect(try tool.run("delete", "-s", "example.com", "-a", "bob").status == 3)
        #expect(!FileManager.default.fileExists(atPath: tool.vaultFolder.path))
    }

    @Test func delete_withoutAccount_isRefused() throws {
        try tool.store()
        #expect(try tool.run("delete", "-s", "example.com").status == 64)
        #expect(try tool.get() == secret)
    }

    @Test func delete_withSeveralMatches_removesNone() throws {
        try tool.store()
        try tool.store(otherSecret, "--access-group", "team")
        #expect(try tool.run("delete", "-s", "example.com", "-a", "alice").status == 4)
        #expect(try tool.listed().count == 2)
    }

    @Test func delete_ofAllWithoutAccount_removesAllOfTheService() throws {
        try tool.store(account: "alice")
        try tool.store(account: "bob")
        try tool.store(service: "other")
        #expect(try tool.run("delete", "-s", "example.com", "--all").status == 0)
        #expect(try tool.listed().map { $0["service"] as? String } == ["other"])
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"), arguments: [[], ["--forget"]])
    func delete_ofManyItems_showsHowManyAreDoneOnATerminalOnly(options: [String]) throws {
        let words = ["delete", "-s", "s", "--all"] + options
        for isOnTerminal in [true, false] {
            let items = (0..<150).map { ExportedItems.login("a\($0)") }
            try #require(try tool.take(ExportedItems.document(items)).status == 0)
            if isOnTerminal {
                let dialogue = try tool.dialogue(program: [Tool.executable] + words)
                #expect(dialogue.status == 0 && dialogue.screen == "\r100 items\r\r\n", "\(dialogue.screen)")
            } else {
                let run = try tool.shell("\"$CTL\" \(words.joined(separator: " "))")
                #expect(run.status == 0 && run.everything.isEmpty, "\(run.everything)")
            }
            #expect(try tool.listed().isEmpty)
        }
    }

    @Test func delete_ofAllWithoutService_isRefused() throws {
        #expect(try tool.run("delete", "--all").status == 64)
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed")) func delete_ofADamagedItem_isCorrupt() throws {
        try tool.store()
        try tool.damageItems()
        #expect(try tool.run("delete", "-s", "example.com", "-a", "alice").status == 8)
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed")) func delete_ofAllWithADamagedItem_quarantinesIt()
        throws
    {
        try tool.store()
        try tool.damageItems()
        try tool.run("accept", "--yes")
        #expect(try tool.run("delete", "-s", "example.com", "-a", "alice", "--all").status == 0)
        #expect(try tool.status()["quarantined"] as? Int == 1)
    }
}
